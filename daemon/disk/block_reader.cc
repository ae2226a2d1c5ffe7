#include "daemon/disk/block_reader.h"

#include <algorithm>

namespace kvtier {

BlockReader::BlockReader(StoreShared& shared, const std::vector<StorePath*>& paths,
                         std::span<std::byte> headers)
    : shared_(shared), paths_(paths) {
  for (std::size_t i = 0; i < kRuns; ++i)
    runs_.push_back(std::make_unique<ReadRun>(shared, headers.subspan(i * kHeadersBytes, kHeadersBytes)));
  queue_.reserve(shared.options.gets_max);
}

void BlockReader::push(std::span<const DiskGet> gets) {
  if (queue_.size() + gets.size() > queue_.capacity()) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  queue_.insert(queue_.end(), gets.begin(), gets.end());
}

void BlockReader::step(TimeNs now_ns) {
  start_runs(now_ns);
  std::uint64_t bytes_left = kCheckBytesStep;
  for (const auto& run : runs_) {
    if (run->is_free()) continue;
    run->step();
    answer(*run, bytes_left);
    if (run->is_answered() && run->is_released()) release(*run);
  }
}

StorePath* BlockReader::path_of(const DiskLocator& locator) const {
  return locator.path() < paths_.size() ? paths_[locator.path()] : nullptr;
}

// kOk: it may be read now.
Code BlockReader::refusal(const DiskGet& get, TimeNs now_ns) const {
  const StorePath* path = path_of(get.locator);
  if (path == nullptr) return Code::kUnavailable;
  if (!path->segments.is_current(get.locator)) return Code::kStale;
  if (!path->health.is_readable()) return Code::kUnavailable;
  return get.deadline_ns <= now_ns ? Code::kDeadline : Code::kOk;
}

void BlockReader::refuse(const DiskGet& get, Code code) {
  finish({.kind = DiskEventKind::kGet,
          .code = code,
          .path = static_cast<std::uint8_t>(get.locator.path()),
          .tag = get.tag,
          .locator = get.locator,
          .key = get.key,
          .block_bytes = get.block_bytes});
}

void BlockReader::finish(const DiskEvent& event) {
  DiskStats& stats = shared_.stats;
  ++stats.gets;
  if (event.code == Code::kOk) ++stats.gets_ok;
  if (event.code == Code::kOk) stats.get_bytes += event.locator.payload_bytes;
  if (event.code == Code::kStale) ++stats.gets_stale;
  if (event.code == Code::kDeadline) ++stats.gets_late;
  if (event.code == Code::kUnavailable) ++stats.gets_unavailable;
  if (event.fault != DiskFault::kNone) stats.count(event.fault);
  shared_.events.push_reserved(event);
  if (!event.is_held) shared_.events.release(1);
}

void BlockReader::start_runs(TimeNs now_ns) {
  for (const auto& run : runs_) {
    if (!run->is_free()) continue;
    while (run->is_free() && head_ < queue_.size()) head_ += gather(*run, now_ns);
    if (run->is_free()) break;
    run->path().segments[run->gets().front().locator.segment].users += 1;
    ++running_count_;
    run->start(now_ns);
  }
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  }
}

// From the head of the queue: answers that need no read, or a run. How many it took.
std::size_t BlockReader::gather(ReadRun& run, TimeNs now_ns) {
  std::size_t taken = 0;
  for (; head_ + taken < queue_.size(); ++taken) {
    const DiskGet& get = queue_[head_ + taken];
    const Code code = refusal(get, now_ns);
    if (code != Code::kOk) {
      refuse(get, code);
    } else if (run.is_free()) {
      run.begin(*path_of(get.locator), get);
    } else if (!run.add(get)) {
      break;
    }
  }
  return taken;
}

void BlockReader::answer(ReadRun& run, std::uint64_t& bytes_left) {
  while (!run.is_answered() && run.is_next_settled()) {
    if (bytes_left == 0) {
      ++shared_.io.changes();  // there is more to do, although the device may have nothing to say
      return;
    }
    const DiskEvent event = run.answer_next();
    bytes_left -= std::min<std::uint64_t>(bytes_left, event.locator.payload_bytes);
    finish(event);
  }
}

void BlockReader::release(ReadRun& run) {
  for (std::size_t i = 0; i < run.gets().size(); ++i) {
    if (run.was_held(i))
      shared_.events.push_reserved({.kind = DiskEventKind::kReleased, .tag = run.gets()[i].tag});
  }
  --run.path().segments[run.gets().front().locator.segment].users;
  --running_count_;
  run.free();
}

}  // namespace kvtier
