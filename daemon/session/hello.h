#pragma once
// The first message of a client, checked. Every failure names the field and both sides' values.

#include <cstdint>
#include <string>

#include "libkvclient/wire/message_socket.h"

namespace kvtier {

struct HelloRequest {
  std::string namespace_name;
  std::string client_name;
  std::string client_version;
  bool is_read_only = false;
  std::uint64_t resume_session = 0;
  std::uint64_t resume_secret[2] = {0, 0};
};

/// kVersion: another major version, whatever the rest looks like. kInvalid: not a Hello of this protocol.
/// Extra bytes are ignored from a client of a later minor version and refused from others.
Result<HelloRequest> decode_hello(const Message& message);

}  // namespace kvtier
