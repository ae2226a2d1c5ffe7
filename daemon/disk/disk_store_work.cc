#include <algorithm>

#include "daemon/disk/disk_store.h"

namespace kvtier {

bool DiskStore::poll(DiskEvent& event) {
  if (shared_.events.is_empty()) return false;
  event = shared_.events.pop();
  return true;
}

Code DiskStore::check(std::span<const DiskPut> puts) const {
  if (puts.empty()) return Code::kInvalid;
  for (const DiskPut& put : puts) {
    if (put.shape == nullptr || put.key.key.is_zero() || put.key.space.is_zero() || put.key.tenant.is_zero())
      return Code::kInvalid;
    const std::uint64_t bytes = put.shape->header.payload_bytes;
    const bool is_sized = bytes > 0 && bytes <= shared_.options.block_bytes_max;
    if (!is_sized || put.shape->header.part_count == 0) return Code::kInvalid;
    if (put.memory.capacity < round_up(bytes, shared_.options.alignment)) return Code::kInvalid;
  }
  return Code::kOk;
}

// The one with the least that waits, full ones last.
PathWriter* DiskStore::choose_path(std::size_t count) {
  PathWriter* best = nullptr;
  bool is_best_full = true;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    Path& path = paths_[(next_path_ + i) % paths_.size()];
    if (!path.is_in || !path.path->health.is_serving() || !path.writer->has_owner_room(count)) continue;
    const bool is_full = path.path->health.state() == PathState::kFull;
    const bool is_better = best == nullptr || (is_best_full && !is_full) ||
                           (is_best_full == is_full && path.writer->queued_count() < best->queued_count());
    if (!is_better) continue;
    best = path.writer.get();
    is_best_full = is_full;
  }
  ++next_path_;
  return best;
}

Code DiskStore::put(std::span<const DiskPut> puts) {
  Code code = step_ == Step::kServing ? check(puts) : Code::kUnavailable;
  PathWriter* writer = nullptr;
  if (code == Code::kOk) {
    writer = choose_path(puts.size());
    const bool is_any_serving = std::any_of(paths_.begin(), paths_.end(), [](const Path& path) {
      return path.is_in && path.path->health.is_serving();
    });
    if (writer == nullptr) code = is_any_serving ? Code::kBusy : Code::kUnavailable;
  }
  if (code == Code::kOk &&
      !std::all_of(puts.begin(), puts.end(), [&](const DiskPut& put) { return writer->fits(*put.shape); }))
    code = Code::kInvalid;
  if (code == Code::kOk && !shared_.events.reserve(2 * puts.size())) code = Code::kBusy;
  if (code != Code::kOk) {
    shared_.stats.puts_refused += puts.size();
    return code;
  }
  writer->push(puts);
  return Code::kOk;
}

Code DiskStore::get(std::span<const DiskGet> gets) {
  if (step_ != Step::kServing) return Code::kUnavailable;
  for (const DiskGet& get : gets) {
    const bool is_sound =
        !get.locator.is_none() && get.locator.payload_bytes > 0 && get.memory.data != nullptr &&
        get.memory.capacity >= round_up(get.locator.payload_bytes, shared_.options.alignment);
    if (!is_sound) return Code::kInvalid;
  }
  if (!reader_.has_room(gets.size()) || !shared_.events.reserve(2 * gets.size())) return Code::kBusy;
  reader_.push(gets);
  return Code::kOk;
}

Code DiskStore::flush(std::uint64_t tag) {
  if (step_ != Step::kServing) return Code::kUnavailable;
  if (!shared_.events.reserve(1)) return Code::kBusy;
  if (flush_.begin(tag)) return Code::kOk;
  shared_.events.release(1);
  return Code::kBusy;
}

Code DiskStore::mark(const DiskMark& mark) {
  const bool is_sound = !mark.key.tenant.is_zero() && (mark.key.key.is_zero() || !mark.key.space.is_zero());
  if (!is_sound) return Code::kInvalid;
  if (step_ != Step::kServing) return Code::kUnavailable;
  if (!shared_.events.reserve(1)) return Code::kBusy;
  const Code code = marks_.begin(mark, shared_.next_sequence());
  if (code != Code::kOk) shared_.events.release(1);
  return code;
}

void DiskStore::forget(const DiskLocator& locator) {
  StorePath* path = locator.path() < by_number_.size() ? by_number_[locator.path()] : nullptr;
  if (path != nullptr && path->segments.is_current(locator)) path->segments.forget(locator);
}

void DiskStore::verify(std::uint64_t tag) {
  if (step_ != Step::kServing) return verify_.refuse(tag);
  verify_.begin(tag);
}

void DiskStore::close(std::uint64_t tag) {
  if (step_ != Step::kServing || !shared_.events.reserve(1)) return;
  close_tag_ = tag;
  step_ = Step::kClosing;
  reclaim_.stop();
  verify_.stop_all();
}

void DiskStore::end_close(Code code) {
  step_ = Step::kClosed;
  shared_.events.push_reserved({.kind = DiskEventKind::kClosed, .code = code, .tag = close_tag_});
}

// Work ends, segments are sealed, that is made durable, and then it is noted.
void DiskStore::step_close() {
  if (step_ == Step::kClosing) {
    bool is_over =
        reclaim_.is_idle() && verify_.is_idle() && reader_.is_idle() && flush_.is_idle() && marks_.is_idle();
    for (Path& path : paths_) {
      if (!path.is_in) continue;
      if (is_over) path.writer->close();
      is_over = is_over && path.writer->is_closed();
    }
    if (!is_over) return;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      close_tickets_[i] = paths_[i].is_in ? paths_[i].path->sync.take(SyncCause::kClose) : 0;
    step_ = Step::kClosedSync;
  }
  if (step_ == Step::kClosedSync) {
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const SyncResult result = store_paths_[i]->sync.result(close_tickets_[i]);
      if (result == SyncResult::kPending) return;
      if (result == SyncResult::kFailed) return end_close(Code::kSystem);
    }
    opening_->write_closed();
    step_ = Step::kClosedWrite;
    return;
  }
  if (opening_->is_written()) end_close(opening_->write_status().code());
}

}  // namespace kvtier
