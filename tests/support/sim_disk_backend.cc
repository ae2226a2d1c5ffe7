#include "tests/support/sim_disk_backend.h"

#include <algorithm>
#include <cerrno>

namespace kvtier::test {
namespace {

bool is_aligned(const IoOperation& operation) {
  const auto address = reinterpret_cast<std::uintptr_t>(operation.data);
  return ((operation.offset | operation.bytes | address) & (kSimSectorBytes - 1)) == 0;
}

}  // namespace

Status SimDiskBackend::set_file(IoFile file, int fd) {
  const auto at = static_cast<std::size_t>(file);
  if (at >= files_.size()) return {Code::kInvalid, "no such place in the table of files"};
  files_[at] = fd;
  return Status::ok();
}

bool SimDiskBackend::start(const IoOperation& operation) {
  if (running_.size() >= options_.depth) return false;
  running_.push_back({operation, files_[static_cast<std::size_t>(operation.file)]});
  return true;
}

void SimDiskBackend::flush(TimeNs now_ns) {
  for (Running& running : running_) {
    if (running.is_flushed) continue;
    running.is_flushed = true;
    running.sync_start = disk_.sync_start();
    busy_until_ns_ =
        std::max(busy_until_ns_, now_ns) + running.operation.bytes * kNsPerUs / options_.bytes_per_us;
    running.due_ns = busy_until_ns_ + options_.latency_ns + chance_.below(options_.latency_ns + 1);
  }
}

std::size_t SimDiskBackend::reap(TimeNs now_ns, std::span<IoCompletion> completions) {
  std::size_t count = 0;
  while (!is_dead() && count < completions.size()) {
    const auto first =
        std::min_element(running_.begin(), running_.end(),
                         [](const Running& a, const Running& b) { return a.due_ns < b.due_ns; });
    if (first == running_.end() || first->due_ns > now_ns) break;
    completions[count++] = {first->operation.slot, execute(*first)};
    running_.erase(first);
  }
  return count;
}

std::int32_t SimDiskBackend::execute(const Running& running) {
  const IoOperation& operation = running.operation;
  if (operation.kind == IoKind::kSync) return disk_.sync_finish(running.fd, running.sync_start);
  if (!is_aligned(operation)) return -EINVAL;
  const std::span<std::byte> memory(operation.data, operation.bytes);
  return operation.kind == IoKind::kRead ? disk_.read(running.fd, operation.offset, memory)
                                         : disk_.write(running.fd, operation.offset, memory);
}

void SimDiskBackend::power_fails() {
  for (const Running& running : running_) {
    const IoOperation& operation = running.operation;
    if (operation.kind != IoKind::kWrite || !running.is_flushed) continue;
    disk_.write_in_flight(running.fd, operation.offset, {operation.data, operation.bytes});
  }
  running_.clear();
}

TimeNs SimDiskBackend::next_deadline_ns() const {
  TimeNs next_ns = kNever;
  if (is_dead()) return next_ns;
  for (const Running& running : running_) next_ns = std::min(next_ns, running.due_ns);
  return next_ns;
}

}  // namespace kvtier::test
