// Words and numbers for people: what status shows, and what a failed request says.

#include "daemon/io/io_facts.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/io/io_status.h"
#include "daemon/io/uring_refusal.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

IoFactRow row_of(const IoFacts& facts, const std::string& name) {
  for (const IoFactRow& row : io_fact_rows(facts)) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

TEST(IoFacts, RegisteredBuffersAreOnOffOrSoMuchOfAll) {
  IoFacts facts{.registered_bytes = {0, "why"}, .region_bytes = 8 * kMiB};
  EXPECT_EQ(row_of(facts, "registered_buffers").value, "off");
  EXPECT_EQ(row_of(facts, "registered_buffers").reason, "why");
  facts.registered_bytes.value = 4 * kMiB;
  EXPECT_EQ(row_of(facts, "registered_buffers").value, "4 MiB of 8 MiB");
  facts.registered_bytes.value = 8 * kMiB;
  EXPECT_EQ(row_of(facts, "registered_buffers").value, "on");
}

TEST(IoStatus, EveryOutcomeHasACode) {
  IoEvent event{.error = EIO, .bytes = 512, .request = {.bytes = 4096, .offset = 8192}};
  const auto code = [&](IoOutcome outcome) {
    event.outcome = outcome;
    return io_event_status(event).code();
  };
  EXPECT_EQ(code(IoOutcome::kFailed), Code::kSystem);
  EXPECT_EQ(code(IoOutcome::kEndOfFile), Code::kCorrupt);
  EXPECT_NE(io_event_status(event).message().find("read of 4096 bytes at 8192: the file ends after 512"),
            std::string::npos);
  EXPECT_EQ(code(IoOutcome::kDeadline), Code::kDeadline);
  EXPECT_EQ(code(IoOutcome::kCancelled), Code::kStale);
  EXPECT_EQ(code(IoOutcome::kReleased), Code::kSystem) << "a late completion that failed";
  event.error = 0;
  EXPECT_EQ(code(IoOutcome::kReleased), Code::kOk);
  EXPECT_EQ(code(IoOutcome::kDone), Code::kOk);
}

TEST(UringRefusal, SaysWhatToChange) {
  EXPECT_EQ(uring_refusal("io_uring_setup", EPERM).code(), Code::kDenied);
  EXPECT_EQ(uring_refusal("io_uring_setup", ENOSYS).code(), Code::kUnsupported);
  EXPECT_NE(uring_refusal("io_uring_setup", ENOMEM).message().find("RLIMIT_MEMLOCK is"), std::string::npos);
  EXPECT_NE(uring_refusal("io_uring_setup", EMFILE).message().find("LimitNOFILE="), std::string::npos);
  EXPECT_EQ(uring_depth_reason(64, 64, ENOMEM), "");
  EXPECT_NE(uring_depth_reason(64, 32, ENOMEM).find("a ring of 64"), std::string::npos);
  EXPECT_NE(uring_region_reason(2 * kGiB, EFAULT).find("lower host.slab_bytes"), std::string::npos);
  EXPECT_NE(uring_region_reason(kMiB, ENOMEM).find("LimitMEMLOCK="), std::string::npos);
}

}  // namespace
}  // namespace kvtier
