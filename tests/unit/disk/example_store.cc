#include "tests/unit/disk/example_store.h"

#include <algorithm>

#include "daemon/disk/format_group.h"
#include "daemon/disk/format_order.h"
#include "daemon/disk/format_seal.h"
#include "daemon/disk/format_segment.h"
#include "tests/support/pattern_block.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kCreatedNs = 1'800'000'000'000'000'000;  // 2027-01-15
constexpr std::uint64_t kEpoch = 2;

Superblock example_superblock() {
  Superblock block{};
  block.store = {{0x1111111111111111, 0x2222222222222222}};
  block.revision = 5;
  block.path = 0;
  block.path_count = 2;
  block.alignment = 4096;
  block.segment_bytes = 65536;
  block.segment_count = 16;
  block.created_ns = kCreatedNs;
  block.epoch = kEpoch;
  block.closed_epoch = 1;
  block.home_fsid = 0x33;
  block.home_inode = 0x44;
  block.home_birth_ns = kCreatedNs - 1;
  return block;
}

DiskRecord example_block(std::uint64_t count, const Key& parent) {
  DiskRecord record{};
  record.header.kind = RecordKind::kBlock;
  record.header.tenant = namespace_digest("default");
  record.header.space = spec_digest(example_spec()).value();
  record.header.key = pattern_key(1, count);
  record.header.parent = parent;
  record.header.sequence = sequence_number(kEpoch, count);
  record.header.born = sequence_number(1, count);
  record.header.created_ns = kCreatedNs + count;
  KV_CHECK(plan_raw_parts(example_spec(), record).is_ok(), "the example's spec is valid");
  return record;
}

DiskRecord example_invalidation() {
  DiskRecord record{};
  record.header.kind = RecordKind::kInvalidation;
  record.header.tenant = namespace_digest("other");
  record.header.sequence = sequence_number(kEpoch, 12);
  record.header.born = record.header.sequence;
  record.header.created_ns = kCreatedNs + 12;
  return record;
}

void place(ExampleStore& store) {
  const std::uint64_t limit = trailer_offset(store.segment.geometry) - store.segment.geometry.alignment;
  const std::span<DiskRecord> all(store.records);
  const std::uint64_t begin = data_offset(store.segment.geometry);
  const std::uint64_t middle = place_group(store.segment, begin, limit, all.first(2)).value();
  store.data_end = place_group(store.segment, middle, limit, all.subspan(2)).value();
}

void fill_payloads(ExampleStore& store) {
  for (DiskRecord& record : std::span(store.records).first(2)) {
    std::vector<std::byte> payload(record.header.payload_bytes);
    fill_pattern(record.header.key, payload);
    sum_payload(payload, record);
    store.payloads.push_back(std::move(payload));
  }
}

void copy_to(std::vector<std::byte>& segment, std::uint64_t offset, std::span<const std::byte> bytes) {
  std::copy(bytes.begin(), bytes.end(), segment.begin() + static_cast<std::ptrdiff_t>(offset));
}

std::vector<std::byte> cut(const std::vector<std::byte>& bytes, std::uint64_t offset, std::uint64_t length) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace

Spec example_spec() {
  Spec spec;
  spec.model = "example";
  spec.revision = "1";
  spec.tokenizer = "1";
  spec.parts = {{"kv", 8192, 0, 2, 1, 64, "f16", "[layer][k,v][token][head][dim]"},
                {"mamba", 1000, 2, 1, 0, 0, "f32", "flat"}};
  return spec;
}

ExampleStore example_store() {
  ExampleStore store;
  store.superblock = example_superblock();
  store.segment = {{store.superblock.store, 0, 3, 7, kEpoch},
                   {store.superblock.segment_bytes, store.superblock.alignment}};
  store.records = {example_block(10, {}), example_block(11, pattern_key(1, 10)), example_invalidation()};
  place(store);
  fill_payloads(store);
  store.scopes = {{store.records[0].header.tenant, store.records[0].header.space},
                  {store.records[2].header.tenant, {}}};
  for (std::uint32_t i = 0; i < 3; ++i)
    store.entries.push_back(index_entry(store.records[i], i == 2 ? 1 : 0));
  return store;
}

std::vector<std::byte> encode_example_segment(const ExampleStore& store) {
  const SegmentGeometry& geometry = store.segment.geometry;
  std::vector<std::byte> bytes(geometry.segment_bytes);
  copy_to(bytes, 0, encode_segment_header(store.segment, kCreatedNs));
  const std::span<const DiskRecord> all(store.records);
  encode_group(all.first(2), std::span(bytes).subspan(all[0].header.offset, 4096));
  encode_group(all.subspan(2), std::span(bytes).subspan(all[2].header.offset, 4096));
  for (std::size_t i = 0; i < store.payloads.size(); ++i) {
    copy_to(bytes, all[i].header.payload_offset, store.payloads[i]);
  }
  const std::uint64_t footer = footer_bytes(geometry, store.scopes.size(), store.entries.size());
  encode_footer(store.segment, {store.scopes, store.entries, store.data_end, kEpoch, kCreatedNs + 20},
                std::span(bytes).last(footer));
  return bytes;
}

std::vector<std::pair<std::string, std::vector<std::byte>>> example_structures() {
  const ExampleStore store = example_store();
  const std::vector<std::byte> segment = encode_example_segment(store);
  const SuperblockBytes superblock = encode_superblock(store.superblock, 1);
  const std::uint64_t trailer = trailer_offset(store.segment.geometry);
  const std::uint64_t index = index_bytes(store.scopes.size(), store.entries.size());
  return {{"superblock", {superblock.begin(), superblock.end()}},
          {"segment header", cut(segment, 0, sizeof(SegmentHeader))},
          {"record", cut(segment, store.records[1].header.offset, store.records[1].header_bytes())},
          {"invalidation", cut(segment, store.records[2].header.offset, store.records[2].header_bytes())},
          {"index", cut(segment, trailer - round_up(index, 4096), index)},
          {"trailer", cut(segment, trailer, sizeof(SegmentTrailer))}};
}

}  // namespace kvtier::test
