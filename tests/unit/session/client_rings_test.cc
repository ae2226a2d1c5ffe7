#include "daemon/session/client_rings.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "libkvclient/wire/shm_segment.h"

namespace kvtier {
namespace {

struct Channel {
  UniqueFd fd = shm_create("test", ChannelLayout::bytes_for(4096), {}).value();
  ShmMapping mapping =
      ShmMapping::map(fd.get(), ChannelLayout::bytes_for(4096), ShmAccess::kReadWrite).value();
  ChannelHeader& header = *reinterpret_cast<ChannelHeader*>(mapping.data());
  SubmissionProducer submissions{mapping.data() + ChannelLayout::kSubmissions, header.submission_tail,
                                 header.submission_head};
  CompletionConsumer completions{mapping.data() + ChannelLayout::kCompletions, header.completion_tail,
                                 header.completion_head};
  ClientRings rings{mapping.data()};
};

Submission numbered(std::uint32_t id) {
  Submission submission{};
  submission.op = Op::kEcho;
  submission.request_id = id;
  return submission;
}

TEST(ClientRings, pops_in_order_and_at_most_what_fits) {
  Channel channel;
  for (std::uint32_t i = 0; i < 5; ++i) channel.submissions.push(numbered(i));
  std::vector<Submission> room(3);
  std::size_t count = 0;
  ASSERT_TRUE(channel.rings.pop(room, count));
  ASSERT_EQ(count, 3u);
  EXPECT_EQ(room[2].request_id, 2u);
  EXPECT_TRUE(channel.rings.has_work());
  ASSERT_TRUE(channel.rings.pop(room, count));
  EXPECT_EQ(count, 2u);
  EXPECT_FALSE(channel.rings.has_work());
}

TEST(ClientRings, every_wrong_tail_is_broken) {
  for (const std::uint32_t tail : {kSubmissionEntries + 1, 0x80000000U, 0xffffffffU}) {
    Channel channel;
    channel.header.submission_tail.store(tail);
    std::vector<Submission> room(1);
    std::size_t count = 0;
    EXPECT_FALSE(channel.rings.pop(room, count)) << tail;
    EXPECT_EQ(count, 0u);
  }
}

TEST(ClientRings, head_written_by_the_client_does_not_move_the_daemon) {
  Channel channel;
  channel.submissions.push(numbered(1));
  channel.submissions.push(numbered(2));
  std::vector<Submission> room(1);
  std::size_t count = 0;
  ASSERT_TRUE(channel.rings.pop(room, count));
  channel.header.submission_head.store(77);
  ASSERT_TRUE(channel.rings.pop(room, count));
  EXPECT_EQ(room[0].request_id, 2u);
}

TEST(ClientRings, a_full_completion_ring_and_a_wrong_head_are_refused) {
  Channel channel;
  for (std::uint32_t i = 0; i < kCompletionEntries; ++i) ASSERT_TRUE(channel.rings.push({}));
  EXPECT_FALSE(channel.rings.push({}));
  Channel scribbled;
  scribbled.header.completion_head.store(5);
  EXPECT_FALSE(scribbled.rings.push({}));
}

TEST(ClientRings, a_resumed_channel_drops_what_the_dead_daemon_was_sent) {
  Channel channel;
  for (std::uint32_t i = 0; i < 4; ++i) channel.submissions.push(numbered(i));
  ASSERT_TRUE(channel.rings.push({.request_id = 9}));
  ClientRings resumed(channel.mapping.data());
  EXPECT_FALSE(resumed.has_work());
  EXPECT_EQ(channel.header.submission_head.load(), 4u);
  channel.submissions.push(numbered(4));
  std::vector<Submission> room(2);
  std::size_t count = 0;
  ASSERT_TRUE(resumed.pop(room, count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(room[0].request_id, 4u);
  ASSERT_TRUE(resumed.push({.request_id = 10}));
  Completion completion{};
  channel.completions.pop(completion);
  EXPECT_EQ(completion.request_id, 9u);
  channel.completions.pop(completion);
  EXPECT_EQ(completion.request_id, 10u);
}

// The two sides of each sleeping pair, over and over: no record may be left behind by a sleeper. (All schedules are the
// explorer's; a round is two turns of the scheduler, which on a busy machine are milliseconds.)
TEST(ClientRings, no_submission_is_slept_through) {
  Channel channel;
  constexpr std::uint32_t kRounds = 10'000;
  std::atomic<std::uint32_t> taken{0};
  std::atomic<std::uint32_t> bells{0};
  std::thread client([&] {
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      channel.submissions.push(numbered(i));
      if (channel.header.daemon_sleeps.load(std::memory_order_seq_cst) != 0) bells.fetch_add(1);
      while (taken.load() <= i) std::this_thread::yield();
    }
  });
  std::vector<Submission> room(1);
  while (taken.load() < kRounds) {
    const std::uint32_t bells_before = bells.load();
    channel.rings.announce_sleep();
    if (!channel.rings.has_work()) {
      while (bells.load() == bells_before) std::this_thread::yield();  // asleep: only the bell ends it
    }
    channel.rings.retract_sleep();
    std::size_t count = 0;
    ASSERT_TRUE(channel.rings.pop(room, count));
    taken.fetch_add(static_cast<std::uint32_t>(count));
  }
  client.join();
}

}  // namespace
}  // namespace kvtier
