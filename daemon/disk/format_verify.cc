#include "daemon/disk/format_verify.h"

namespace kvtier {
namespace {

bool is_expected(const ExpectedRecord& expected, const DiskRecord& record) {
  const RecordHeader& h = record.header;
  const bool is_block = h.sequence == expected.sequence && h.key == expected.key &&
                        h.space == expected.space && h.tenant == expected.tenant;
  return is_block && h.payload_offset == expected.payload_offset &&
         h.payload_bytes == expected.payload_bytes && h.block_bytes == expected.block_bytes &&
         record.header_bytes() == expected.header_bytes;
}

}  // namespace

ExpectedRecord expect(const DiskRecord& record) {
  const RecordHeader& h = record.header;
  return {.offset = h.offset,
          .sequence = h.sequence,
          .tenant = h.tenant,
          .space = h.space,
          .key = h.key,
          .payload_offset = h.payload_offset,
          .payload_bytes = h.payload_bytes,
          .block_bytes = h.block_bytes,
          .header_bytes = record.header_bytes()};
}

DiskFault verify_header(const SegmentContext& segment, const ExpectedRecord& expected,
                        std::span<const std::byte> header, DiskRecord& out) {
  if (header.size() < expected.header_bytes) return DiskFault::kTruncated;
  const DiskFault fault = verify_record_header(segment, expected.offset, header, out);
  // All of the header is there: a length that leads beyond it is a damaged one.
  if (fault == DiskFault::kTruncated) return DiskFault::kHeaderDamaged;
  if (fault != DiskFault::kNone) return fault;
  return is_expected(expected, out) ? DiskFault::kNone : DiskFault::kOtherBlock;
}

DiskVerdict verify_record(const SegmentContext& segment, const ExpectedRecord& expected,
                          std::span<const std::byte> header, std::span<const std::byte> payload,
                          DiskRecord& out) {
  const DiskFault fault = verify_header(segment, expected, header, out);
  if (fault != DiskFault::kNone) return {fault, 0, 0, 0, 0};
  return verify_payload(out, payload);
}

}  // namespace kvtier
