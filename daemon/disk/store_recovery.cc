#include "daemon/disk/store_recovery.h"

#include <algorithm>
#include <functional>
#include <string>

namespace kvtier {

StoreRecovery::StoreRecovery(StoreShared& shared, std::vector<Path> paths, std::span<std::byte> spare,
                             std::span<std::byte> scan)
    : shared_(shared), paths_(std::move(paths)), scan_(shared, scan) {
  for (const Path& path : paths_) {
    loads_.push_back(std::make_unique<Load>(shared, path.path->footer_scratch));
    total_count_ += std::uint64_t{2} * path.path->segments.count();
  }
  loads_.push_back(std::make_unique<Load>(shared, spare));
  ordered_.reserve(total_count_ / 2);
}

void StoreRecovery::step(TimeNs now_ns) {
  if (step_ == Step::kFooters) step_footers(now_ns);
  if (step_ == Step::kScans) step_scans(now_ns);
  if (step_ == Step::kEntries) step_entries(now_ns);
  if (step_ == Step::kUnread) step_unread(now_ns);
}

bool StoreRecovery::is_any_busy() const {
  return std::any_of(loads_.begin(), loads_.end(), [](const auto& load) { return load->is_busy; });
}

// To the next segment, path by path in turn, so that all devices work. False: there is none.
bool StoreRecovery::advance(Cursor& cursor) const {
  std::uint32_t count_max = 0;
  for (const Path& path : paths_) count_max = std::max(count_max, path.path->segments.count());
  while (cursor.segment < count_max) {
    if (cursor.path == paths_.size()) {
      cursor.path = 0;
      ++cursor.segment;
    } else if (cursor.segment < paths_[cursor.path].path->segments.count()) {
      return true;
    } else {
      ++cursor.path;
    }
  }
  return false;
}

void StoreRecovery::step_footers(TimeNs now_ns) {
  for (const auto& load : loads_) {
    load->footer.step();
    if (load->is_busy && load->footer.is_done()) end_footer(*load);
    while (!load->is_busy && begin_footer(*load, now_ns)) {
    }
  }
  if (!is_any_busy()) step_ = Step::kScans;
}

// Segments without a trailer are settled here; true: there may be more.
bool StoreRecovery::begin_footer(Load& load, TimeNs now_ns) {
  if (!advance(cursor_)) return false;
  Path& path = paths_[cursor_.path];
  const std::uint32_t segment = cursor_.segment;
  ++cursor_.path;
  const SegmentSurvey::Found& found = (*path.found)[segment];
  if (found.findings.trailer != DiskFault::kNone) {
    settle(path, segment, found.findings, 0);
    return true;
  }
  load.footer.start(*path.path, segment, found.index_bytes, now_ns);
  load.is_busy = true;
  if (load.footer.is_done()) end_footer(load);
  return true;
}

void StoreRecovery::end_footer(Load& load) {
  load.is_busy = false;
  const auto at = std::find_if(paths_.begin(), paths_.end(),
                               [&](const Path& path) { return path.path == &load.footer.path(); });
  const std::uint32_t segment = load.footer.segment();
  SegmentFindings findings = (*at->found)[segment].findings;
  findings.index = load.footer.index_fault();
  if (load.footer.trailer_fault() != DiskFault::kNone) findings.trailer = load.footer.trailer_fault();
  settle(*at, segment, findings, (*at->found)[segment].index_bytes);
  if (at->path->segments[segment].index_bytes != 0) take_marks(load.footer);
}

void StoreRecovery::settle(Path& path, std::uint32_t segment, const SegmentFindings& findings,
                           std::uint32_t index_bytes) {
  ++done_count_;
  const RecoveryPlan plan = choose_recovery(findings);
  if (plan.counted != DiskFault::kNone) shared_.stats.count(plan.counted);
  if (plan.choice == RecoveryChoice::kUnused) {
    ++done_count_;
    return;
  }
  SegmentTable& table = path.path->segments;
  SegmentRow& row = table[segment];
  table.set_state(segment, SegmentState::kSealed);
  row.generation = plan.identity.generation;
  row.epoch = plan.identity.epoch;
  if (plan.choice == RecoveryChoice::kFooter) {
    row.index_bytes = index_bytes;
    ++shared_.stats.recovered_footers;
  } else if (plan.choice == RecoveryChoice::kScan) {
    scans_.push_back({static_cast<std::size_t>(&path - paths_.data()), segment});
  } else {
    // What could not be read may be whole: it is left alone until the next start, and marks stay for it.
    const bool is_unread =
        findings.header == DiskFault::kTruncated || findings.trailer == DiskFault::kTruncated;
    row.is_void = !is_unread;
    row.born_min = row.is_void ? kNobodyBorn : 0;
    ++shared_.stats.recovered_dropped;
    if (!(*path.found)[segment].is_header_unread) return;
    // Whatever marks it has: nothing says when they were written, and that is more than one unit.
    ++shared_.stats.recovered_unread;
    lose_marks(2, sequence_number(shared_.epoch, 0));
  }
}

void StoreRecovery::lose_marks(std::uint64_t units, std::uint64_t born_end) {
  units_lost_ += units;
  if (units > 0) lost_born_ = std::max(lost_born_, born_end);
}

// Voided or not: it was written.
void StoreRecovery::note_age(const IndexEntry& entry) {
  shared_.stats.created_ns_max = std::max(shared_.stats.created_ns_max, entry.created_ns);
}

void StoreRecovery::take_mark(const RecordOrder& mark, SegmentRow& row) {
  ++row.marks;
  shared_.marks.add(mark);
}

void StoreRecovery::take_marks(const FooterLoad& footer) {
  SegmentRow& row = footer.path().segments[footer.segment()];
  for (std::uint32_t i = 0; i < footer.entry_count(); ++i) {
    const IndexEntry entry = footer.entry(i);
    note_age(entry);
    if (entry.kind == RecordKind::kBlock) {
      row.born_min = std::min(row.born_min, entry.born);
    } else {
      take_mark(order_of(entry, footer.scope(entry)), row);
    }
  }
  if (footer.entry_count() == 0) row.is_void = true;
}

// One at a time: a crash leaves one open segment a path.
void StoreRecovery::step_scans(TimeNs now_ns) {
  if (is_scanning_) {
    scan_.step(now_ns);
    if (!scan_.is_done()) return;
    after_scan();
  }
  if (is_sealing_) {
    Path& path = paths_[scans_.back().path];
    if (path.path->segments[scans_.back().segment].state != SegmentState::kSealed) return;
    is_sealing_ = false;
    scans_.pop_back();
  }
  if (scans_.empty()) {
    end_scans();
  } else {
    Path& path = paths_[scans_.back().path];
    const std::uint32_t segment = scans_.back().segment;
    scan_.start(*path.path, path.path->context(segment), path.writer->index_for_recovery(), now_ns);
    ++shared_.stats.recovered_scans;
    is_scanning_ = true;
  }
}

void StoreRecovery::end_scans() {
  shared_.marks.finish();
  if (units_lost_ > 1 || shared_.is_path_missing) withheld_born_ = lost_born_;
  order_entries();
  step_ = Step::kEntries;
}

// The newest first: where an index has no names for all, the old ones go without.
void StoreRecovery::order_entries() {
  for (cursor_ = {}; advance(cursor_); ++cursor_.path) {
    if (paths_[cursor_.path].path->segments[cursor_.segment].state == SegmentState::kSealed)
      ordered_.push_back(cursor_);
  }
  std::ranges::stable_sort(ordered_, std::greater{}, [&](const Cursor& at) {
    return paths_[at.path].path->segments[at.segment].generation;
  });
}

// Its marks count as long as it is there, and marks elsewhere stay for what it may have.
void StoreRecovery::leave_unread() {
  Path& path = paths_[scans_.back().path];
  SegmentRow& row = path.path->segments[scans_.back().segment];
  row.born_min = 0;
  ++shared_.stats.recovered_unread;
  // Only the epoch that opened a segment writes to it.
  lose_marks(scan_.units_unread(), sequence_number(row.epoch + 1, 0));
  path.writer->index_for_recovery().clear();
  unread_.push_back(scans_.back());
  scans_.pop_back();
}

void StoreRecovery::after_scan() {
  is_scanning_ = false;
  Path& path = paths_[scans_.back().path];
  const std::uint32_t segment = scans_.back().segment;
  SegmentRow& row = path.path->segments[segment];
  row.born_min = scan_.born_min();
  const OpenIndex& index = path.writer->index_for_recovery();
  for (const IndexEntry& entry : index.entries()) {
    note_age(entry);
    if (entry.kind != RecordKind::kBlock) take_mark(order_of(entry, index.scopes()[entry.scope]), row);
  }
  if (!scan_.is_whole()) return leave_unread();
  is_sealing_ = true;
  path.writer->seal_recovered(segment, scan_.data_end());
}

void StoreRecovery::step_entries(TimeNs now_ns) {
  for (const auto& load : loads_) {
    load->footer.step();
    if (load->is_busy && load->footer.is_done() && !deliver(*load)) continue;
    while (!load->is_busy && begin_entries(*load, now_ns)) {
    }
  }
  if (!is_any_busy()) step_ = Step::kUnread;
}

// Scanned once more, as no footer lists them; the marks are known now.
void StoreRecovery::step_unread(TimeNs now_ns) {
  if (is_scanning_) {
    scan_.step(now_ns);
    if (!scan_.is_done() || !deliver_unread()) return;
    is_scanning_ = false;
    unread_.pop_back();
  }
  if (unread_.empty()) {
    step_ = Step::kDone;
    return;
  }
  Path& path = paths_[unread_.back().path];
  next_entry_ = 0;
  scan_.start(*path.path, path.path->context(unread_.back().segment), path.writer->index_for_recovery(),
              now_ns);
  is_scanning_ = true;
}

// False: the owner has to take events first.
bool StoreRecovery::deliver_unread() {
  Path& path = paths_[unread_.back().path];
  OpenIndex& index = path.writer->index_for_recovery();
  for (; next_entry_ < index.entries().size(); ++next_entry_) {
    if (!shared_.events.has_room(kGroupRecordsMax)) return false;
    const IndexEntry& entry = index.entries()[next_entry_];
    if (entry.kind == RecordKind::kBlock)
      deliver(*path.path, unread_.back().segment, entry, index.scopes()[entry.scope]);
  }
  index.clear();
  return true;
}

bool StoreRecovery::begin_entries(Load& load, TimeNs now_ns) {
  if (next_ordered_ == ordered_.size()) return false;
  StorePath& path = *paths_[ordered_[next_ordered_].path].path;
  const std::uint32_t segment = ordered_[next_ordered_++].segment;
  const SegmentRow& row = path.segments[segment];
  ++done_count_;
  if (row.index_bytes == 0) return true;
  load.footer.start(path, segment, row.index_bytes, now_ns);
  load.is_busy = true;
  load.next_entry = 0;
  return true;
}

// False: the owner has to take events first.
bool StoreRecovery::deliver(Load& load) {
  const FooterLoad& footer = load.footer;
  if (!footer.is_ok()) {
    // It was right a moment ago. Its blocks are misses until the next start looks again.
    footer.path().segments[footer.segment()].index_bytes = 0;
    shared_.stats.count(footer.trailer_fault() != DiskFault::kNone ? footer.trailer_fault()
                                                                   : footer.index_fault());
  } else {
    for (; load.next_entry < footer.entry_count(); ++load.next_entry) {
      if (!shared_.events.has_room(kGroupRecordsMax)) return false;
      const IndexEntry entry = footer.entry(load.next_entry);
      if (entry.kind == RecordKind::kBlock)
        deliver(footer.path(), footer.segment(), entry, footer.scope(entry));
    }
  }
  load.is_busy = false;
  return true;
}

void StoreRecovery::deliver(StorePath& path, std::uint32_t segment, const IndexEntry& entry,
                            const IndexScope& scope) {
  if (shared_.marks.voids(order_of(entry, scope))) {
    ++shared_.stats.recovered_void;
    return;
  }
  if (entry.born < withheld_born_) {
    ++shared_.stats.recovered_withheld;
    path.segments[segment].is_withheld = true;
    return;
  }
  const DiskLocator locator = make_locator(path.context(segment).identity, entry);
  path.segments.count_live(locator);
  ++shared_.stats.recovered_blocks;
  shared_.events.push({.kind = DiskEventKind::kEntry,
                       .path = static_cast<std::uint8_t>(path.number),
                       .locator = locator,
                       .key = {scope.tenant, scope.space, entry.key},
                       .parent = entry.parent,
                       .born = entry.born,
                       .created_ns = entry.created_ns,
                       .block_bytes = entry.block_bytes});
}

}  // namespace kvtier
