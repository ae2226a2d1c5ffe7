// Several writers of one namespace, and what each may do: shares, slabs with one writer, rights, quotas.

#include <map>

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Sharing : public StoreFixture {
 protected:
  // Every slot being written lies in a slab that is lent to its writer, and a slab has one writer.
  void check_single_writer() {
    StoreState& state = store_->state();
    for (const auto& session : state.sessions) {
      if (session == nullptr) continue;
      for (BlockId id = session->writing; id != BlockId::kNone; id = state.blocks[id].next) {
        EXPECT_EQ(state.slab_of(state.blocks[id].slot).writer, session->index);
      }
    }
  }
};

// L-07: six clients, a pool that is nearly full, all-or-nothing requests.
TEST_F(Sharing, L_07_all_or_nothing_never_overcommits_and_starves_nobody) {
  constexpr std::uint64_t kSlots = 96;
  make_store(kSlots);
  struct Actor {
    SimClient* client;
    SpaceId space;
    std::vector<Hold> held;
    std::vector<std::pair<std::uint32_t, std::size_t>> asked;
    std::uint64_t successes = 0;
    std::uint64_t answers = 0;
    bool is_refused = false;
  };
  std::vector<Actor> actors;
  for (int i = 0; i < 6; ++i) {
    SimClient& client = add_client();
    actors.push_back({.client = &client, .space = usual_space(client)});
  }
  Prng prng(3);
  std::uint64_t chain = 0;
  for (int step = 0; step < 6000; ++step) {
    Actor& actor = actors[prng.below(actors.size())];
    if (!actor.held.empty() && (actor.is_refused || actor.held.size() >= 24)) {
      // Who is refused lets go of what it has: else six that hold and wait would all wait for ever.
      prng.below(2) == 0 ? actor.client->commit(actor.held) : actor.client->abort(actor.held);
      actor.held.clear();
      actor.is_refused = false;
    } else if (actor.asked.empty()) {
      const std::size_t count = 1 + prng.below(16);
      actor.asked.emplace_back(actor.client->reserve(actor.space, keys_of(++chain, count), {}, true), count);
    }
    clock_.advance(kNsPerMs);
    settle();
    std::uint64_t held = 0;
    for (Actor& each : actors) {
      if (!each.asked.empty() && each.client->is_answered(each.asked[0].first)) {
        const std::vector<Reservation> got = each.client->reserved(each.asked[0].first);
        const std::vector<Hold> granted = holds_of(got);
        EXPECT_TRUE(granted.empty() || granted.size() == each.asked[0].second) << "a part was granted";
        ++each.answers;
        each.successes += granted.empty() ? 0 : 1;
        each.is_refused = granted.empty();
        each.held.insert(each.held.end(), granted.begin(), granted.end());
        each.asked.clear();
      }
      held += each.held.size();
    }
    ASSERT_LE(held, kSlots);
    ASSERT_EQ(held, stats().blocks_writing);
    check_single_writer();
  }
  for (const Actor& each : actors) {
    EXPECT_GT(each.answers, 0U);
    EXPECT_GE(each.successes * 3, each.answers) << "a third of a client's requests succeed";
  }
  for (Actor& each : actors) each.client->abort(each.held);
}

std::uint32_t slabs_on_their_way(StoreState& state) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i)
    count += state.memory.slab(SlabIndex{i}).retire != nullptr ? 1 : 0;
  return count;
}

TEST_F(Sharing, F_05_a_stopped_process_does_not_keep_the_memory_of_a_third_namespace_from_another) {
  make_store(64);
  SimClient& stopped = add_client("stopped");
  SimClient& giving = add_client("giving");
  put(stopped, usual_space(stopped), keys_of(1, 32));
  put(giving, usual_space(giving), keys_of(2, 32));
  SimClient& wanting = add_client("wanting");
  const SpaceId space = usual_space(wanting);
  answers_revocations_ = false;
  const auto ask = [&](std::uint64_t chain) {
    const std::uint32_t request = wanting.reserve(space, keys_of(chain, 4), {});
    settle();
    giving.acknowledge();
    advance(20 * kNsPerMs);
    EXPECT_TRUE(wanting.is_answered(request));
    commit(wanting, wanting.reserved(request));
    return wanting.completion(request);
  };
  const Completion first = ask(10);
  EXPECT_EQ(first.cause, Cause::kWriterBusy);
  EXPECT_EQ(first.detail, 1000U);
  for (std::uint64_t chain = 11; chain < 14; ++chain) EXPECT_EQ(ask(chain).count, 4U);
  EXPECT_EQ(stopped.removals(), 1U) << "it is not asked again";
  EXPECT_EQ(slabs_on_their_way(store_->state()), 1U);
  answers_revocations_ = true;
  settle();
  EXPECT_EQ(slabs_on_their_way(store_->state()), 0U);
  EXPECT_EQ(ask(14).count, 4U);
}

TEST_F(Sharing, F_05_few_slabs_are_on_their_way_however_many_processes_are_stopped) {
  make_store(64);
  for (std::uint64_t i = 0; i < 8; ++i) {
    SimClient& client = add_client("n" + std::to_string(i));
    put(client, usual_space(client), keys_of(i, 8));
  }
  SimClient& wanting = add_client("wanting");
  const SpaceId space = usual_space(wanting);
  answers_revocations_ = false;
  for (std::uint64_t chain = 100; chain < 110; ++chain) {
    (void)wanting.reserve(space, keys_of(chain, 1), {});
    advance(20 * kNsPerMs);
  }
  EXPECT_EQ(slabs_on_their_way(store_->state()), 4U);
  answers_revocations_ = true;
  settle();
}

TEST_F(Sharing, a_slab_changes_its_writer_only_after_the_answer) {
  make_store(16);
  SimClient& first = add_client();
  const SpaceId space = usual_space(first);
  for (std::uint64_t chain = 0; chain < 16; ++chain) put(first, space, keys_of(chain, 1));
  SimClient& second = add_client();
  (void)usual_space(second);
  answers_revocations_ = false;
  const std::uint32_t request = second.reserve(space, keys_of(100, 1), {});
  settle();
  EXPECT_FALSE(second.is_answered(request));
  EXPECT_EQ(first.revocations(), 1U);
  check_single_writer();
  answers_revocations_ = true;
  settle();
  ASSERT_TRUE(second.is_answered(request));
  EXPECT_EQ(holds_of(second.reserved(request)).size(), 1U);
  check_single_writer();
}

TEST_F(Sharing, a_writer_that_does_not_answer_costs_a_bounded_time) {
  make_store(16);
  SimClient& first = add_client();
  const SpaceId space = usual_space(first);
  for (std::uint64_t chain = 0; chain < 16; ++chain) put(first, space, keys_of(chain, 1));
  SimClient& second = add_client();
  (void)usual_space(second);
  answers_revocations_ = false;
  const std::uint32_t request = second.reserve(space, keys_of(100, 1), {});
  settle();
  EXPECT_LE(store_->next_deadline(), clock_.now_ns() + 20 * kNsPerMs);
  advance(20 * kNsPerMs);
  ASSERT_TRUE(second.is_answered(request));
  EXPECT_EQ(second.completion(request).code, Code::kNoSpace);
  EXPECT_EQ(second.completion(request).cause, Cause::kWriterBusy);
  EXPECT_EQ(second.completion(request).detail, 1000U) << "the pid of who does not answer";
  EXPECT_EQ(second.reserved(request)[0].result.cause, Cause::kWriterBusy);
  EXPECT_EQ(stats().no_space_writer_busy, 1U);
  EXPECT_EQ(stats().no_space_full, 0U);
  EXPECT_EQ(stats().reserves_deferred, 0U);
  end_process(first);
  EXPECT_EQ(holds_of(reserve(second, space, keys_of(101, 4))).size(), 4U);
}

TEST_F(Sharing, F_05_a_namespace_stays_within_its_quota) {
  make_store(64);
  SessionRequest request;
  request.namespace_name = "small";
  request.namespace_bytes_max = 16 * kBlock;
  Result<SessionGrant> grant = store_->session_open(request);
  ASSERT_TRUE(grant.is_ok());
  SimClient& client = add_client("small");
  const SpaceId space = usual_space(client);
  EXPECT_EQ(holds_of(reserve(client, space, keys_of(1, 17), true)).size(), 0U);
  EXPECT_EQ(last_completion_.code, Code::kNoSpace);
  const std::vector<Reservation> all = reserve(client, space, keys_of(1, 20));
  EXPECT_EQ(holds_of(all).size(), 16U);
  EXPECT_EQ(all[19].result.cause, Cause::kQuota);
  EXPECT_EQ(stats().slabs_assigned, 4U);
  client.abort(holds_of(all));
  for (std::uint64_t chain = 10; chain < 60; ++chain) put(client, space, keys_of(chain, 1));
  EXPECT_EQ(stats().slabs_assigned, 4U);
}

TEST_F(Sharing, F_05_a_greedy_namespace_does_not_evict_anothers_blocks) {
  make_store(100);
  for (const auto& [name, slots] : {std::pair("a", 40U), std::pair("b", 20U)}) {
    SessionRequest request;
    request.namespace_name = name;
    request.namespace_bytes_max = slots * kBlock;
    ASSERT_TRUE(store_->session_open(request).is_ok());
  }
  SimClient& modest = add_client("a");
  const SpaceId space = usual_space(modest);
  put(modest, space, keys_of(1, 40));
  SimClient& greedy = add_client("b");
  const SpaceId greedy_space = usual_space(greedy);
  for (std::uint64_t chain = 0; chain < 200; ++chain) put(greedy, greedy_space, keys_of(chain, 1));
  EXPECT_EQ(count_ready(modest, space, keys_of(1, 40)), 40U);
  EXPECT_LE(store_->state().tenants[1].slab_bytes, 20 * kBlock);
  EXPECT_EQ(stats().blocks_ready, 60U);
  EXPECT_EQ(greedy.match(greedy_space, pattern_key(1, 0)), 0) << "the same key of another namespace";
}

TEST_F(Sharing, a_read_only_session_reads_and_may_not_reserve_or_invalidate) {
  make_store(64);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  put(writer, space, keys_of(1, 1));
  SessionRequest request;
  request.namespace_name = "main";
  request.is_read_only = true;
  Result<SessionGrant> grant = store_->session_open(request);
  ASSERT_TRUE(grant.is_ok());
  const auto answer_to = [&](Op op, std::uint32_t count) {
    Submission submission{};
    submission.op = op;
    submission.space = space;
    submission.count = count;
    submission.arena_offset = op == Op::kInvalidate ? kNoArena : 0;
    store_->submit(grant.value().session, submission);
    Code code = Code::kOk;
    for (const OutEvent& event : store_->outbox()) {
      EXPECT_EQ(event.kind, OutEvent::Kind::kCompletion);
      code = event.completion.code;
    }
    store_->outbox().clear();
    return code;
  };
  EXPECT_EQ(answer_to(Op::kReserve, 1), Code::kDenied);
  EXPECT_EQ(answer_to(Op::kInvalidate, 0), Code::kDenied);
  EXPECT_EQ(answer_to(Op::kPin, 1), Code::kDenied);
  EXPECT_EQ(answer_to(Op::kUnpin, 1), Code::kDenied);
  settle();
  EXPECT_EQ(writer.match(space, pattern_key(1, 0)), 1);
  const Result<SlabGrant> slab =
      store_->slab_grant(grant.value().session, store_->slabs_of(writer.session())[0]);
  ASSERT_TRUE(slab.is_ok());
  EXPECT_EQ(slab.value().message.flags & kSlabWritable, 0U);
}

TEST_F(Sharing, another_namespaces_slab_is_not_granted) {
  make_store(64);
  SimClient& writer = add_client("one");
  put(writer, usual_space(writer), keys_of(1, 1));
  SimClient& other = add_client("two");
  const SlabIndex slab = store_->slabs_of(writer.session())[0];
  EXPECT_EQ(store_->slab_grant(other.session(), slab).code(), Code::kDenied);
}

// Four slabs of one slot each become needed by a spec with small blocks, for which there are no records.
TEST_F(Sharing, a_slab_that_cannot_be_cut_anew_stays_where_it_was) {
  make_store(16, {.blocks_max = 6});
  SimClient& client = add_client();
  const SpaceId large = client.register_space(encoded_spec("large", 4 * kBlock));
  const SpaceId small = client.register_space(encoded_spec("small", kBlock));
  const std::vector<Reservation> all = reserve(client, large, keys_of(1, 4), true);
  client.abort(holds_of(all));
  EXPECT_EQ(holds_of(reserve(client, small, keys_of(2, 1))).size(), 0U);
  EXPECT_EQ(last_completion_.cause, Cause::kIndexFull);
  EXPECT_EQ(stats().slab_reshapes, 0U);
  EXPECT_EQ(holds_of(reserve(client, large, keys_of(3, 4), true)).size(), 4U);
}

TEST_F(Sharing, spaces_max_is_of_all_namespaces_together) {
  make_store(16, {.spaces_max = 3});
  SimClient& one = add_client("one");
  SimClient& two = add_client("two");
  (void)one.register_space(encoded_spec("a", kBlock));
  (void)one.register_space(encoded_spec("b", kBlock));
  (void)two.register_space(encoded_spec("a", kBlock));
  const std::vector<std::byte> more = encoded_spec("c", kBlock);
  const Result<SpaceGrant> refused = store_->space_register(two.session(), more);
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  EXPECT_NE(refused.status().message().find("limits.spaces_max is 3"), std::string::npos);
  (void)two.register_space(encoded_spec("a", kBlock));
}

TEST_F(Sharing, who_only_reads_takes_no_more_than_half_of_the_specs) {
  make_store(16, {.spaces_max = 4});
  SimClient& writer = add_client("main");
  SessionRequest request;
  request.namespace_name = "main";
  request.is_read_only = true;
  const SessionIndex reader = store_->session_open(request).value().session;
  EXPECT_TRUE(store_->space_register(reader, encoded_spec("a", kBlock)).is_ok());
  EXPECT_TRUE(store_->space_register(reader, encoded_spec("b", kBlock)).is_ok());
  const Result<SpaceGrant> refused = store_->space_register(reader, encoded_spec("c", kBlock));
  EXPECT_EQ(refused.code(), Code::kDenied);
  EXPECT_NE(refused.status().message().find("limits.spaces_max"), std::string::npos);
  (void)writer.register_space(encoded_spec("c", kBlock));
  EXPECT_TRUE(store_->space_register(reader, encoded_spec("c", kBlock)).is_ok()) << "it is known now";
}

TEST_F(Sharing, a_writer_that_hung_up_is_named_as_one_that_does_not_answer) {
  make_store(16);
  SimClient& gone = add_client();
  const SpaceId space = usual_space(gone);
  put(gone, space, keys_of(1, 16));
  store_->session_hang_up(gone.session());
  SimClient& other = add_client();
  (void)usual_space(other);
  (void)reserve(other, space, keys_of(2, 1));
  EXPECT_EQ(last_completion_.cause, Cause::kWriterBusy);
  EXPECT_EQ(last_completion_.detail, 1000U);
}

// A stopped process keeps memory from other namespaces too: a slab that leaves its own is mapped by it still.
TEST_F(Sharing, who_does_not_unmap_a_slab_is_named_to_the_namespace_that_waits_for_it) {
  make_store(16);
  SimClient& stopped = add_client("one");
  const SpaceId space = usual_space(stopped);
  put(stopped, space, keys_of(1, 16));
  SimClient& other = add_client("two");
  const SpaceId others = usual_space(other);
  answers_revocations_ = false;
  const std::uint32_t request = other.reserve(others, keys_of(2, 1), {});
  settle();
  EXPECT_FALSE(other.is_answered(request));
  advance(20 * kNsPerMs);
  ASSERT_TRUE(other.is_answered(request));
  EXPECT_EQ(other.completion(request).cause, Cause::kWriterBusy);
  EXPECT_EQ(other.completion(request).detail, 1000U);
  answers_revocations_ = true;
  settle();
  EXPECT_EQ(holds_of(reserve(other, others, keys_of(3, 1))).size(), 1U);
}

}  // namespace
}  // namespace kvtier::test
