#include "tools/planner/gguf_header.h"

#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace kvtier::plan {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in the file");

constexpr std::string_view kMagic = "GGUF";

enum class Type : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kText,
  kList,
  kU64,
  kI64,
  kF64
};
constexpr std::uint32_t kTypeCount = 13;
constexpr std::array<std::uint64_t, kTypeCount> kTypeBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint64_t kTextBytesMin = 8;  ///< its length

std::uint64_t bytes_of(Type type) {
  return kTypeBytes[static_cast<std::uint32_t>(type)];
}
bool is_signed(Type type) {
  return type == Type::kI8 || type == Type::kI16 || type == Type::kI32 || type == Type::kI64;
}
bool is_float(Type type) {
  return type == Type::kF32 || type == Type::kF64;
}

class Reader {
 public:
  explicit Reader(BoundedFile& source) : source_(source) {}

  Result<GgufHeader> read();

 private:
  template <class T>
  Status number(T& into, std::string_view what) {
    return source_.read(std::as_writable_bytes(std::span(&into, 1)), what);
  }
  Status start(std::uint64_t& count);
  Status type(Type& into, const std::string& key);
  Status text(std::string& into, std::uint64_t bytes_max, std::string_view what);
  Status pair();
  Status value(Type type, const std::string& key, GgufValue& into);
  Status whole(Type type, const std::string& key, GgufValue& into);
  Status list(const std::string& key, GgufValue& into);
  Status whole_list(Type type, std::uint64_t count, const std::string& key, GgufValue& into);
  Status skip_texts(std::uint64_t count, const std::string& key);

  BoundedFile& source_;
  GgufHeader header_;
  std::uint64_t numbers_ = 0;  ///< of lists, kept so far
};

Status Reader::start(std::uint64_t& count) {
  std::array<char, 4> magic{};
  KV_RETURN_IF_ERROR(source_.read(std::as_writable_bytes(std::span(magic)), "the magic"));
  if (!has_gguf_magic({magic.data(), magic.size()})) return {Code::kInvalid, "it does not begin with GGUF"};
  KV_RETURN_IF_ERROR(number(header_.version, "the version"));
  if (header_.version != 2 && header_.version != 3) {
    const bool is_swapped = (header_.version & 0xffffU) == 0;  // as llama.cpp tells it
    return {Code::kVersion, (is_swapped ? std::string("its numbers are big-endian")
                                        : "it has version " + std::to_string(header_.version)) +
                                "; versions 2 and 3, little-endian, are read: convert the model anew"};
  }
  std::uint64_t tensors = 0;
  KV_RETURN_IF_ERROR(number(tensors, "the count of tensors"));
  KV_RETURN_IF_ERROR(number(count, "the count of keys"));
  if (count <= kGgufKeysMax) return Status::ok();
  return {Code::kInvalid,
          "it has " + std::to_string(count) + " keys; at most " + std::to_string(kGgufKeysMax) + " are read"};
}

Status Reader::type(Type& into, const std::string& key) {
  std::uint32_t code = 0;
  KV_RETURN_IF_ERROR(number(code, "the type of " + key));
  if (code >= kTypeCount)
    return {Code::kInvalid, key + " has type " + std::to_string(code) + ", which there is not"};
  into = static_cast<Type>(code);
  return Status::ok();
}

// What is longer than the bound is walked over, and `into` stays empty.
Status Reader::text(std::string& into, std::uint64_t bytes_max, std::string_view what) {
  std::uint64_t bytes = 0;
  KV_RETURN_IF_ERROR(number(bytes, what));
  if (bytes > bytes_max) return source_.skip(bytes, what);
  if (bytes > source_.left()) return source_.skip(bytes, what);  // says so, before memory is taken
  into.resize(bytes);
  return source_.read(std::as_writable_bytes(std::span(into)), what);
}

Status Reader::whole(Type type, const std::string& key, GgufValue& into) {
  std::uint64_t bits = 0;
  const std::uint64_t bytes = bytes_of(type);
  KV_RETURN_IF_ERROR(source_.read(std::as_writable_bytes(std::span(&bits, 1)).first(bytes), key));
  const bool is_negative = is_signed(type) && (bits >> (bytes * 8 - 1)) != 0;
  into.is_negative |= is_negative;
  into.numbers.push_back(is_negative ? 0 : bits);
  return Status::ok();
}

Status Reader::skip_texts(std::uint64_t count, const std::string& key) {
  std::string none;
  for (std::uint64_t i = 0; i < count; ++i) KV_RETURN_IF_ERROR(text(none, 0, key));
  return Status::ok();
}

Status Reader::list(const std::string& key, GgufValue& into) {
  Type each{};
  std::uint64_t count = 0;
  KV_RETURN_IF_ERROR(type(each, key));
  KV_RETURN_IF_ERROR(number(count, key));
  if (each == Type::kList) return {Code::kInvalid, key + " is a list of lists, which is not read"};
  const std::uint64_t least = each == Type::kText ? kTextBytesMin : bytes_of(each);
  if (count > source_.left() / least) {
    return {Code::kInvalid, key + " is a list of " + std::to_string(count) + " values, and there are " +
                                std::to_string(source_.left()) +
                                " bytes left for it; the file is cut or damaged"};
  }
  if (each == Type::kText) return skip_texts(count, key);
  if (is_float(each) || count > kGgufListMax) return source_.skip(count * least, key);
  return whole_list(each, count, key, into);
}

Status Reader::whole_list(Type type, std::uint64_t count, const std::string& key, GgufValue& into) {
  numbers_ += count;
  if (numbers_ > kGgufNumbersMax)
    return {Code::kInvalid,
            "its lists have more than " + std::to_string(kGgufNumbersMax) + " numbers, which no model needs"};
  into.kind = GgufValue::Kind::kNumbers;
  for (std::uint64_t i = 0; i < count; ++i) KV_RETURN_IF_ERROR(whole(type, key, into));
  return Status::ok();
}

Status Reader::value(Type type, const std::string& key, GgufValue& into) {
  if (type == Type::kList) return list(key, into);
  if (is_float(type)) return source_.skip(bytes_of(type), key);
  if (type == Type::kText) {
    into.kind = GgufValue::Kind::kText;
    return text(into.text, kGgufTextBytesMax, key);
  }
  into.kind = GgufValue::Kind::kNumber;
  return whole(type, key, into);
}

Status Reader::pair() {
  std::string key;
  const std::uint64_t at = source_.offset();
  KV_RETURN_IF_ERROR(text(key, kGgufKeyBytesMax, "a key"));
  if (key.empty()) {
    return {Code::kInvalid, "the key at offset " + std::to_string(at) + " is empty or longer than " +
                                std::to_string(kGgufKeyBytesMax) + " bytes; the file is damaged"};
  }
  Type kind{};
  GgufValue read;
  KV_RETURN_IF_ERROR(type(kind, key));
  KV_RETURN_IF_ERROR(value(kind, key, read));
  if (header_.values.emplace(key, std::move(read)).second) return Status::ok();
  return {Code::kInvalid, "the key " + key + " is there twice"};
}

Result<GgufHeader> Reader::read() {
  std::uint64_t count = 0;
  if (Status status = start(count); !status.is_ok()) return status;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (Status status = pair(); !status.is_ok()) return status;
  }
  return std::move(header_);
}

}  // namespace

const GgufValue* GgufHeader::find(std::string_view key) const {
  const auto at = values.find(key);
  return at == values.end() ? nullptr : &at->second;
}

bool has_gguf_magic(std::string_view first_bytes) {
  return first_bytes.starts_with(kMagic);
}

Result<GgufHeader> read_gguf_header(BoundedFile& source) {
  return Reader(source).read();
}

}  // namespace kvtier::plan
