#include "daemon/session/hello.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "libkvclient/wire/limits.h"

namespace kvtier {
namespace {

constexpr std::size_t kVersionEnd = offsetof(Hello, protocol_minor) + sizeof(Hello::protocol_minor);

Status invalid(std::string what) {
  return {Code::kInvalid, std::move(what)};
}

// A field that must hold its NUL and, before it, printable ASCII: it reaches logs and terminals.
Status take_text(std::string_view field, const char* bytes, std::size_t size, std::string& out) {
  const void* end = std::memchr(bytes, 0, size);
  if (end == nullptr) return invalid("hello: " + std::string(field) + " has no terminating NUL");
  out.assign(bytes, static_cast<const char*>(end));
  const bool is_printable = std::ranges::all_of(out, [](char c) { return c >= 0x20 && c <= 0x7e; });
  return is_printable ? Status::ok()
                      : invalid("hello: " + std::string(field) + " has unprintable characters");
}

std::string version_text(std::uint32_t major, std::uint32_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// The client's release is told too where its bytes are where ours would be; they are its own word.
std::string release_of(const Hello& hello, bool is_whole) {
  std::string release;
  if (!is_whole || !take_text("", hello.client_version, kVersionBytes, release).is_ok() || release.empty())
    return {};
  return " (libkvclient " + release + ")";
}

Status check_version(const Hello& hello, bool is_whole) {
  if (hello.protocol_major == kProtocolMajor) return Status::ok();
  return {Code::kVersion,
          "the client speaks protocol " + version_text(hello.protocol_major, hello.protocol_minor) +
              release_of(hello, is_whole) + ", the daemon " + version_text(kProtocolMajor, kProtocolMinor) +
              " (kvtierd " KVTIER_VERSION "); upgrade the older side"};
}

Status check_size(const Hello& hello, std::size_t bytes) {
  const bool may_be_longer = hello.protocol_minor > kProtocolMinor;
  if (bytes == sizeof(Hello) || (bytes > sizeof(Hello) && may_be_longer)) return Status::ok();
  return invalid("hello: has " + std::to_string(bytes) + " bytes, protocol " +
                 version_text(hello.protocol_major, hello.protocol_minor) + " has " +
                 std::to_string(sizeof(Hello)));
}

Status take_fields(const Hello& hello, HelloRequest& request) {
  if ((hello.flags & ~kHelloReadOnly) != 0) return invalid("hello: flags has unknown bits");
  KV_RETURN_IF_ERROR(
      take_text("client_version", hello.client_version, kVersionBytes, request.client_version));
  KV_RETURN_IF_ERROR(take_text("client_name", hello.client_name, kNameBytes, request.client_name));
  KV_RETURN_IF_ERROR(take_text("namespace_name", hello.namespace_name, kNameBytes, request.namespace_name));
  if (request.namespace_name.empty()) return invalid("hello: namespace_name is empty");
  request.is_read_only = (hello.flags & kHelloReadOnly) != 0;
  request.resume_session = hello.resume_session;
  std::memcpy(request.resume_secret, hello.resume_secret, sizeof request.resume_secret);
  return Status::ok();
}

}  // namespace

Result<HelloRequest> decode_hello(const Message& message) {
  const MessageType type = message.header().type;
  if (type != MessageType::kHello) {
    return invalid("the first message must be a hello (type 1), not type " +
                   std::to_string(static_cast<unsigned>(type)));
  }
  if (message.bytes.size() < kVersionEnd)
    return invalid("hello: " + std::to_string(message.bytes.size()) + " bytes end before its version");
  Hello hello{};
  std::memcpy(&hello, message.bytes.data(), std::min(message.bytes.size(), sizeof hello));
  KV_RETURN_IF_ERROR(check_version(hello, message.bytes.size() >= sizeof hello));
  KV_RETURN_IF_ERROR(check_size(hello, message.bytes.size()));
  HelloRequest request;
  KV_RETURN_IF_ERROR(take_fields(hello, request));
  return request;
}

}  // namespace kvtier
