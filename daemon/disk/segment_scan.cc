#include "daemon/disk/segment_scan.h"

#include <algorithm>

namespace kvtier {

SegmentScan::SegmentScan(StoreShared& shared, std::span<std::byte> buffer)
    : shared_(shared),
      pieces_(shared.io, buffer.size() / kIoBytesMax + 2),
      headers_(buffer.first(kHeadersBytes)),
      payloads_(buffer.subspan(kHeadersBytes)) {}

void SegmentScan::start(StorePath& path, const SegmentContext& segment, OpenIndex& index, TimeNs now_ns) {
  path_ = &path;
  segment_ = segment;
  index_ = &index;
  index.clear();
  at_ = data_end_ = data_offset(segment.geometry);
  chunk_ = kChunkBytes;
  is_whole_ = true;
  units_unread_ = 0;
  born_min_ = kNobodyBorn;
  step_ = Step::kSeek;
  next_read(now_ns);
}

void SegmentScan::read(std::uint64_t offset, std::uint64_t bytes, std::span<std::byte> into, TimeNs now_ns) {
  const std::uint64_t begin = segment_file_offset(segment_.geometry, segment_.identity.segment);
  add_range(
      pieces_,
      {.request = scratch_request(shared_, IoKind::kRead, *path_, begin + offset, into.first(bytes), now_ns)},
      bytes);
  pieces_.step();
}

// What the present step needs; or the end.
void SegmentScan::next_read(TimeNs now_ns) {
  const std::uint64_t end = trailer_offset(segment_.geometry);
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  if (step_ == Step::kPayloads && !plan_payloads(offset, bytes)) {
    at_ = std::max(at_ + segment_.geometry.alignment, group_.next);
    step_ = Step::kSeek;
  }
  if (step_ == Step::kPayloads) return read(offset, bytes, payloads_, now_ns);
  if (step_ == Step::kHeaders) {
    bytes = group_header_bytes(segment_.geometry, group_.count, group_.header_stride);
    return read(group_.offset, bytes, headers_, now_ns);
  }
  if (at_ >= end) {
    step_ = Step::kDone;
    return;
  }
  read(at_, std::min(chunk_, end - at_), payloads_, now_ns);
}

void SegmentScan::step(TimeNs now_ns) {
  if (is_done()) return;
  pieces_.step();
  if (!pieces_.is_released()) return;
  std::uint64_t bytes = 0;
  const bool is_failed = pieces_.first_failed() != nullptr;
  for (const IoPiece& piece : pieces_.pieces()) bytes += piece.bytes;
  pieces_.clear();
  if (is_failed) {
    skip_unreadable();
  } else if (step_ == Step::kSeek) {
    look(bytes);
  } else if (step_ == Step::kHeaders) {
    after_headers(bytes);
  } else {
    after_payloads(bytes);
  }
  next_read(now_ns);
}

// A place that cannot be read costs its unit, or its record: larger reads are tried again in smaller ones.
void SegmentScan::skip_unreadable() {
  const std::uint32_t unit = segment_.geometry.alignment;
  if (step_ == Step::kSeek) {
    if (chunk_ == unit) {
      at_ += unit;
      lose_units(1);
    }
    chunk_ = unit;
  } else if (step_ == Step::kHeaders) {
    const std::uint64_t bytes = group_header_bytes(segment_.geometry, group_.count, group_.header_stride);
    lose_units((bytes + unit - 1) / unit);
    at_ = std::max(at_ + unit, group_.next);
    step_ = Step::kSeek;
  } else if (!is_single_) {
    is_single_ = true;
  } else {
    record_ = run_end_;
    lose_units(0);  // whose payload it is was read
  }
}

void SegmentScan::lose_units(std::uint64_t units) {
  is_whole_ = false;
  units_unread_ += units;
}

void SegmentScan::look(std::uint64_t bytes) {
  const std::uint64_t begin = at_;
  const std::uint32_t unit = segment_.geometry.alignment;
  const std::uint64_t end = trailer_offset(segment_.geometry);
  if (bytes == 0) at_ = end;  // the file ends here
  while (at_ < std::min(end, begin + bytes)) {
    const std::span<const std::byte> rest = payloads_.first(bytes).subspan(at_ - begin);
    // A header may reach into the next unit: looked at again where both are there.
    if (at_ > begin && rest.size() < unit + kHeaderBytesMax && begin + bytes < end) break;
    const ScanStep found = scan_step(segment_, at_, rest);
    if (found.count > 0) return begin_group(found);
    if (found.fault == DiskFault::kHeaderDamaged) shared_.stats.count(found.fault);
    at_ = found.next;
  }
  chunk_ = kChunkBytes;
}

void SegmentScan::begin_group(const ScanStep& found) {
  group_ = found;
  record_ = 0;
  is_single_ = false;
  step_ = Step::kHeaders;
  data_end_ = std::max(data_end_, found.next);
}

void SegmentScan::after_headers(std::uint64_t bytes) {
  header_bytes_ = bytes;
  step_ = Step::kPayloads;
}

DiskFault SegmentScan::header(std::uint32_t i, DiskRecord& out) const {
  const std::uint64_t at = std::uint64_t{i} * group_.header_stride;
  if (at >= header_bytes_) return DiskFault::kTruncated;
  const std::uint64_t bytes = std::min<std::uint64_t>(kHeaderBytesMax, header_bytes_ - at);
  return verify_record_header(segment_, group_.offset + at, headers_.subspan(at, bytes), out);
}

// The next records whose payloads lie side by side and fit into the memory. Marks, and headers that are damaged, are
// dealt with on the way. False: the group is done.
bool SegmentScan::plan_payloads(std::uint64_t& offset, std::uint64_t& bytes) {
  bytes = 0;
  run_end_ = record_;
  for (; run_end_ < group_.count; ++run_end_) {
    const DiskFault fault = header(run_end_, record_buffer_);
    const RecordHeader& h = record_buffer_.header;
    const bool is_block = fault == DiskFault::kNone && h.kind == RecordKind::kBlock;
    const std::uint64_t padded = is_block ? round_up(h.payload_bytes, segment_.geometry.alignment) : 0;
    const bool is_next = bytes == 0 || (is_block && !is_single_ && h.payload_offset == offset + bytes &&
                                        bytes + padded <= payloads_.size());
    if (bytes > 0 && !is_next) break;
    if (is_block && padded <= payloads_.size()) {
      if (bytes == 0) offset = run_offset_ = h.payload_offset;
      bytes += padded;
      continue;
    }
    if (fault != DiskFault::kNone) shared_.stats.count(fault);
    if (fault == DiskFault::kNone && !is_block) enter(record_buffer_);
    record_ = run_end_ + 1;  // a payload beyond block_bytes_max cannot be checked: its block is lost
  }
  return bytes > 0;
}

void SegmentScan::after_payloads(std::uint64_t bytes) {
  for (; record_ < run_end_; ++record_) {
    if (header(record_, record_buffer_) != DiskFault::kNone) continue;
    const RecordHeader& h = record_buffer_.header;
    const std::uint64_t at = std::min(bytes, h.payload_offset - run_offset_);
    const std::span<const std::byte> payload =
        payloads_.subspan(at, std::min<std::uint64_t>(h.payload_bytes, bytes - at));
    const DiskVerdict verdict = verify_payload(record_buffer_, payload);
    if (verdict.is_ok()) {
      born_min_ = std::min(born_min_, h.born);
      enter(record_buffer_);
    } else {
      shared_.stats.count(verdict.fault);
    }
  }
}

// The writer kept room for the footer; who forged more records than that loses them.
void SegmentScan::enter(const DiskRecord& record) {
  const std::uint64_t footer = index_->footer_bytes_with(segment_.geometry, {&record, 1});
  if (footer == 0 || data_end_ > segment_.geometry.segment_bytes - footer) {
    shared_.stats.count(DiskFault::kMalformed);
    return;
  }
  index_->add(record);
}

}  // namespace kvtier
