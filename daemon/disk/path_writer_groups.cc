#include <algorithm>
#include <cstring>

#include "daemon/disk/format_group.h"
#include "daemon/disk/format_segment.h"
#include "daemon/disk/path_writer.h"

namespace kvtier {

void PathWriter::report(GroupWrite& group) {
  group.is_reported = true;
  group.is_late = !group.is_released();
  if (group.is_late) ++path_.segments[group.segment()].users;
  for (std::size_t i = 0; i < group.members().size(); ++i) report_member(group, i);
}

void PathWriter::report_member(GroupWrite& group, std::size_t member) {
  const GroupWrite::Member& written = group.members()[member];
  const Code code = group.result(member);
  if (code != Code::kOk) {
    index_.drop(written.entry);
    return answer(written.put, code, {}, group.is_late);
  }
  const IndexEntry& entry = index_.entry(written.entry);
  const DiskLocator locator = make_locator(group.identity(), entry);
  if (entry.kind == RecordKind::kBlock) {
    path_.segments.count_live(locator);
  } else {
    ++path_.segments[group.segment()].marks;
  }
  if (written.put.origin == PutOrigin::kOwner) {
    shared_.stats.put_bytes += locator.payload_bytes;
    ++path_.answered;
  }
  answer(written.put, code, locator, group.is_late);
}

void PathWriter::release(GroupWrite& group) {
  if (group.is_late) {
    --path_.segments[group.segment()].users;
    for (const GroupWrite::Member& member : group.members()) {
      shared_.events.push_reserved({.kind = DiskEventKind::kReleased, .tag = member.put.put.tag});
    }
  }
  group.free();
}

void PathWriter::answer(const QueuedPut& put, Code code, const DiskLocator& locator, bool is_held) {
  if (put.origin != PutOrigin::kOwner) {
    own_done_.push({.origin = put.origin, .code = code, .tag = put.put.tag, .locator = locator});
    return;
  }
  ++(code == Code::kOk ? shared_.stats.puts : shared_.stats.puts_failed);
  shared_.events.push_reserved({.kind = DiskEventKind::kPut,
                                .code = code,
                                .is_held = is_held,
                                .path = static_cast<std::uint8_t>(path_.number),
                                .tag = put.put.tag,
                                .locator = locator,
                                .key = put.put.key,
                                .born = put.put.born});
  if (!is_held) shared_.events.release(1);
}

void PathWriter::fail_queue(PutQueue& queue, Code code) {
  for (; !queue.is_empty(); queue.pop(1)) answer(queue.at(0), code, {}, false);
}

void PathWriter::start_groups(TimeNs now_ns, const ReclaimView& reclaim) {
  for (GroupWrite& group : groups_) {
    if (!group.is_free()) continue;
    PutQueue& queue = own_queue_.is_empty() ? owner_queue_ : own_queue_;
    if (queue.is_empty()) return;
    if (!has_segment(queue.at(0).origin, now_ns, reclaim) || !start_group(group, queue, now_ns)) return;
  }
}

// The last free segment is for what reclaim moves, and while it empties one the owner takes no room from it.
bool PathWriter::has_segment(PutOrigin origin, TimeNs now_ns, const ReclaimView& reclaim) {
  if (!seal_.is_idle() || !header_.is_empty()) return false;
  const std::uint32_t free_count = path_.segments.count(SegmentState::kFree);
  const bool is_owners = origin == PutOrigin::kOwner;
  if (segment_ != kNoSegment) return !is_owners || free_count > 0 || !reclaim.is_active;
  if (free_count > (is_owners ? 1U : 0U)) {
    open_segment(now_ns);
  } else {
    wait_for_segment(origin, reclaim);
  }
  return false;
}

// Whoever waits for a segment will have one. What was sealed a moment ago counts.
bool PathWriter::may_gain(const ReclaimView& reclaim) const {
  return path_.segments.count(SegmentState::kFree) > 1 || reclaim.is_active ||
         (reclaim.may_begin && path_.segments.has_victim());
}

void PathWriter::wait_for_segment(PutOrigin origin, const ReclaimView& reclaim) {
  if (origin != PutOrigin::kOwner) return fail_queue(own_queue_, Code::kNoSpace);
  is_waiting_ = true;
  if (may_gain(reclaim)) return;
  path_.health.set_full(true);
  fail_queue(owner_queue_, Code::kNoSpace);
}

bool PathWriter::start_group(GroupWrite& group, PutQueue& queue, TimeNs now_ns) {
  std::size_t count = gather(queue);
  while (count > 0 && !place(count)) --count;
  if (count == 0) {
    begin_seal();
    return false;
  }
  const std::span<DiskRecord> records = std::span(records_).first(count);
  const Status status =
      group.start(path_, path_.context(segment_), records, std::span(gathered_).first(count), now_ns);
  if (status.is_ok()) enter(group, count);
  queue.pop(count);
  if (status.is_ok()) return true;
  for (std::size_t i = 0; i < count; ++i) answer(gathered_[i], status.code(), {}, false);
  return false;
}

// A mark is alone in its group: two copies of one never share a unit.
std::size_t PathWriter::gather(const PutQueue& queue) {
  gathered_.clear();
  std::uint64_t bytes = 0;
  const std::size_t count_max = std::min<std::size_t>(queue.size(), kGroupRecordsMax);
  for (std::size_t i = 0; i < count_max && bytes < kGroupBytesMax; ++i) {
    const QueuedPut& put = queue.at(i);
    const bool is_mark = put.kind != RecordKind::kBlock;
    if (i > 0 && is_mark) break;
    gathered_.push_back(put);
    prepare(records_[i], put);
    bytes += records_[i].header.payload_bytes;
    if (is_mark) break;
  }
  return gathered_.size();
}

void PathWriter::prepare(DiskRecord& record, const QueuedPut& put) {
  record = *put.put.shape;
  RecordHeader& header = record.header;
  header.kind = put.kind;
  header.tenant = put.put.key.tenant;
  header.space = put.put.key.space;
  header.key = put.put.key.key;
  header.parent = put.put.parent;
  header.sequence = shared_.next_sequence();
  header.born = put.put.born;
  header.created_ns = put.put.created_ns;
}

// Behind what is there, and before the footer that they make necessary.
bool PathWriter::place(std::size_t count) {
  const std::span<DiskRecord> records = std::span(records_).first(count);
  const std::uint64_t footer = index_.footer_bytes_with(path_.geometry, records);
  if (footer == 0 || footer > path_.geometry.segment_bytes) return false;
  const std::uint64_t limit = path_.geometry.segment_bytes - footer;
  if (end_ > limit || group_bytes(path_.geometry, records) > limit - end_) return false;
  return place_group(path_.context(segment_), end_, limit, records).is_ok();
}

void PathWriter::enter(GroupWrite& group, std::size_t count) {
  SegmentRow& row = path_.segments[segment_];
  for (std::size_t i = 0; i < count; ++i) {
    group.set_entry(i, index_.add(records_[i]));
    if (records_[i].header.kind == RecordKind::kBlock)
      row.born_min = std::min(row.born_min, records_[i].header.born);
  }
  end_ += records_[0].header.group_bytes;
}

void PathWriter::open_segment(TimeNs now_ns) {
  segment_ = *path_.segments.pick_free();
  path_.segments.open(segment_, ++shared_.generation, shared_.epoch);
  path_.health.set_full(false);
  is_waiting_ = false;
  index_.clear();
  end_ = data_offset(path_.geometry);
  const SegmentHeaderBytes bytes =
      encode_segment_header(path_.context(segment_), now_ns + shared_.options.wall_minus_monotonic_ns);
  const std::span<std::byte> unit = unit_.first(path_.geometry.alignment);
  std::memset(unit.data(), 0, unit.size());
  std::memcpy(unit.data(), bytes.data(), bytes.size());
  const std::uint64_t offset = segment_file_offset(path_.geometry, segment_);
  header_.add({.request = scratch_request(shared_, IoKind::kWrite, path_, offset, unit, now_ns),
               .cause = WriteCause::kSegments});
  header_.step();
}

void PathWriter::after_header() {
  const bool is_good = header_.first_failed() == nullptr;
  header_.clear();
  if (is_good) return;
  path_.segments[segment_].is_void = true;
  path_.segments.set_state(segment_, SegmentState::kSealed);
  segment_ = kNoSegment;
}

void PathWriter::begin_seal() {
  if (has_groups() || !header_.is_empty() || !seal_.is_idle()) return;
  path_.segments.set_state(segment_, SegmentState::kSealing);
  seal_.start(segment_, end_, false);
  segment_ = kNoSegment;
}

}  // namespace kvtier
