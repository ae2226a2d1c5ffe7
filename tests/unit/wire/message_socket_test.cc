#include "libkvclient/wire/message_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

namespace kvtier {
namespace {

class MessageSocket : public testing::Test {
 protected:
  MessageSocket() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    here_.reset(fds[0]);
    there_.reset(fds[1]);
  }
  static int open_fds() {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) count += ::fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
    return count;
  }
  void send_raw(const void* bytes, std::size_t length) const {
    ASSERT_EQ(::send(here_.get(), bytes, length, 0), static_cast<ssize_t>(length));
  }
  /// More descriptors than a message may carry.
  void send_many_fds(int count) const {
    const MessageHeader header = message_header(MessageType::kGoodbye, sizeof header, 0);
    std::vector<int> fds(static_cast<std::size_t>(count), here_.get());
    std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
    iovec part{const_cast<MessageHeader*>(&header), sizeof header};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(head), fds.data(), sizeof(int) * fds.size());
    ASSERT_GE(::sendmsg(here_.get(), &message, 0), 0);
  }
  UniqueFd here_;
  UniqueFd there_;
};

TEST_F(MessageSocket, CarriesBytesAndDescriptors) {
  const UniqueFd event(::eventfd(5, EFD_CLOEXEC));
  SlabAck ack{};
  ack.header = message_header(MessageType::kSlabAck, sizeof ack, 7);
  ack.slab = 3;
  const std::array<int, 1> fds{event.get()};
  ASSERT_TRUE(send_message(here_.get(), ack, fds).is_ok());
  Result<Message> got = receive_message(there_.get());
  ASSERT_TRUE(got.is_ok());
  EXPECT_EQ(got.value().header().sequence, 7U);
  SlabAck copy{};
  ASSERT_TRUE(got.value().read(copy));
  EXPECT_EQ(copy.slab, 3U);
  ASSERT_EQ(got.value().fds.size(), 1U);
  std::uint64_t value = 0;
  EXPECT_EQ(::read(got.value().fds[0].get(), &value, 8), 8);
  EXPECT_EQ(value, 5U);
  EXPECT_NE(::fcntl(got.value().fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(MessageSocket, NothingThereIsBusyAndAHangUpIsUnavailable) {
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kBusy);
  here_.reset();
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kUnavailable);
  // No SIGPIPE: this process would be gone.
  EXPECT_EQ(
      send_message(there_.get(), message_header(MessageType::kGoodbye, sizeof(MessageHeader), 0)).code(),
      Code::kUnavailable);
}

TEST_F(MessageSocket, AFullPeerIsBusy) {
  const std::vector<std::byte> bytes(kMessageBytesMax);
  Status status;
  while (status.is_ok()) status = send_message(here_.get(), bytes, {});
  EXPECT_EQ(status.code(), Code::kBusy);
}

TEST_F(MessageSocket, MalformedPacketsAreInvalid) {
  MessageHeader header = message_header(MessageType::kHello, sizeof header, 0);
  send_raw("short", 5);
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kInvalid);
  header.magic ^= 1;
  send_raw(&header, sizeof header);
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kInvalid);
  header = message_header(MessageType::kHello, sizeof header + 1, 0);
  send_raw(&header, sizeof header);
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kInvalid);
  const std::string too_long(kMessageBytesMax + 1, 'x');
  send_raw(too_long.data(), too_long.size());
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kInvalid);
  EXPECT_EQ(receive_message(there_.get()).code(), Code::kBusy);  // and the next one is found again
}

TEST_F(MessageSocket, TooManyDescriptorsLeakNone) {
  const int before = open_fds();
  for (int i = 0; i < 4; ++i) {
    send_many_fds(static_cast<int>(kMessageFdsMax) + 3);
    const Result<Message> got = receive_message(there_.get());
    EXPECT_EQ(got.code(), Code::kInvalid);
    EXPECT_NE(got.status().message().find("more descriptors than the"), std::string::npos);
  }
  EXPECT_EQ(open_fds(), before);
}

TEST_F(MessageSocket, WhoHasNoDescriptorsLeftIsToldOfTheLimit) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = ::fcntl(here_.get(), F_DUPFD, 0);  // the lowest that is free
  ::close(next);
  send_many_fds(2);
  const int before = open_fds();
  const rlimit one_more{static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  const Result<Message> got = receive_message(there_.get());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(open_fds(), before);
  EXPECT_EQ(got.code(), Code::kInvalid);
  EXPECT_NE(got.status().message().find("LimitNOFILE"), std::string::npos) << got.status().message();
}

TEST_F(MessageSocket, UnwantedDescriptorsAreDropped) {
  const int before = open_fds();
  send_many_fds(1);
  const Result<Message> got = receive_message(there_.get(), TakeFds::kDrop);
  EXPECT_TRUE(!got.is_ok() || got.value().fds.empty());
  EXPECT_EQ(open_fds(), before);
}

TEST_F(MessageSocket, ARefusalIsCutToOneMessage) {
  ASSERT_TRUE(send_refused(here_.get(), 9, Status(Code::kDenied, std::string(100'000, 'w'))).is_ok());
  Result<Message> got = receive_message(there_.get());
  ASSERT_TRUE(got.is_ok());
  Refused refused{};
  ASSERT_TRUE(got.value().read(refused));
  EXPECT_EQ(refused.code, Code::kDenied);
  EXPECT_EQ(got.value().tail<Refused>().size(), refused.text_bytes);
  EXPECT_EQ(got.value().bytes.size(), kMessageBytesMax);
  SlabAdd longer{};
  EXPECT_TRUE(got.value().read(longer));
}

TEST_F(MessageSocket, AShortMessageIsNotReadAsALongerOne) {
  ASSERT_TRUE(
      send_message(here_.get(), message_header(MessageType::kSlabAdd, sizeof(MessageHeader), 0)).is_ok());
  Result<Message> got = receive_message(there_.get());
  ASSERT_TRUE(got.is_ok());
  SlabAdd add{};
  EXPECT_FALSE(got.value().read(add));
  EXPECT_TRUE(got.value().tail<SlabAdd>().empty());
}

}  // namespace
}  // namespace kvtier
