#include "daemon/disk/disk_io.h"

#include "daemon/disk/format.h"
#include "libkvclient/base/check.h"

namespace kvtier {

std::uint32_t DiskIo::attach(IoClient& client) {
  clients_.push_back(&client);
  return static_cast<std::uint32_t>(clients_.size() - 1);
}

std::uint64_t& DiskIo::in_flight(const IoRequest& request) {
  InFlight& bytes = in_flight_[static_cast<std::size_t>(request.file)];
  return request.kind == IoKind::kRead ? bytes.reads : bytes.writes;
}

bool DiskIo::submit(std::uint32_t client, std::uint32_t piece, IoRequest request, WriteCause cause) {
  request.tag = std::uint64_t{client} << 32 | piece;
  std::uint64_t& bytes = in_flight(request);
  const std::uint64_t bytes_max = request.kind == IoKind::kRead ? kReadBytesInFlight : kWriteBytesInFlight;
  if (bytes > 0 && bytes + request.bytes > bytes_max) return false;
  if (!ring_.submit(request).has_value()) return false;
  bytes += request.bytes;
  if (request.kind == IoKind::kRead) {
    ++stats_.reads;
    stats_.bytes_read += request.bytes;
  } else if (request.kind == IoKind::kWrite) {
    ++stats_.writes;
    stats_.bytes_written[static_cast<std::size_t>(cause)] += request.bytes;
  }
  return true;
}

std::size_t DiskIo::poll(TimeNs now_ns) {
  std::array<IoEvent, 64> events;
  std::size_t total = 0;
  for (std::size_t count = events.size(); count == events.size(); total += count) {
    count = ring_.poll(now_ns, events);
    for (const IoEvent& event : std::span(events).first(count)) {
      note(event);
      clients_[event.request.tag >> 32]->on_io(static_cast<std::uint32_t>(event.request.tag), event);
    }
  }
  return total;
}

// A read beyond the end of the file is the file's fault, not the device's.
void DiskIo::note(const IoEvent& event) {
  IoLuck& luck = luck_[static_cast<std::size_t>(event.request.file)];
  IoRow& row = event.request.kind == IoKind::kRead ? luck.reads : luck.writes;
  if (event.is_held) ++row.held;
  if (event.outcome != IoOutcome::kReleased) in_flight(event.request) -= event.request.bytes;
  switch (event.outcome) {
    case IoOutcome::kDone:
    case IoOutcome::kEndOfFile:
      row.failed = row.late = 0;
      return;
    case IoOutcome::kFailed:
      ++row.failed;
      luck.error = event.error;
      ++stats_.io_failed;
      return;
    case IoOutcome::kDeadline:
      ++row.late;
      ++stats_.io_late;
      return;
    case IoOutcome::kReleased:
      --row.held;
      return;
    case IoOutcome::kCancelled:
      return;
  }
}

}  // namespace kvtier
