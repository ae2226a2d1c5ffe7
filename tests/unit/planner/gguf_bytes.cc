#include "tests/unit/planner/gguf_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include "libkvclient/base/check.h"

namespace kvtier::test {
namespace {

std::string le(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xffU);
  return text;
}

std::string counted_text(std::string_view text) {
  return le64(text.size()) + std::string(text);
}

}  // namespace

std::string le32(std::uint32_t value) {
  return le(value, 4);
}
std::string le64(std::uint64_t value) {
  return le(value, 8);
}

GgufBytes& GgufBytes::raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
  pairs_ += counted_text(key) + le32(type) + std::string(bytes);
  ++count_;
  return *this;
}

GgufBytes& GgufBytes::number(std::string_view key, GgufType type, std::uint64_t bits) {
  constexpr std::size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return raw(key, static_cast<std::uint32_t>(type), le(bits, kBytes[static_cast<std::size_t>(type)]));
}

GgufBytes& GgufBytes::u32(std::string_view key, std::uint32_t value) {
  return number(key, GgufType::kU32, value);
}

GgufBytes& GgufBytes::text(std::string_view key, std::string_view value) {
  return raw(key, static_cast<std::uint32_t>(GgufType::kText), counted_text(value));
}

GgufBytes& GgufBytes::list(std::string_view key, GgufType type, std::uint64_t count, std::string_view bytes) {
  return raw(key, static_cast<std::uint32_t>(GgufType::kList),
             le32(static_cast<std::uint32_t>(type)) + le64(count) + std::string(bytes));
}

GgufBytes& GgufBytes::u32s(std::string_view key, const std::vector<std::uint32_t>& values) {
  std::string bytes;
  for (const std::uint32_t value : values) bytes += le32(value);
  return list(key, GgufType::kU32, values.size(), bytes);
}

GgufBytes& GgufBytes::bools(std::string_view key, const std::vector<bool>& values) {
  std::string bytes;
  for (const bool value : values) bytes += static_cast<char>(value ? 1 : 0);
  return list(key, GgufType::kBool, values.size(), bytes);
}

GgufBytes& GgufBytes::texts(std::string_view key, const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) bytes += counted_text(value);
  return list(key, GgufType::kText, values.size(), bytes);
}

std::string GgufBytes::bytes(std::uint64_t count) const {
  return "GGUF" + le32(version_) + le64(7) + le64(count == ~std::uint64_t{0} ? count_ : count) + pairs_;
}

Result<plan::GgufHeader> read_gguf(std::string_view bytes) {
  UniqueFd file(::memfd_create("gguf", MFD_CLOEXEC));
  KV_CHECK(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
           "memory takes it all");
  plan::BoundedFile source(std::move(file), bytes.size(), plan::kMetadataBytesMax);
  return plan::read_gguf_header(source);
}

}  // namespace kvtier::test
