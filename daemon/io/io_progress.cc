#include "daemon/io/io_progress.h"

#include <cerrno>

namespace kvtier {
namespace {

bool may_retry(const IoTransfer& transfer) {
  return transfer.retries < kIoRetriesMax;
}

IoProgress after_error(const IoTransfer& transfer, int error) {
  const bool is_passing = error == EINTR || error == EAGAIN;
  if (is_passing && may_retry(transfer)) return {IoStep::kAgain, transfer.done, 0};
  return {IoStep::kFailed, transfer.done, error};
}

IoProgress after_nothing(const IoTransfer& transfer) {
  if (transfer.kind == IoKind::kRead) return {IoStep::kEndOfFile, transfer.done, 0};
  return may_retry(transfer) ? IoProgress{IoStep::kAgain, transfer.done, 0}
                             : IoProgress{IoStep::kFailed, transfer.done, EIO};
}

// Less than one unit: a read that finds the same few bytes again and again has found the end of the file.
IoProgress after_fragment(const IoTransfer& transfer, std::uint32_t moved) {
  if (may_retry(transfer)) return {IoStep::kAgain, transfer.done, 0};
  if (transfer.kind == IoKind::kRead) return {IoStep::kEndOfFile, transfer.done + moved, 0};
  return {IoStep::kFailed, transfer.done, EIO};
}

}  // namespace

IoProgress io_progress(const IoTransfer& transfer, std::int32_t result) {
  if (result < 0) return after_error(transfer, -result);
  if (transfer.kind == IoKind::kSync) return {IoStep::kFinished, 0, 0};
  const auto moved = static_cast<std::uint32_t>(result);
  const std::uint32_t left = transfer.bytes - transfer.done;
  // More than was asked for: such a device is not believed.
  if (moved > left) return {IoStep::kFailed, transfer.done, EIO};
  if (moved == left) return {IoStep::kFinished, transfer.bytes, 0};
  if (moved == 0) return after_nothing(transfer);
  const std::uint32_t reached = (transfer.done + moved) / transfer.alignment * transfer.alignment;
  if (reached <= transfer.done) return after_fragment(transfer, moved);
  return {IoStep::kAgain, reached, 0};
}

}  // namespace kvtier
