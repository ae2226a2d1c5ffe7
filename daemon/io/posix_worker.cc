#include "daemon/io/posix_worker.h"

#include <unistd.h>

#include <cerrno>

namespace kvtier {
namespace {

ssize_t call(const PosixCommand& command) {
  const IoOperation& operation = command.operation;
  const auto offset = static_cast<off_t>(operation.offset);
  switch (operation.kind) {
    case IoKind::kRead:
      return ::pread(command.fd, operation.data, operation.bytes, offset);
    case IoKind::kWrite:
      return ::pwrite(command.fd, operation.data, operation.bytes, offset);
    case IoKind::kSync:
      return ::fdatasync(command.fd);
  }
  errno = EINVAL;
  return -1;
}

}  // namespace

std::int32_t posix_execute(const PosixCommand& command) {
  const ssize_t result = call(command);
  return result < 0 ? -errno : static_cast<std::int32_t>(result);
}

PosixWorker::PosixWorker(std::uint32_t index, Waiter& waiter, Mailbox<PosixDone>& done)
    : index_(index), name_("io-" + std::to_string(index)), commands_(2, waiter), done_(done) {}

std::size_t PosixWorker::do_work(TimeNs) {
  PosixCommand command;
  if (!commands_.pop(command)) return 0;
  const PosixDone done{{command.operation.slot, posix_execute(command)}, index_};
  KV_CHECK(done_.push(done), "there is a place for each worker's completion");
  return 1;
}

}  // namespace kvtier
