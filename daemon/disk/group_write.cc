#include "daemon/disk/group_write.h"

#include <algorithm>
#include <string>

#include "daemon/disk/format_group.h"

namespace kvtier {
namespace {

// Headers in one piece or by their units, payloads in one piece or by record, and what a large block is cut into.
std::size_t pieces_max(const DiskStoreOptions& options) {
  const std::uint64_t cuts = (kGroupBytesMax + options.block_bytes_max) / kIoBytesMax + 2;
  return 1 + std::size_t{3} * kGroupRecordsMax + cuts;
}

}  // namespace

GroupWrite::GroupWrite(StoreShared& shared, std::span<std::byte> headers)
    : shared_(shared), headers_(headers), pieces_(shared.io, pieces_max(shared.options)) {
  members_.reserve(kGroupRecordsMax);
}

void GroupWrite::free() {
  pieces_.clear();
  members_.clear();
}

Status GroupWrite::start(StorePath& path, const SegmentContext& segment, std::span<DiskRecord> records,
                         std::span<const QueuedPut> puts, TimeNs now_ns) {
  segment_ = segment;
  file_ = path.file.file;
  group_offset_ = records.front().header.offset;
  file_offset_ = segment_file_offset(segment.geometry, segment.identity.segment);
  deadline_ns_ = now_ns + shared_.options.io_deadline_ns;
  is_reported = is_late = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const RecordHeader& header = records[i].header;
    if (puts[i].origin == PutOrigin::kOwner)
      sum_payload({puts[i].put.memory.data, header.payload_bytes}, records[i]);
    members_.push_back({.put = puts[i],
                        .payload_offset = header.payload_offset,
                        .padded_bytes = round_up(header.payload_bytes, segment.geometry.alignment),
                        .header_offset = static_cast<std::uint32_t>(header.offset - group_offset_),
                        .header_bytes = records[i].header_bytes()});
  }
  plan_headers(records);
  Status status = verify(records);
  if (!status.is_ok()) {
    members_.clear();
    return status;
  }
  const RecordHeader& first = records.front().header;
  const std::uint64_t area =
      group_header_bytes(segment.geometry, static_cast<std::uint32_t>(records.size()), first.header_stride);
  IoPiece whole = piece(group_offset_, headers_.data(), shared_.options.scratch_region);
  whole.request.bytes = static_cast<std::uint32_t>(area);
  whole.count = static_cast<std::uint16_t>(records.size());
  whole.cause = puts.front().origin == PutOrigin::kOwner  ? WriteCause::kHeaders
                : puts.front().origin == PutOrigin::kMark ? WriteCause::kMarks
                                                          : WriteCause::kMoves;
  pieces_.add(whole);
  plan_payloads();
  pieces_.step();
  return Status::ok();
}

void GroupWrite::plan_headers(std::span<const DiskRecord> records) {
  const auto count = static_cast<std::uint32_t>(records.size());
  const std::uint64_t area =
      group_header_bytes(segment_.geometry, count, records.front().header.header_stride);
  encode_group(records, headers_.first(area));
}

// The check of a reader, on what is about to be written. The payload of an owner's record was read for its sums a moment
// ago: to sum it again would compare the same pass with itself, and take half of the writer's time. A move has the sums of
// the record that it was.
Status GroupWrite::verify(std::span<const DiskRecord> records) const {
  DiskRecord read;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Member& member = members_[i];
    const std::span<const std::byte> header = headers_.subspan(member.header_offset, kHeaderBytesMax);
    const std::span<const std::byte> payload(member.put.put.memory.data, records[i].header.payload_bytes);
    const DiskVerdict verdict = member.put.origin == PutOrigin::kMove
                                    ? verify_record(segment_, expect(records[i]), header, payload, read)
                                    : DiskVerdict{verify_header(segment_, expect(records[i]), header, read)};
    if (verdict.is_ok()) continue;
    return {Code::kCorrupt, "record " + std::to_string(i) +
                                " of a group fails its own check before the write: " +
                                std::string(disk_fault_name(verdict.fault))};
  }
  return Status::ok();
}

IoPiece GroupWrite::piece(std::uint64_t offset, std::byte* data, IoRegion region) const {
  const IoRequest request{.kind = IoKind::kWrite,
                          .file = file_,
                          .region = region,
                          .offset = file_offset_ + offset,
                          .data = data,
                          .deadline_ns = deadline_ns_};
  const bool is_move = members_.front().put.origin == PutOrigin::kMove;
  return {.request = request, .cause = is_move ? WriteCause::kMoves : WriteCause::kPayloads};
}

// Payloads lie side by side on disk: those that do so in memory too are one request.
void GroupWrite::plan_payloads() {
  for (std::size_t i = 0; i < members_.size();) {
    const DiskMemory& memory = members_[i].put.put.memory;
    std::uint64_t bytes = members_[i].padded_bytes;
    std::size_t next = i + 1;
    for (; next < members_.size() && bytes + members_[next].padded_bytes <= kIoBytesMax; ++next) {
      const DiskMemory& other = members_[next].put.put.memory;
      if (other.region != memory.region || other.data != memory.data + bytes) break;
      bytes += members_[next].padded_bytes;
    }
    if (bytes > 0) {
      IoPiece run = piece(members_[i].payload_offset, memory.data, memory.region);
      run.first = static_cast<std::uint16_t>(i);
      run.count = static_cast<std::uint16_t>(next - i);
      add_range(pieces_, run, bytes);
    }
    i = next;
  }
}

void GroupWrite::step() {
  const std::size_t count = pieces_.pieces().size();
  for (std::size_t i = 0; i < count; ++i) {
    const IoPiece& piece = pieces_.pieces()[i];
    if (piece.state == IoPiece::State::kFailed && piece.outcome == IoOutcome::kFailed && piece.count > 1 &&
        !piece.is_retry)
      split(i);
  }
  pieces_.step();
}

void GroupWrite::split(std::size_t at) {
  pieces_.pieces()[at].state = IoPiece::State::kSplit;
  const IoPiece failed = pieces_.pieces()[at];
  ++shared_.stats.io_split;
  if (failed.request.region == shared_.options.scratch_region && failed.request.data == headers_.data())
    return split_headers(failed);
  for (std::size_t i = failed.first; i < std::size_t{failed.first} + failed.count; ++i) {
    IoPiece one = piece(members_[i].payload_offset, members_[i].put.put.memory.data, failed.request.region);
    one.first = static_cast<std::uint16_t>(i);
    one.count = 1;
    one.is_retry = true;
    add_range(pieces_, one, members_[i].padded_bytes);
  }
}

// By units, since headers share them.
void GroupWrite::split_headers(const IoPiece& failed) {
  const std::uint32_t unit = segment_.geometry.alignment;
  for (std::uint32_t at = 0; at < failed.request.bytes; at += unit) {
    IoPiece one = piece(group_offset_ + at, headers_.data() + at, failed.request.region);
    one.request.bytes = unit;
    one.cause = failed.cause;
    one.is_retry = true;
    one.first = static_cast<std::uint16_t>(members_.size());
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const Member& member = members_[i];
      if (member.header_offset >= at + unit || member.header_offset + member.header_bytes <= at) continue;
      one.first = std::min(one.first, static_cast<std::uint16_t>(i));
      one.count = static_cast<std::uint16_t>(i + 1 - one.first);
    }
    if (one.count > 0) pieces_.add(one);
  }
}

Code GroupWrite::result(std::size_t member) const {
  for (const IoPiece& piece : pieces_.pieces()) {
    const bool is_bad = piece.state == IoPiece::State::kFailed || piece.state == IoPiece::State::kHeld;
    if (is_bad && member >= piece.first && member < std::size_t{piece.first} + piece.count)
      return io_code(piece);
  }
  return Code::kOk;
}

}  // namespace kvtier
