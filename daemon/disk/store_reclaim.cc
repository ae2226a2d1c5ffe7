#include "daemon/disk/store_reclaim.h"

#include <algorithm>
#include <cstring>

namespace kvtier {

StoreReclaim::StoreReclaim(StoreShared& shared, std::span<std::byte> index, std::span<std::byte> moves)
    : shared_(shared),
      footer_(shared, index),
      pieces_(shared.io, kMovesMax * (3 + shared.options.block_bytes_max / kIoBytesMax)),
      move_buffer_(moves),
      moves_(kMovesMax) {
  questions_.reserve(kQuestionsMax);
  answers_.reserve(kQuestionsMax);
}

ReclaimView StoreReclaim::view(const StorePath& path) const {
  const bool is_active = step_ != Step::kIdle && paths_[path_].path == &path;
  return {is_active, !is_stopped_};
}

void StoreReclaim::step(TimeNs now_ns) {
  now_ns_ = now_ns;
  switch (step_) {
    case Step::kIdle:
      return begin(now_ns);
    case Step::kLoad:
      footer_.step();
      return footer_.is_done() ? after_load() : void();
    case Step::kGather:
      return gather();
    case Step::kAsk:
      return;  // for the owner
    case Step::kRead:
      pieces_.step();
      return pieces_.is_released() ? after_reads() : void();
    case Step::kWrite:
      write_moves();
      return writes_open_ == 0 && moves_written_ == moves_count_ ? finish_moves(now_ns) : void();
    case Step::kMovedSync: {
      const SyncResult result = synced();
      if (result == SyncResult::kFailed) return give_up();
      if (result == SyncResult::kDone) step_ = Step::kDrain;
      return;
    }
    case Step::kDrain:
      if (path().path->segments[segment_].state == SegmentState::kReclaiming)
        path().path->segments.set_state(segment_, SegmentState::kErasing);
      return path().path->segments[segment_].users == 0 ? erase(now_ns) : void();
    case Step::kErase:
      pieces_.step();
      if (!pieces_.is_released()) return;
      has_failed_ = pieces_.first_failed() != nullptr;
      pieces_.clear();
      if (has_failed_) return give_up();
      ticket_ = path().path->sync.take(SyncCause::kErased);
      step_ = Step::kErasedSync;
      return;
    case Step::kErasedSync: {
      const SyncResult result = path().path->sync.result(ticket_);
      if (result == SyncResult::kFailed) return give_up();
      if (result == SyncResult::kPending) return;
      path().path->segments.free(segment_);
      ++shared_.stats.segments_reclaimed;
      step_ = Step::kIdle;
      return;
    }
  }
}

void StoreReclaim::begin(TimeNs now_ns) {
  if (is_stopped_ || now_ns < not_before_ns_) return;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    path_ = (next_path_ + i) % paths_.size();
    StorePath& candidate = *path().path;
    if (!candidate.health.is_serving()) continue;
    if (candidate.segments.count(SegmentState::kFree) >= shared_.options.free_segments_low) continue;
    const std::optional<std::uint32_t> victim = candidate.segments.pick_victim();
    if (!victim.has_value()) continue;
    next_path_ = path_ + 1;
    segment_ = *victim;
    SegmentRow& row = candidate.segments[segment_];
    candidate.segments.set_state(segment_, SegmentState::kReclaiming);
    has_failed_ = false;
    kept_bytes_ = 0;
    kept_bytes_max_ = candidate.geometry.segment_bytes / 100 * shared_.options.keep_percent_max;
    if (row.is_void) {
      step_ = Step::kDrain;
      return;
    }
    if (row.index_bytes == 0) {  // all of it is dead
      take_tickets();
      step_ = Step::kMovedSync;
      return;
    }
    next_entry_ = 0;
    footer_.start(candidate, segment_, row.index_bytes, now_ns);
    step_ = Step::kLoad;
    return;
  }
}

// An index that is damaged tells of no marks: the segment stays until the next start scans it.
void StoreReclaim::after_load() {
  if (footer_.is_ok()) {
    step_ = Step::kGather;
    return;
  }
  shared_.stats.count(footer_.trailer_fault() != DiskFault::kNone ? footer_.trailer_fault()
                                                                  : footer_.index_fault());
  path().path->segments[segment_].index_bytes = 0;
  give_up();
}

void StoreReclaim::give_up() {
  SegmentTable& segments = path().path->segments;
  // Half erased: nothing in it is of use any more.
  if (segments[segment_].state == SegmentState::kErasing) segments[segment_].is_void = true;
  segments.set_state(segment_, SegmentState::kSealed);
  release_events();
  not_before_ns_ = now_ns_ + shared_.options.probe_interval_ns;
  step_ = Step::kIdle;
}

void StoreReclaim::tell(DiskEvent event) {
  event.path = static_cast<std::uint8_t>(path().path->number);
  --events_reserved_;
  shared_.events.push_reserved(event);
}

void StoreReclaim::release_events() {
  shared_.events.release(events_reserved_);
  events_reserved_ = 0;
}

// Questions until there are enough; marks are settled without one. Each block will have one event more at most.
void StoreReclaim::gather() {
  release_events();
  if (!shared_.events.has_room(kQuestionsMax + 1)) return;
  questions_.clear();
  answers_.clear();
  next_answer_ = 0;
  for (; next_entry_ < footer_.entry_count() && questions_.size() < kQuestionsMax; ++next_entry_) {
    const IndexEntry entry = footer_.entry(next_entry_);
    const IndexScope scope = footer_.scope(entry);
    if (entry.kind == RecordKind::kBlock) {
      questions_.push_back({.key = {scope.tenant, scope.space, entry.key},
                            .parent = entry.parent,
                            .locator = make_locator(path().path->context(segment_).identity, entry),
                            .born = entry.born,
                            .block_bytes = entry.block_bytes});
    } else if (!keep_mark(entry, scope)) {
      break;  // no room in the writer's queue: again in the next round
    }
  }
  moves_count_ = moves_written_ = 0;
  if (questions_.empty()) {
    step_ = Step::kWrite;  // marks may be on their way
    return;
  }
  events_reserved_ = questions_.size();
  KV_CHECK(shared_.events.reserve(events_reserved_), "there was room a moment ago");
  shared_.events.push({.kind = DiskEventKind::kAsk, .path = static_cast<std::uint8_t>(path().path->number)});
  step_ = Step::kAsk;
}

// The oldest record that a mark of this segment may still have to void: on any path, or on its way to one.
std::uint64_t StoreReclaim::oldest_elsewhere() const {
  std::uint64_t born = kNobodyBorn;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const std::uint32_t but = i == path_ ? segment_ : ~0U;
    born = std::min({born, paths_[i].path->segments.born_min_beside(but), paths_[i].writer->born_min()});
  }
  return born;
}

// Every path that the store has is there and has what was marked lately.
bool StoreReclaim::is_all_serving() const {
  return !shared_.is_path_missing && std::all_of(paths_.begin(), paths_.end(), [](const Path& each) {
    return each.path->health.is_serving();
  });
}

// False: its copy found no room.
bool StoreReclaim::keep_mark(const IndexEntry& entry, const IndexScope& scope) {
  const RecordOrder mark = order_of(entry, scope);
  if (!shared_.is_path_missing && oldest_elsewhere() >= entry.born) {
    ++shared_.stats.marks_ended;
    shared_.marks.remove(mark);
    return true;
  }
  if (is_all_serving() && shared_.marks.is_covered(mark)) {
    ++shared_.stats.marks_ended;
    return true;
  }
  const DiskPut put{.key = {scope.tenant, scope.space, entry.key},
                    .born = entry.born,
                    .created_ns = entry.created_ns,
                    .shape = &mark_shape_,
                    .tag = kMovesMax};
  if (!path().writer->push_own(put, PutOrigin::kMove, entry.kind)) return false;
  ++writes_open_;
  return true;
}

void StoreReclaim::answer(std::span<const ReclaimAnswer> answers) {
  KV_CHECK(step_ == Step::kAsk && answers.size() == questions_.size(), "each question has its answer");
  answers_.assign(answers.begin(), answers.end());
  moves_count_ = moves_written_ = 0;
  step_ = Step::kWrite;
}

}  // namespace kvtier
