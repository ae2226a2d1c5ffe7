#include "daemon/app/progress_fd_store.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "daemon/app/service_manager.h"
#include "libkvclient/base/fault_point.h"
#include "libkvclient/base/result.h"

namespace kvtier {

ProgressFdStore::ProgressFdStore(FdStore& store, std::uint64_t bytes_total, const Clock& clock)
    : store_(store), bytes_total_(std::max<std::uint64_t>(bytes_total, 1)), clock_(clock) {
  report();
}

Status ProgressFdStore::put(std::string_view name, int fd) {
  if (is_starting_) (void)KV_FAULT("app.reserve");
  KV_RETURN_IF_ERROR(store_.put(name, fd));
  struct stat info {};
  if (!is_starting_ || !name.ends_with(".data") || ::fstat(fd, &info) != 0) return Status::ok();
  bytes_done_ += static_cast<std::uint64_t>(info.st_size);
  if (bytes_done_ >= bytes_total_ || clock_.now_ns() - reported_ns_ >= kReportNs) report();
  return Status::ok();
}

void ProgressFdStore::go_on() {
  if (is_starting_ && clock_.now_ns() - reported_ns_ >= kReportNs) report();
}

void ProgressFdStore::report() {
  reported_ns_ = clock_.now_ns();
  const std::uint64_t percent = std::min(bytes_total_, bytes_done_) * 100 / bytes_total_;
  service_manager::extend_timeout(kExtensionNs);
  service_manager::status("reserving memory: " + std::to_string(percent) + " %");
}

}  // namespace kvtier
