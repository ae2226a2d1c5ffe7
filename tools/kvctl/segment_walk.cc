#include "tools/kvctl/segment_walk.h"

#include <algorithm>

#include "daemon/disk/format_scan.h"
#include "daemon/disk/format_segment.h"
#include "libkvclient/base/units.h"

namespace kvtier::ctl {
namespace {

/// A payload is looked at in one piece. None that a daemon writes is larger.
constexpr std::uint64_t kPayloadBytesMax = kGiB;

SegmentGeometry geometry_of(const StorePicture& picture, std::uint32_t path) {
  const Superblock& block = picture.paths[path].superblock.superblock;
  return {block.segment_bytes, block.alignment};
}

}  // namespace

SegmentWalk::SegmentWalk(StoreBytes& file, StorePicture& picture, std::uint32_t path)
    : file_(file), picture_(picture), path_(path), geometry_(geometry_of(picture, path)) {}

std::uint64_t SegmentWalk::at(std::uint64_t offset) const {
  return segment_file_offset(geometry_, context_.identity.segment) + offset;
}

void SegmentWalk::add(std::uint32_t number, bool is_checked) {
  const Superblock& block = picture_.paths[path_].superblock.superblock;
  context_ = {{.store = block.store, .path = block.path, .segment = number}, geometry_};
  segment_ = {.number = number};
  is_checked_ = is_checked;
  segment_.is_cut = at(geometry_.segment_bytes) > file_.size();
  segment_.plan = choose_recovery(look());
  // A file that ends early costs what it no longer has; what is left of the segment is shown all the same.
  if (segment_.is_cut) segment_.plan.counted = DiskFault::kTruncated;
  segment_.faults.add(segment_.plan.counted);
  context_.identity = segment_.plan.identity;
  if (segment_.plan.choice == RecoveryChoice::kFooter) add_index();
  if (segment_.plan.choice == RecoveryChoice::kScan) add_scan();
  picture_.paths[path_].segments.push_back(segment_);
}

SegmentFindings SegmentWalk::look() {
  SegmentFindings found;
  SegmentHeader header{};
  found.header = verify_segment_header(context_, file_.read(at(0), kHeaderBytesMax), header);
  if (found.header == DiskFault::kNone) found.header_identity = header.identity;
  found.trailer =
      verify_trailer(context_, file_.read(at(trailer_offset(geometry_)), geometry_.alignment), trailer_);
  if (found.trailer != DiskFault::kNone) return found;
  found.trailer_identity = trailer_.identity;
  found.index = DiskFault::kIndexDamaged;
  if (trailer_.index_bytes > kIndexBytesMax) return found;
  const std::span<const std::byte> index = file_.read(at(trailer_.index_offset), trailer_.index_bytes);
  index_.assign(index.begin(), index.end());
  found.index = verify_index(trailer_, index_);
  return found;
}

void SegmentWalk::add_index() {
  segment_.used_bytes = trailer_.data_end;
  for (std::uint32_t i = 0; i < trailer_.entry_count; ++i) {
    const IndexEntry entry = read_entry(trailer_, index_, i);
    add_record(expect(entry, read_scope(trailer_, index_, entry.scope)), entry.kind, entry.born);
  }
}

// As recovery does it: over holes, to where the footer would be.
void SegmentWalk::add_scan() {
  const std::uint64_t end = trailer_offset(geometry_);
  for (std::uint64_t offset = data_offset(geometry_); offset < end && at(offset) < file_.size();) {
    const ScanStep step =
        scan_step(context_, offset, file_.peek(at(offset), geometry_.alignment + kHeaderBytesMax));
    if (step.count > 0) {
      add_group(step.offset, step.header_stride, step.count);
      segment_.used_bytes = step.next;
    } else if (step.fault == DiskFault::kHeaderDamaged) {
      segment_.faults.add(step.fault);
    }
    offset = std::max(offset + geometry_.alignment, step.next);
  }
}

void SegmentWalk::add_group(std::uint64_t offset, std::uint32_t stride, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t header = offset + std::uint64_t{i} * stride;
    const DiskFault fault =
        verify_record_header(context_, header, file_.peek(at(header), kHeaderBytesMax), record_);
    if (fault == DiskFault::kNone) {
      add_record(expect(record_), record_.header.kind, record_.header.born);
    } else {
      segment_.faults.add(fault);
    }
  }
}

void SegmentWalk::add_record(const ExpectedRecord& expected, RecordKind kind, std::uint64_t born) {
  PictureRecord record{.key = expected.key,
                       .sequence = expected.sequence,
                       .born = born,
                       .path = path_,
                       .segment = segment_.number,
                       .scope = picture_.scope_of(expected.tenant, expected.space),
                       .header_sector = static_cast<std::uint32_t>(expected.offset / kSectorBytes),
                       .payload_sector = static_cast<std::uint32_t>(expected.payload_offset / kSectorBytes),
                       .payload_bytes = static_cast<std::uint32_t>(expected.payload_bytes),
                       .block_bytes = static_cast<std::uint32_t>(expected.block_bytes),
                       .header_bytes = expected.header_bytes,
                       .kind = kind};
  if (is_checked_) record.fault = check(expected, kind);
  picture_.records.push_back(record);
}

// The one check of every reader; marks have no payload.
DiskFault SegmentWalk::check(const ExpectedRecord& expected, RecordKind kind) {
  const std::span<const std::byte> header = file_.peek(at(expected.offset), kHeaderBytesMax);
  if (kind != RecordKind::kBlock) return verify_header(context_, expected, header, record_);
  if (expected.payload_bytes > kPayloadBytesMax) {
    ++picture_.unchecked;
    return DiskFault::kNone;
  }
  return verify_record(context_, expected, header,
                       file_.read(at(expected.payload_offset), expected.payload_bytes), record_)
      .fault;
}

}  // namespace kvtier::ctl
