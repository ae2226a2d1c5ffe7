// Golden bytes of the control messages, the ring records and the channel's geometry (WIRE.md).

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "libkvclient/wire/channel.h"
#include "libkvclient/wire/control.h"
#include "libkvclient/wire/message_socket.h"
#include "tests/unit/wire/golden.h"

namespace kvtier {
namespace {

class Bytes {
 public:
  template <class T>
  Bytes& add(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    all_.insert(all_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> all() const { return all_; }

 private:
  std::vector<std::byte> all_;
};

TEST(Layout, ControlMessages) {
  Hello hello{};
  hello.header = message_header(MessageType::kHello, sizeof hello, 1);
  hello.protocol_major = 1;
  hello.protocol_minor = 2;
  hello.pid = 3;
  hello.flags = kHelloReadOnly;
  hello.resume_session = 4;
  hello.resume_secret[0] = 5;
  hello.resume_secret[1] = 6;
  std::strcpy(hello.client_version, "0.1.0");
  std::strcpy(hello.client_name, "client");
  std::strcpy(hello.namespace_name, "default");
  Welcome welcome{};
  welcome.header = message_header(MessageType::kWelcome, sizeof welcome, 1);
  welcome.protocol_major = 1;
  welcome.session_id = 7;
  welcome.secret[1] = 8;
  welcome.instance[0] = 9;
  welcome.channel_bytes = 10;
  welcome.directory_bytes = 11;
  welcome.namespace_id = 12;
  welcome.flags = kWelcomeReadOnly | kWelcomeResumed;
  std::strcpy(welcome.daemon_version, "0.1.0");
  Bytes bytes;
  bytes.add(hello).add(welcome);
  SlabAdd add{message_header(MessageType::kSlabAdd, sizeof add, 0), 1, kSlabWritable, 2, 3, 4, 5};
  SlabEvent event{message_header(MessageType::kSlabRevoke, sizeof event, 0), 1, 2};
  SlabAck ack{message_header(MessageType::kSlabAck, sizeof ack, 0), 1, 2, SlabState::kBusy, {}};
  SpaceReady ready{
      message_header(MessageType::kSpaceReady, sizeof ready, 9), SpaceId{1}, 0, 2, 3, {{4, 5, 6, 7}}};
  DirectoryMoved moved{message_header(MessageType::kDirectoryMoved, sizeof moved, 0), 1, 2};
  bytes.add(add).add(event).add(ack).add(ready).add(moved);
  bytes.add(message_header(MessageType::kGoodbye, sizeof(MessageHeader), 0));
  EXPECT_TRUE(test::is_golden("control_v1.bin", bytes.all()));
}

TEST(Layout, RingRecords) {
  Submission submission{};
  submission.op = Op::kCommit;
  submission.flags = kFlagReply;
  submission.request_id = 1;
  submission.space = SpaceId{2};
  submission.count = 3;
  submission.arena_offset = kNoArena;
  submission.deadline_ns = 4;
  for (std::uint32_t i = 0; i < kInlineHolds; ++i) submission.holds[i] = {10 + i, 20 + i};
  Completion completion{};
  completion.request_id = 1;
  completion.code = Code::kNoSpace;
  completion.cause = Cause::kPinnedBy;
  completion.count = 2;
  completion.detail = 3;
  completion.value = 4;
  ReserveResult result{};
  result.code = Code::kOk;
  result.slot = SlotRef::of(1, 2);
  result.hold = {3, 4};
  result.generation = 5;
  EXPECT_TRUE(test::is_golden("ring_v1.bin", Bytes().add(submission).add(completion).add(result).all()));
}

TEST(Layout, Sums) {
  SumEntry entry{};
  entry.generation = 1;
  entry.slot = SlotRef::of(2, 3);
  entry.code = Code::kPending;
  entry.sum = 4;
  EXPECT_TRUE(test::is_golden("sums_v1.bin", Bytes().add(entry).all()));
}

TEST(Layout, Channel) {
  EXPECT_EQ(offsetof(ChannelHeader, session_id), 8U);
  EXPECT_EQ(offsetof(ChannelHeader, submission_tail), 64U);
  EXPECT_EQ(offsetof(ChannelHeader, submission_head), 128U);
  EXPECT_EQ(offsetof(ChannelHeader, completion_tail), 192U);
  EXPECT_EQ(offsetof(ChannelHeader, completion_head), 256U);
  EXPECT_EQ(offsetof(ChannelHeader, daemon_sleeps), 320U);
  EXPECT_EQ(offsetof(ChannelHeader, client_waiters), 384U);
  EXPECT_EQ(offsetof(ChannelHeader, stock_refills), 448U);
  EXPECT_EQ(ChannelLayout::kSubmissions, 4096U);
  EXPECT_EQ(ChannelLayout::kCompletions, 69632U);
  EXPECT_EQ(ChannelLayout::kStock, 94208U);
  EXPECT_EQ(ChannelLayout::kAccessLog, 102400U);
  EXPECT_EQ(ChannelLayout::kArena, 237568U);
  EXPECT_EQ(ChannelLayout::kPins, 1286144U);
}

TEST(Layout, NumbersOfTheProtocol) {
  EXPECT_EQ(static_cast<int>(Op::kEcho), 1);
  EXPECT_EQ(static_cast<int>(Op::kInvalidate), 9);
  EXPECT_EQ(static_cast<int>(Op::kStock), 10);
  EXPECT_EQ(static_cast<int>(Op::kSums), 12);
  EXPECT_EQ(static_cast<int>(Op::kSync), 13);
  EXPECT_EQ(static_cast<int>(MessageType::kGoodbye), 5);
  EXPECT_EQ(static_cast<int>(MessageType::kWelcome), 101);
  EXPECT_EQ(static_cast<int>(MessageType::kDirectoryMoved), 107);
  EXPECT_EQ(static_cast<int>(Cause::kIndexFull), 7);
  EXPECT_EQ(static_cast<int>(Cause::kDiskFull), 9);
  EXPECT_EQ(static_cast<int>(Code::kSystem), 14);
  EXPECT_EQ(static_cast<int>(SlabState::kBusy), 3);
}

}  // namespace
}  // namespace kvtier
