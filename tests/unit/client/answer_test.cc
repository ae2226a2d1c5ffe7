// What the daemon refuses is said in words: cause, and what to do.

#include "libkvclient/src/answer.h"
#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

struct Refusal {
  Op op;
  Code code;
  Cause cause;
  const char* part;
};

// All that the daemon answers (daemon/flow/submit.cc and what it calls).
constexpr Refusal kRefusals[] = {
    {Op::kReserve, Code::kDenied, Cause::kNone, "kvc_reserve: this client may only read"},
    {Op::kReserve, Code::kNotFound, Cause::kNone, "register it again"},
    {Op::kReserve, Code::kStale, Cause::kInvalidated, "reserve again when"},
    {Op::kReserve, Code::kNoSpace, Cause::kTierFull, "nothing can be evicted"},
    {Op::kReserve, Code::kNoSpace, Cause::kPinnedBy, "most of it pid 4711"},
    {Op::kReserve, Code::kNoSpace, Cause::kQuota, "host_bytes_max"},
    {Op::kReserve, Code::kNoSpace, Cause::kWriterBusy, "pid 4711 has reserved the memory"},
    {Op::kReserve, Code::kNoSpace, Cause::kRequestTooLarge, "ask for fewer keys"},
    {Op::kReserve, Code::kNoSpace, Cause::kIndexFull, "index.blocks_max"},
    {Op::kCommit, Code::kInvalid, Cause::kNone, "committed or aborted before"},
    {Op::kAbort, Code::kInvalid, Cause::kNone, "committed or aborted before"},
    {Op::kCommit, Code::kStale, Cause::kInvalidated, "compute and reserve anew"},
    {Op::kCommit, Code::kExists, Cause::kNone, "acquire that one"},
    {Op::kCommit, Code::kPending, Cause::kNone, "kvc_wait for it"},
    {Op::kCommit, Code::kNoSpace, Cause::kNone, "index.blocks_max"},
    {Op::kPin, Code::kNoSpace, Cause::kNone, "limits.pinned_fraction_namespace"},
    {Op::kPin, Code::kInvalid, Cause::kNone, "ttl_ns"},
    {Op::kWait, Code::kBusy, Cause::kNone, "fewer keys"},
    {Op::kWait, Code::kDeadline, Cause::kNone, "neither committed nor aborted"},
    {Op::kInvalidate, Code::kDenied, Cause::kNone, "kvc_invalidate: this client may only read"},
    {Op::kInvalidate, Code::kNotFound, Cause::kNone, "register it again"},
    {Op::kInvalidate, Code::kNoSpace, Cause::kNone, "invalidate the whole namespace once"},
    {Op::kInvalidate, Code::kUnavailable, Cause::kNone, "invalidate again when the tier serves"},
    {Op::kInvalidate, Code::kBusy, Cause::kNone, "wait until one has ended"},
    {Op::kSync, Code::kDenied, Cause::kNone, "kvc_sync: this client may only read"},
    {Op::kSync, Code::kUnsupported, Cause::kNone, "nvme.paths"},
    {Op::kSync, Code::kUnavailable, Cause::kNone, "kvctl status"},
    {Op::kSync, Code::kNoSpace, Cause::kWriteBudget, "nvme.write_budget_bytes_per_day"},
    {Op::kSync, Code::kNoSpace, Cause::kDiskFull, "nvme.paths[].bytes"},
    {Op::kSync, Code::kNotFound, Cause::kNone, "never committed"},
    {Op::kSync, Code::kInvalid, Cause::kNone, "does not take blocks"},
    {Op::kSync, Code::kSystem, Cause::kNone, "fdatasync failed"},
    {Op::kSync, Code::kDeadline, Cause::kNone, "ask again"},
    {Op::kSync, Code::kStale, Cause::kInvalidated, "being invalidated"},
    {Op::kSync, Code::kBusy, Cause::kNone, "wait for one"},
};

TEST(ClientAnswer, EveryRefusalHasItsCauseAndWhatToDo) {
  for (const Refusal& refusal : kRefusals) {
    const Completion answer{.code = refusal.code, .cause = refusal.cause, .detail = 4711};
    const Status status = client::status_of(answer, refusal.op);
    EXPECT_EQ(status.code(), refusal.code);
    EXPECT_NE(status.message().find(refusal.part), std::string::npos) << status.message();
    EXPECT_EQ(status.message().rfind("kvc_", 0), 0U) << status.message();
  }
}

TEST(ClientAnswer, OneThatNobodyKnowsNamesItsCode) {
  const Status status = client::status_of({.code = Code::kCorrupt}, Op::kEcho);
  EXPECT_NE(status.message().find("kvc_ping: "), std::string::npos);
  EXPECT_NE(status.message().find("corrupt"), std::string::npos);
  EXPECT_TRUE(client::status_of({.code = Code::kOk}, Op::kPin).is_ok());
}

TEST(ClientAnswer, ACommitNamesTheSlot) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  std::vector<kvc_slot> slots = client.reserve(keys_from(0, 7));
  std::vector<kvc_slot> copies = slots;
  for (const auto end : {kvc_commit, kvc_abort}) {
    const std::string call = end == kvc_commit ? "kvc_commit" : "kvc_abort";
    ASSERT_EQ(kvc_commit(client.space, &slots[5], 1, KVC_WAIT, 0), KVC_OK);
    std::vector<kvc_slot> again = copies;
    again.erase(again.begin(), again.begin() + 5);
    EXPECT_EQ(end(client.space, again.data(), 1, KVC_WAIT, 0), KVC_INVALID);
    EXPECT_EQ(std::string(kvc_last_error()).find(call + ": slots[0]: not reserved any more"), 0U)
        << kvc_last_error();
  }
  EXPECT_EQ(kvc_commit(client.space, copies.data(), copies.size(), KVC_WAIT, 0), KVC_INVALID);
  EXPECT_EQ(std::string(kvc_last_error()).find("kvc_commit: slots[5]: not reserved"), 0U) << kvc_last_error();
  EXPECT_EQ(copies[5].code, KVC_INVALID);
  EXPECT_EQ(copies[6].code, KVC_OK);
}

}  // namespace
}  // namespace kvtier::test
