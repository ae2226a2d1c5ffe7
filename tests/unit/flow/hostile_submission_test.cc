// Commands with any bytes: the sender is answered or loses its session; nobody else notices.

#include <cstring>

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class HostileSubmission : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(64);
    bystander_ = &add_client("theirs");
    space_ = usual_space(*bystander_);
    put(*bystander_, space_, keys_of(1, 8));
    open_ = reserve(*bystander_, space_, keys_of(2, 2));
    lease_ = *bystander_->acquire(space_, pattern_key(1, 3));
    new_attacker();
  }

  void new_attacker() {
    SessionRequest request;
    request.namespace_name = "hostile";
    request.client_name = "hostile";
    request.pid = 666;
    Result<SessionGrant> grant = store_->session_open(request);
    ASSERT_TRUE(grant.is_ok()) << grant.status().to_string();
    attacker_ = grant.value();
    ASSERT_TRUE(store_->space_register(attacker_.session, encoded_spec("h", kBlock)).is_ok());
  }

  // True: the session is over. Events of the attacker are looked at and dropped.
  bool send(const Submission& submission) {
    store_->submit(attacker_.session, submission);
    bool is_over = false;
    for (const OutEvent& event : store_->outbox()) {
      EXPECT_TRUE(event.session == attacker_.session) << "somebody else is told something";
      is_over = is_over || event.kind == OutEvent::Kind::kEndSession;
      if (event.kind == OutEvent::Kind::kSlabRevoke || event.kind == OutEvent::Kind::kSlabRemove) {
        acks_.push_back({.slab = index_of(event.slab), .epoch = event.epoch});
      }
    }
    store_->outbox().clear();
    if (is_over) ++ended_;
    return is_over;
  }

  void send_and_replace(const Submission& submission) {
    if (!send(submission)) return;
    store_->session_hang_up(attacker_.session);
    store_->session_exited(attacker_.session);
    new_attacker();
  }

  // Work in between, as the conductor does it.
  void work() {
    clock_.advance(kNsPerMs);
    (void)store_->do_work();
    for (const OutEvent& event : store_->outbox()) EXPECT_TRUE(event.session == attacker_.session);
    store_->outbox().clear();
  }

  void expect_bystander_unharmed() {
    expect_exact(lease_);
    EXPECT_EQ(count_ready(*bystander_, space_, keys_of(1, 8)), 8U);
    EXPECT_EQ(bystander_->match(space_, pattern_key(2, 0)), 2);
    EXPECT_FALSE(bystander_->is_ended());
    store_->session_exited(attacker_.session);
    store_->outbox().clear();
    check_store(*store_);
    commit(*bystander_, open_);
    EXPECT_EQ(count_ready(*bystander_, space_, keys_of(2, 2)), 2U);
    put(*bystander_, space_, keys_of(3, 4));
  }

  Submission request(Op op, std::uint32_t count) {
    Submission submission{};
    submission.op = op;
    submission.request_id = 1;
    submission.space = SpaceId{1};
    submission.count = count;
    return submission;
  }
  void put_key(std::uint32_t place, const Key& key) {
    std::memcpy(arena() + place * sizeof key, &key, sizeof key);
  }
  // Blocks that the attacker writes and never commits; their keys are in the arena, as a wait wants them.
  void begin_pending(std::uint32_t count) {
    Submission reserve = request(Op::kReserve, count);
    put_key(0, Key{});
    for (std::uint32_t i = 0; i < count; ++i) put_key(1 + i, pattern_key(66, i));
    EXPECT_FALSE(send(reserve));
    for (std::uint32_t i = 0; i < count; ++i) put_key(i, pattern_key(66, i));
  }
  // The code of the (last) answer; none: the request stays open.
  std::optional<Code> last_code_of(const Submission& submission) {
    store_->submit(attacker_.session, submission);
    std::optional<Code> code;
    for (const OutEvent& event : store_->outbox()) {
      EXPECT_EQ(event.kind, OutEvent::Kind::kCompletion);
      code = event.completion.code;
    }
    store_->outbox().clear();
    return code;
  }

  [[nodiscard]] std::byte* arena() const { return attacker_.channel + ChannelLayout::kArena; }

  SimClient* bystander_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  std::vector<Reservation> open_;
  SimLease lease_;
  SessionGrant attacker_;
  std::vector<SlabAck> acks_;
  std::uint64_t ended_ = 0;
};

TEST_F(HostileSubmission, every_field_at_its_extremes) {
  const std::uint32_t counts[] = {0,        1,  kInlineHolds + 1, kRequestKeysMax, kRequestKeysMax + 1,
                                  1U << 31, ~0U};
  const std::uint64_t offsets[] = {
      0, 1, 8, kArenaBytes - 8, kArenaBytes, kArenaBytes + 8, 1ULL << 63, kNoArena - 7, kNoArena};
  const std::uint32_t spaces[] = {0, 1, 2, ~0U};
  std::uint64_t sent = 0;
  for (std::uint16_t op = 0; op <= 13; ++op) {
    for (const std::uint32_t count : counts) {
      for (const std::uint64_t offset : offsets) {
        for (const std::uint32_t space : spaces) {
          Submission submission{};
          submission.op = static_cast<Op>(op == 13 ? 0xffff : op);
          submission.flags = sent % 2 == 0 ? 0 : 0xffff;
          submission.request_id = static_cast<std::uint32_t>(sent);
          submission.space = SpaceId{space};
          submission.count = count;
          submission.arena_offset = offset;
          submission.deadline_ns = sent % 3 == 0 ? 0 : sent % 3 == 1 ? 1 : ~0ULL;
          std::memset(submission.args, sent % 5 == 0 ? 0xff : 0, sizeof submission.args);
          send_and_replace(submission);
          if (++sent % 16 == 0) work();
        }
      }
    }
  }
  EXPECT_GT(ended_, sent / 4) << "what is not of the protocol ends the session";
  EXPECT_LT(ended_, sent);
  expect_bystander_unharmed();
}

TEST_F(HostileSubmission, twenty_thousand_random_ones_over_random_arenas) {
  Prng prng(11);
  for (int i = 0; i < 20'000; ++i) {
    Submission submission{};
    std::uint64_t words[8];
    for (std::uint64_t& word : words) word = prng.next();
    std::memcpy(static_cast<void*>(&submission), words, sizeof submission);
    // Most are nearly right, so that they get far.
    if (prng.below(8) != 0) submission.op = static_cast<Op>(1 + prng.below(12));
    if (prng.below(8) != 0) submission.count = static_cast<std::uint32_t>(1 + prng.below(12));
    if (prng.below(4) != 0) submission.space = SpaceId{1};
    if (prng.below(4) != 0) submission.arena_offset = prng.below(4096) * 8;
    if (prng.below(4) == 0) submission.arena_offset = kNoArena;
    if (prng.below(4) != 0) submission.holds[0].block = static_cast<std::uint32_t>(prng.below(80));
    // Few distinct keys, written anew: duplicates, parents that are children, holds that are guesses.
    for (int word = 0; word < 64; ++word) {
      const std::uint64_t value = prng.below(6);
      std::memcpy(arena() + prng.below(4096) * 8, &value, sizeof value);
    }
    send_and_replace(submission);
    if (i % 8 == 0) work();
    if (i % 2000 == 0) {
      check_store(*store_);
      if (HasFailure()) return;
    }
  }
  expect_bystander_unharmed();
}

// Requests that stay open cost memory and time until they are answered: a session has a bounded number of
// them.
TEST_F(HostileSubmission, waits_without_end_end_the_session) {
  begin_pending(1);
  Submission wait = request(Op::kWait, 1);
  std::uint32_t open = 0;
  while (!send(wait) && open < 10'000) {
    ++open;
    ++wait.request_id;
    EXPECT_EQ(stats().waits_open, open);
  }
  EXPECT_EQ(open, kCompletionEntries);
  store_->session_hang_up(attacker_.session);
  EXPECT_EQ(stats().waits_open, 0U);
  expect_bystander_unharmed();
}

// One block many times over: what a wait costs is a question of its blocks.
TEST_F(HostileSubmission, waits_for_one_block_many_times_over_end_fast) {
  begin_pending(1);
  Submission wait = request(Op::kWait, kRequestKeysMax);
  for (std::uint32_t i = 0; i < kRequestKeysMax; ++i) put_key(i, pattern_key(66, 0));
  for (int i = 0; i < 500; ++i) EXPECT_EQ(last_code_of(wait), std::nullopt);
  EXPECT_EQ(store_->state().waits.links_count(), 500U);
  Submission cancel = request(Op::kCancel, 0);
  cancel.args[0] = wait.request_id;  // all of them
  EXPECT_EQ(last_code_of(cancel), Code::kDeadline);
  EXPECT_EQ(stats().waits_open, 0U);
  EXPECT_EQ(store_->state().waits.links_count(), 0U);
  expect_bystander_unharmed();
}

TEST_F(HostileSubmission, invalidations_without_end_are_busy_and_do_not_keep_others_waiting) {
  Submission invalidate = request(Op::kInvalidate, 0);
  invalidate.space = SpaceId::kNone;
  std::uint32_t open = 0;
  while (last_code_of(invalidate) == std::nullopt && open < 10'000) ++open;
  EXPECT_EQ(open, 16U);
  const std::uint32_t theirs = bystander_->simple(Op::kInvalidate, SpaceId{77}, {});
  for (const OutEvent& event : store_->outbox()) bystander_->on_event(event);
  store_->outbox().clear();
  EXPECT_EQ(bystander_->completion(theirs).code, Code::kNotFound) << "answered, behind nobody";
  for (std::uint32_t i = 0; i <= open; ++i) work();
  EXPECT_EQ(last_code_of(invalidate), std::nullopt) << "there is room again";
  work();
  expect_bystander_unharmed();
}

TEST_F(HostileSubmission, acknowledgements_that_nobody_asked_for_change_nothing) {
  Prng prng(5);
  for (int i = 0; i < 2000; ++i) {
    SlabAck ack{};
    ack.slab = static_cast<std::uint32_t>(prng.below(2) == 0 ? prng.below(20) : prng.next());
    ack.epoch = static_cast<std::uint32_t>(prng.below(3));
    ack.state = static_cast<SlabState>(prng.below(6));
    store_->slab_acknowledged(attacker_.session, ack);
  }
  store_->outbox().clear();
  expect_bystander_unharmed();
}

}  // namespace
}  // namespace kvtier::test
