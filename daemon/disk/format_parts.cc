#include "daemon/disk/format_parts.h"

#include <algorithm>

#include "libkvclient/base/checksum.h"

namespace kvtier {
namespace {

std::uint64_t layer_bytes(const SpecPart& part) {
  const bool is_even = part.layer_count != 0 && part.bytes % part.layer_count == 0;
  return is_even ? part.bytes / part.layer_count : part.bytes;
}

std::uint64_t layers_per_sum(const SpecPart& part, std::uint64_t bytes_min) {
  return (bytes_min + layer_bytes(part) - 1) / layer_bytes(part);
}

std::uint64_t count_sums(const Spec& spec, std::uint64_t bytes_min) {
  std::uint64_t count = 0;
  for (const SpecPart& part : spec.parts) {
    const std::uint64_t bytes = layers_per_sum(part, bytes_min) * layer_bytes(part);
    count += (part.bytes + bytes - 1) / bytes;
  }
  return count;
}

// Doubling ends at one sum a part, for which every header has room.
std::uint64_t find_bytes_min(const Spec& spec) {
  std::uint64_t bytes_min = kAlignmentMin;
  const std::uint64_t room = kHeaderBytesMax - record_bytes(static_cast<std::uint32_t>(spec.parts.size()), 0);
  while (count_sums(spec, bytes_min) * sizeof(LayerSum) > room) bytes_min *= 2;
  return bytes_min;
}

void plan_sums(const SpecPart& part, std::uint64_t bytes_min, DiskRecord& record) {
  const std::uint64_t layer = layer_bytes(part);
  const std::uint64_t stride = layers_per_sum(part, bytes_min) * layer;
  for (std::uint64_t at = 0; at < part.bytes; at += stride) {
    const std::uint64_t bytes = std::min(stride, part.bytes - at);
    const std::uint64_t layers = layer == part.bytes ? part.layer_count : bytes / layer;
    record.sums[record.header.sum_count++] = {0, static_cast<std::uint32_t>(bytes),
                                              static_cast<std::uint32_t>(layers)};
  }
}

void plan_part(const SpecPart& part, std::uint64_t offset, std::uint64_t bytes_min, DiskRecord& record) {
  RecordPart planned{};
  planned.offset = static_cast<std::uint32_t>(offset);
  planned.bytes = static_cast<std::uint32_t>(part.bytes);
  planned.raw_bytes = planned.bytes;
  planned.sum_first = record.header.sum_count;
  plan_sums(part, bytes_min, record);
  planned.sum_count = static_cast<std::uint16_t>(record.header.sum_count - planned.sum_first);
  record.parts[record.header.part_count++] = planned;
}

// The bytes of part and sums from `first` on, one after the other.
template <class Visit>
void for_each_sum(const DiskRecord& record, std::uint16_t part, std::uint16_t first, std::uint16_t count,
                  std::span<const std::byte> bytes, Visit&& visit) {
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto sum = static_cast<std::uint16_t>(record.parts[part].sum_first + first + i);
    const std::size_t length = record.sums[sum].bytes;
    if (!visit(sum, bytes.subspan(at, length))) return;
    at += length;
  }
}

std::uint64_t sums_bytes(const DiskRecord& record, std::uint16_t part, std::uint16_t first,
                         std::uint16_t count) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    bytes += record.sums[record.parts[part].sum_first + first + i].bytes;
  return bytes;
}

}  // namespace

Status plan_raw_parts(const Spec& spec, DiskRecord& record) {
  KV_RETURN_IF_ERROR(validate_spec(spec).while_doing("laying out a record"));
  const std::uint64_t bytes_min = find_bytes_min(spec);
  record.header.part_count = 0;
  record.header.sum_count = 0;
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    plan_part(spec.parts[i], spec.part_offset(i), bytes_min, record);
  }
  record.header.block_bytes = spec.block_bytes();
  record.header.payload_bytes = spec.block_bytes();
  return Status::ok();
}

void sum_payload(std::span<const std::byte> payload, DiskRecord& record) {
  KV_CHECK(payload.size() >= record.header.payload_bytes, "the whole payload is summed");
  for (std::uint16_t part = 0; part < record.header.part_count; ++part) {
    const std::span<const std::byte> bytes =
        payload.subspan(record.parts[part].offset, record.parts[part].bytes);
    for_each_sum(record, part, 0, record.parts[part].sum_count, bytes,
                 [&](std::uint16_t sum, std::span<const std::byte> layer) {
                   record.sums[sum].checksum = checksum64(layer);
                   return true;
                 });
  }
}

DiskVerdict verify_layers(const DiskRecord& record, std::uint16_t part, std::uint16_t sum_first,
                          std::uint16_t sum_count, std::span<const std::byte> bytes) {
  KV_CHECK(part < record.header.part_count && sum_first + sum_count <= record.parts[part].sum_count,
           "layers of a verified header are asked for");
  const std::uint64_t needed = sums_bytes(record, part, sum_first, sum_count);
  if (bytes.size() < needed) return {DiskFault::kTruncated, part, sum_first, needed, bytes.size()};
  DiskVerdict verdict;
  for_each_sum(record, part, sum_first, sum_count, bytes,
               [&](std::uint16_t sum, std::span<const std::byte> layer) {
                 const std::uint64_t found = checksum64(layer);
                 if (found == record.sums[sum].checksum) return true;
                 verdict = {DiskFault::kPayloadDamaged, part, sum, record.sums[sum].checksum, found};
                 return false;
               });
  return verdict;
}

DiskVerdict verify_payload(const DiskRecord& record, std::span<const std::byte> payload) {
  const std::uint64_t needed = record.header.payload_bytes;
  if (payload.size() < needed) return {DiskFault::kTruncated, 0, 0, needed, payload.size()};
  for (std::uint16_t part = 0; part < record.header.part_count; ++part) {
    const RecordPart& range = record.parts[part];
    const DiskVerdict verdict =
        verify_layers(record, part, 0, range.sum_count, payload.subspan(range.offset, range.bytes));
    if (!verdict.is_ok()) return verdict;
  }
  return {};
}

}  // namespace kvtier
