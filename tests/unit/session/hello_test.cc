#include "daemon/session/hello.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/system/wire_client.h"

namespace kvtier {
namespace {

Message message_of(const Hello& hello, std::size_t bytes = sizeof(Hello)) {
  Message message;
  message.bytes.resize(bytes);
  std::memcpy(message.bytes.data(), &hello, std::min(bytes, sizeof hello));
  return message;
}

std::string failure_of(const Hello& hello, std::size_t bytes = sizeof(Hello)) {
  return decode_hello(message_of(hello, bytes)).status().to_string();
}

TEST(Hello, a_right_one_is_taken) {
  Hello hello = test::make_hello("team-a");
  hello.flags = kHelloReadOnly;
  hello.resume_session = 7;
  const Result<HelloRequest> request = decode_hello(message_of(hello));
  ASSERT_TRUE(request.is_ok()) << request.status().to_string();
  EXPECT_EQ(request.value().namespace_name, "team-a");
  EXPECT_EQ(request.value().client_name, "wire-client");
  EXPECT_TRUE(request.value().is_read_only);
  EXPECT_EQ(request.value().resume_session, 7u);
}

// U-07: both versions, whatever else differs
TEST(Hello, U07_another_major_version_names_both) {
  Hello hello = test::make_hello("a");
  hello.protocol_major = kProtocolMajor + 1;
  hello.protocol_minor = 0;
  const Result<HelloRequest> request = decode_hello(message_of(hello));
  EXPECT_EQ(request.code(), Code::kVersion);
  EXPECT_NE(request.status().message().find("protocol 2.0"), std::string::npos) << request.status().message();
  EXPECT_NE(request.status().message().find("the daemon 1.3"), std::string::npos)
      << request.status().message();
  EXPECT_EQ(decode_hello(message_of(hello, 24)).code(), Code::kVersion)
      << "a shorter layout of another version";
  EXPECT_EQ(decode_hello(message_of(hello, 400)).code(), Code::kVersion);
}

TEST(Hello, U07_a_later_minor_version_may_add_fields) {
  Hello hello = test::make_hello("a");
  EXPECT_EQ(decode_hello(message_of(hello, sizeof hello + 8)).code(), Code::kInvalid);
  hello.protocol_minor = kProtocolMinor + 1;
  EXPECT_TRUE(decode_hello(message_of(hello, sizeof hello + 8)).is_ok());
}

TEST(Hello, every_truncation_is_refused) {
  const Hello hello = test::make_hello("a");
  for (std::size_t bytes = sizeof(MessageHeader); bytes < sizeof hello; ++bytes)
    EXPECT_EQ(decode_hello(message_of(hello, bytes)).code(), Code::kInvalid) << bytes;
}

TEST(Hello, texts_must_end_and_be_printable) {
  Hello hello = test::make_hello("a");
  std::memset(hello.namespace_name, 'x', sizeof hello.namespace_name);
  EXPECT_EQ(failure_of(hello), "invalid: hello: namespace_name has no terminating NUL");
  hello = test::make_hello("a");
  std::memset(hello.client_version, 'x', sizeof hello.client_version);
  EXPECT_EQ(failure_of(hello), "invalid: hello: client_version has no terminating NUL");
  EXPECT_EQ(failure_of(test::make_hello("a\x1b[2J")),
            "invalid: hello: namespace_name has unprintable characters");
  EXPECT_EQ(failure_of(test::make_hello("")), "invalid: hello: namespace_name is empty");
}

TEST(Hello, unknown_flags_and_types_are_refused) {
  Hello hello = test::make_hello("a");
  hello.flags = 0x80000000;
  EXPECT_EQ(failure_of(hello), "invalid: hello: flags has unknown bits");
  hello = test::make_hello("a");
  hello.header.type = MessageType::kRegisterSpace;
  EXPECT_EQ(failure_of(hello), "invalid: the first message must be a hello (type 1), not type 2");
}

}  // namespace
}  // namespace kvtier
