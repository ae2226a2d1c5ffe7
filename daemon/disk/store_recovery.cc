#include "daemon/disk/store_recovery.h"

#include <algorithm>
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
}

void StoreRecovery::step(TimeNs now_ns) {
  if (step_ == Step::kFooters) step_footers(now_ns);
  if (step_ == Step::kScans) step_scans(now_ns);
  if (step_ == Step::kEntries) step_entries(now_ns);
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
  }
}

void StoreRecovery::take_mark(const RecordOrder& mark, SegmentRow& row) {
  ++row.marks;
  shared_.marks.add(mark);
}

void StoreRecovery::take_marks(const FooterLoad& footer) {
  SegmentRow& row = footer.path().segments[footer.segment()];
  for (std::uint32_t i = 0; i < footer.entry_count(); ++i) {
    const IndexEntry entry = footer.entry(i);
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
    shared_.marks.finish();
    cursor_ = {};
    step_ = Step::kEntries;
  } else {
    Path& path = paths_[scans_.back().path];
    const std::uint32_t segment = scans_.back().segment;
    scan_.start(*path.path, path.path->context(segment), path.writer->index_for_recovery(), now_ns);
    ++shared_.stats.recovered_scans;
    is_scanning_ = true;
  }
}

void StoreRecovery::after_scan() {
  is_scanning_ = false;
  is_sealing_ = true;
  Path& path = paths_[scans_.back().path];
  const std::uint32_t segment = scans_.back().segment;
  SegmentRow& row = path.path->segments[segment];
  row.born_min = scan_.born_min();
  const OpenIndex& index = path.writer->index_for_recovery();
  for (const IndexEntry& entry : index.entries()) {
    if (entry.kind != RecordKind::kBlock) take_mark(order_of(entry, index.scopes()[entry.scope]), row);
  }
  path.writer->seal_recovered(segment, scan_.data_end());
}

void StoreRecovery::step_entries(TimeNs now_ns) {
  for (const auto& load : loads_) {
    load->footer.step();
    if (load->is_busy && load->footer.is_done() && !deliver(*load)) continue;
    while (!load->is_busy && begin_entries(*load, now_ns)) {
    }
  }
  if (is_any_busy()) return;
  step_ = Step::kDone;
}

bool StoreRecovery::begin_entries(Load& load, TimeNs now_ns) {
  if (!advance(cursor_)) return false;
  StorePath& path = *paths_[cursor_.path].path;
  const SegmentRow& row = path.segments[cursor_.segment];
  const std::uint32_t segment = cursor_.segment;
  ++cursor_.path;
  if (row.state != SegmentState::kSealed) return true;
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
      if (entry.kind == RecordKind::kBlock) deliver(footer, entry, footer.scope(entry));
    }
  }
  load.is_busy = false;
  return true;
}

void StoreRecovery::deliver(const FooterLoad& footer, const IndexEntry& entry, const IndexScope& scope) {
  if (shared_.marks.voids(order_of(entry, scope))) {
    ++shared_.stats.recovered_void;
    return;
  }
  const StorePath& path = footer.path();
  const DiskLocator locator = make_locator(path.context(footer.segment()).identity, entry);
  footer.path().segments.count_live(locator);
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
