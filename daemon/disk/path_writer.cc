#include "daemon/disk/path_writer.h"

#include <algorithm>
#include <cstring>

#include "daemon/disk/format_group.h"
#include "daemon/disk/format_segment.h"

namespace kvtier {

PathWriter::PathWriter(StoreShared& shared, StorePath& path, std::span<std::byte> headers,
                       std::span<std::byte> unit)
    : shared_(shared),
      path_(path),
      owner_queue_(shared.options.puts_max),
      own_queue_(kOwnPutsMax),
      own_done_(kOwnPutsMax + kGroups * kGroupRecordsMax),
      groups_{GroupWrite(shared, headers.first(kHeadersBytes)),
              GroupWrite(shared, headers.subspan(kHeadersBytes, kHeadersBytes))},
      records_(kGroupRecordsMax),
      seal_(shared, path, index_),
      header_(shared.io, 1),
      unit_(unit) {
  gathered_.reserve(kGroupRecordsMax);
}

void PathWriter::push(std::span<const DiskPut> puts) {
  for (const DiskPut& put : puts) {
    owner_queue_.push({.put = put, .number = number_++});
    if (put.born == 0) owner_queue_.back().put.born = shared_.next_sequence();
  }
}

bool PathWriter::push_own(const DiskPut& put, PutOrigin origin, RecordKind kind) {
  if (!own_queue_.has_room(1)) return false;
  own_queue_.push({.put = put, .number = number_++, .origin = origin, .kind = kind});
  return true;
}

bool PathWriter::pop_own(OwnWrite& out) {
  if (own_done_.is_empty()) return false;
  out = own_done_.pop();
  return true;
}

bool PathWriter::fits(const DiskRecord& shape) const {
  const std::uint64_t room =
      path_.geometry.segment_bytes - path_.geometry.alignment - footer_bytes(path_.geometry, 1, 1);
  return group_bytes(path_.geometry, {&shape, 1}) <= room;
}

void PathWriter::step(TimeNs now_ns, const ReclaimView& reclaim) {
  for (GroupWrite& group : groups_) {
    if (group.is_free()) continue;
    group.step();
    const bool is_owners = group.members().front().put.origin == PutOrigin::kOwner;
    if (!group.is_reported && (is_owners ? group.is_settled() : group.is_released())) report(group);
    if (group.is_reported && group.is_released()) release(group);
  }
  if (!header_.is_empty()) {
    header_.step();
    if (header_.is_released()) after_header();
  }
  seal_.step(now_ns);
  if (path_.health.state() == PathState::kFull && may_gain(reclaim)) path_.health.set_full(false);
  if (path_.health.is_serving()) {
    start_groups(now_ns, reclaim);
  } else {
    fail_queue(own_queue_, Code::kUnavailable);
    fail_queue(owner_queue_, Code::kUnavailable);
  }
  if (is_closing_ && queued_count() == 0 && segment_ != kNoSegment) begin_seal();
}

bool PathWriter::has_groups() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const GroupWrite& group) { return !group.is_free() && !group.is_reported; });
}

bool PathWriter::is_settled_before(std::uint64_t number) const {
  const auto is_before = [&](const QueuedPut& put) { return put.number < number; };
  if (!owner_queue_.is_empty() && is_before(owner_queue_.at(0))) return false;
  if (!own_queue_.is_empty() && is_before(own_queue_.at(0))) return false;
  return std::none_of(groups_.begin(), groups_.end(), [&](const GroupWrite& group) {
    return !group.is_reported && std::any_of(group.members().begin(), group.members().end(),
                                             [&](const auto& member) { return is_before(member.put); });
  });
}

std::uint64_t PathWriter::born_min() const {
  std::uint64_t born = kNobodyBorn;
  for (const PutQueue* queue : {&owner_queue_, &own_queue_}) {
    for (std::size_t i = 0; i < queue->size(); ++i) born = std::min(born, queue->at(i).put.born);
  }
  return born;
}

std::uint64_t PathWriter::settled_end(std::uint32_t segment) const {
  if (segment != segment_) return 0;
  std::uint64_t end = end_;
  for (const GroupWrite& group : groups_) {
    if (!group.is_free() && !group.is_reported) end = std::min(end, group.offset());
  }
  return end;
}

void PathWriter::seal_recovered(std::uint32_t segment, std::uint64_t data_end) {
  path_.segments.set_state(segment, SegmentState::kSealing);
  seal_.start(segment, data_end, true);
}

}  // namespace kvtier
