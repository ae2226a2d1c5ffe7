// A reservation or a commit that an invalidation ends says so.

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class InvalidatedCause : public StoreFixture {
 protected:
  InvalidatedCause() {
    make_store(16);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  Completion commit_and_ask(const std::vector<Reservation>& reservations) {
    Submission submission{};
    submission.op = Op::kCommit;
    submission.flags = kFlagReply;
    submission.request_id = 9999;
    submission.arena_offset = kNoArena;
    for (const Reservation& each : reservations) submission.holds[submission.count++] = each.result.hold;
    store_->submit(client_->session(), submission);
    settle();
    return client_->completion(9999);
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(InvalidatedCause, a_reservation_during_it) {
  const std::uint32_t invalidation = client_->simple(Op::kInvalidate, space_, {});
  const std::uint32_t request = client_->reserve(space_, keys_of(1, 2), Key{});
  deliver();
  ASSERT_FALSE(client_->is_answered(invalidation)) << "it is under way";
  EXPECT_EQ(client_->completion(request).code, Code::kStale);
  EXPECT_EQ(client_->completion(request).cause, Cause::kInvalidated);
  settle();
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(1, 2))).size(), 2U) << "the space stays good";
  EXPECT_EQ(last_completion_.cause, Cause::kNone);
}

TEST_F(InvalidatedCause, a_commit_after_it) {
  const std::vector<Reservation> begun = reserve(*client_, space_, keys_of(1, 2));
  EXPECT_EQ(call(*client_, Op::kInvalidate, space_, {}).count, 2U);
  const Completion answer = commit_and_ask(begun);
  EXPECT_EQ(answer.code, Code::kStale);
  EXPECT_EQ(answer.cause, Cause::kInvalidated);
  EXPECT_EQ(hold_code(answer.value, 1), Code::kStale);
}

TEST_F(InvalidatedCause, other_refusals_have_none) {
  const std::vector<Reservation> begun = reserve(*client_, space_, keys_of(1, 1));
  client_->abort(holds_of(begun));
  const Completion answer = commit_and_ask(begun);
  EXPECT_EQ(answer.code, Code::kInvalid);
  EXPECT_EQ(answer.cause, Cause::kNone);
}

}  // namespace
}  // namespace kvtier::test
