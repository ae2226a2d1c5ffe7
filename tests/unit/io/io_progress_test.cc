// D-01: what follows from each answer of a device.

#include "daemon/io/io_progress.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace kvtier {
namespace {

constexpr std::uint32_t kBytes = 65536;

IoProgress after(const IoTransfer& transfer, std::int32_t result) {
  return io_progress(transfer, result);
}

void expect(const IoProgress& progress, IoStep step, std::uint32_t done, int error = 0) {
  EXPECT_EQ(progress.step, step);
  EXPECT_EQ(progress.done, done);
  EXPECT_EQ(progress.error, error);
}

TEST(IoProgress, D01_AWholeTransferIsFinished) {
  expect(after({IoKind::kRead, kBytes}, kBytes), IoStep::kFinished, kBytes);
  expect(after({IoKind::kWrite, kBytes, 4096}, kBytes - 4096), IoStep::kFinished, kBytes);
  expect(after({IoKind::kSync}, 0), IoStep::kFinished, 0);
}

TEST(IoProgress, D01_TheRestOfAShortTransferStartsWhereItEnded) {
  for (const IoKind kind : {IoKind::kRead, IoKind::kWrite}) {
    expect(after({kind, kBytes}, 1), IoStep::kAgain, 1);
    expect(after({kind, kBytes}, 4096), IoStep::kAgain, 4096);
    expect(after({kind, kBytes}, kBytes - 1), IoStep::kAgain, kBytes - 1);
    expect(after({kind, kBytes, 4096}, 4096), IoStep::kAgain, 8192);
  }
}

TEST(IoProgress, D01_TheRestIsAlignedAsTheFileIs) {
  const IoTransfer transfer{IoKind::kRead, kBytes, 4096, 4096, 0};
  expect(after(transfer, 4097), IoStep::kAgain, 8192);
  expect(after(transfer, kBytes - 4096 - 1), IoStep::kAgain, kBytes - 4096);
  expect(after(transfer, 1), IoStep::kAgain, 4096);
}

TEST(IoProgress, D01_NothingMoreToReadIsTheEndOfTheFile) {
  expect(after({IoKind::kRead, kBytes}, 0), IoStep::kEndOfFile, 0);
  expect(after({IoKind::kRead, kBytes, 8192}, 0), IoStep::kEndOfFile, 8192);
  expect(after({IoKind::kRead, kBytes, 4096, 4096, kIoRetriesMax}, 100), IoStep::kEndOfFile, 4196);
}

TEST(IoProgress, D01_AWriteThatMovesNothingFailsAfterItsRetries) {
  expect(after({IoKind::kWrite, kBytes}, 0), IoStep::kAgain, 0);
  expect(after({IoKind::kWrite, kBytes, 0, 1, kIoRetriesMax}, 0), IoStep::kFailed, 0, EIO);
  expect(after({IoKind::kWrite, kBytes, 0, 4096, kIoRetriesMax}, 100), IoStep::kFailed, 0, EIO);
}

TEST(IoProgress, D01_AnErrorIsAnError) {
  for (const IoKind kind : {IoKind::kRead, IoKind::kWrite, IoKind::kSync}) {
    for (const int error : {EIO, ENOSPC, EINVAL, ECANCELED}) {
      expect(after({kind, kBytes, 4096}, -error), IoStep::kFailed, 4096, error);
    }
  }
}

TEST(IoProgress, D01_AnInterruptionIsTriedAgainButNotForEver) {
  for (const int error : {EINTR, EAGAIN}) {
    expect(after({IoKind::kRead, kBytes, 4096, 1, kIoRetriesMax - 1}, -error), IoStep::kAgain, 4096);
    expect(after({IoKind::kRead, kBytes, 4096, 1, kIoRetriesMax}, -error), IoStep::kFailed, 4096, error);
  }
}

TEST(IoProgress, MoreThanWasAskedForIsNotBelieved) {
  expect(after({IoKind::kRead, kBytes, 4096}, kBytes), IoStep::kFailed, 4096, EIO);
}

}  // namespace
}  // namespace kvtier
