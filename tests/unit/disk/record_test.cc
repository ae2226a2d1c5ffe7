#include "daemon/disk/format_record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "daemon/disk/format_seal.h"
#include "daemon/disk/format_verify.h"
#include "tests/unit/disk/example_store.h"

namespace kvtier {
namespace {

using Slot = std::array<std::byte, kHeaderBytesMax>;

Slot encode(const DiskRecord& record) {
  Slot slot{};
  encode_record(record, std::span(slot).first(record.header.header_stride));
  return slot;
}

/// As a liar or a bug would: the counts need not fit anything.
Slot encode_as_is(const DiskRecord& record, std::uint32_t version = kFormatVersion) {
  Slot slot = encode(test::example_store().records[1]);
  const std::size_t bytes = read_prefix(slot).bytes;
  std::memcpy(slot.data(), &record.header, sizeof record.header);
  std::memcpy(slot.data() + sizeof record.header, record.parts.data(), 2 * sizeof(RecordPart));
  std::memcpy(slot.data() + sizeof record.header + 2 * sizeof(RecordPart), record.sums.data(),
              3 * sizeof(LayerSum));
  FormatPrefix prefix{kRecordMagic, version, static_cast<std::uint32_t>(bytes),
                      seal_checksum(kRecordMagic, version, std::span(slot).first(bytes))};
  std::memcpy(slot.data(), &prefix, sizeof prefix);
  return slot;
}

DiskFault verify(const test::ExampleStore& store, std::span<const std::byte> slot) {
  DiskRecord read;
  return verify_record_header(store.segment, store.records[1].header.offset, slot, read);
}

TEST(DiskRecordHeader, ComesBackAsItWas) {
  const test::ExampleStore store = test::example_store();
  for (const DiskRecord& written : store.records) {
    DiskRecord read;
    ASSERT_EQ(verify_record_header(store.segment, written.header.offset, encode(written), read),
              DiskFault::kNone);
    DiskRecord expected = written;
    expected.header.prefix = read.header.prefix;
    EXPECT_EQ(std::memcmp(&read.header, &expected.header, sizeof read.header), 0);
    EXPECT_EQ(std::memcmp(read.parts.data(), written.parts.data(), written.used_parts().size_bytes()), 0);
    EXPECT_EQ(std::memcmp(read.sums.data(), written.sums.data(), written.used_sums().size_bytes()), 0);
  }
}

TEST(DiskRecordHeader, EveryFlippedBitIsFound) {
  const test::ExampleStore store = test::example_store();
  const Slot intact = encode(store.records[1]);
  for (std::size_t bit = 0; bit < store.records[1].header_bytes() * 8; ++bit) {
    Slot slot = intact;
    slot[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(verify(store, slot), DiskFault::kHeaderDamaged) << "bit " << bit;
  }
}

TEST(DiskRecordHeader, EveryTruncationIsFound) {
  const test::ExampleStore store = test::example_store();
  const Slot intact = encode(store.records[1]);
  for (std::size_t bytes = 0; bytes < store.records[1].header_bytes(); ++bytes) {
    EXPECT_EQ(verify(store, std::span(intact).first(bytes)), DiskFault::kTruncated) << bytes;
  }
}

TEST(DiskRecordHeader, AnotherVersionIsToldOnlyWhenIntact) {
  const test::ExampleStore store = test::example_store();
  Slot slot = encode_as_is(store.records[1], kFormatVersion + 1);
  EXPECT_EQ(verify(store, slot), DiskFault::kVersion);
  slot[100] ^= std::byte{1};
  EXPECT_EQ(verify(store, slot), DiskFault::kHeaderDamaged);
}

TEST(DiskRecordHeader, WhatIsIntactMustBelongHere) {
  const test::ExampleStore store = test::example_store();
  const auto fault_of = [&](const std::function<void(SegmentIdentity&)>& change) {
    test::ExampleStore other = store;
    change(other.segment.identity);
    return verify(other, encode(store.records[1]));
  };
  EXPECT_EQ(fault_of([](SegmentIdentity&) {}), DiskFault::kNone);
  EXPECT_EQ(fault_of([](SegmentIdentity& i) { i.store.words[1] ^= 1; }), DiskFault::kOtherStore);
  EXPECT_EQ(fault_of([](SegmentIdentity& i) { i.path = 1; }), DiskFault::kMisplaced);
  EXPECT_EQ(fault_of([](SegmentIdentity& i) { i.segment = 4; }), DiskFault::kMisplaced);
  EXPECT_EQ(fault_of([](SegmentIdentity& i) { i.generation = 8; }), DiskFault::kStale);
  EXPECT_EQ(fault_of([](SegmentIdentity& i) { i.generation = 6; }), DiskFault::kStale);
  EXPECT_EQ(fault_of([](SegmentIdentity& i) { i.epoch = 3; }), DiskFault::kStale);
  DiskRecord read;
  EXPECT_EQ(verify_record_header(store.segment, 4096, encode(store.records[1]), read), DiskFault::kMisplaced);
  EXPECT_EQ(verify(store, encode_superblock(store.superblock, 0)), DiskFault::kMisplaced);
}

struct Contradiction {
  const char* name;
  std::function<void(DiskRecord&)> change;
};

const std::vector<Contradiction>& contradictions() {
  static const std::vector<Contradiction> all = {
      {"kind 0", [](DiskRecord& r) { r.header.kind = RecordKind{0}; }},
      {"kind 4", [](DiskRecord& r) { r.header.kind = RecordKind{4}; }},
      {"a mark with parts", [](DiskRecord& r) { r.header.kind = RecordKind::kTombstone; }},
      {"reserved0", [](DiskRecord& r) { r.header.reserved0 = 1; }},
      {"reserved1", [](DiskRecord& r) { r.header.reserved1 = 1; }},
      {"born late", [](DiskRecord& r) { r.header.born = r.header.sequence + 1; }},
      {"sequence of another epoch", [](DiskRecord& r) { r.header.sequence += 1ULL << kSequenceCountBits; }},
      {"no namespace", [](DiskRecord& r) { r.header.tenant = {}; }},
      {"no space", [](DiskRecord& r) { r.header.space = {}; }},
      {"no key", [](DiskRecord& r) { r.header.key = {}; }},
      {"no parts", [](DiskRecord& r) { r.header.part_count = 0; }},
      {"more parts than room", [](DiskRecord& r) { r.header.part_count = 17; }},
      {"more sums than room", [](DiskRecord& r) { r.header.sum_count = 60000; }},
      {"one sum fewer", [](DiskRecord& r) { r.header.sum_count = 2; }},
      {"block of nothing", [](DiskRecord& r) { r.header.block_bytes = 0; }},
      {"block too large", [](DiskRecord& r) { r.header.block_bytes = (1ULL << 30) + 1; }},
      {"payload longer than its parts", [](DiskRecord& r) { ++r.header.payload_bytes; }},
      {"payload at the headers", [](DiskRecord& r) { r.header.payload_offset = 4096; }},
      {"payload not aligned", [](DiskRecord& r) { r.header.payload_offset += 512; }},
      {"payload beyond the group", [](DiskRecord& r) { r.header.payload_offset += 4096; }},
      {"payload beyond everything", [](DiskRecord& r) { r.header.payload_offset = ~0ULL & ~4095ULL; }},
      {"empty group", [](DiskRecord& r) { r.header.group_count = 0; }},
      {"large group", [](DiskRecord& r) { r.header.group_count = 65; }},
      {"index behind the group", [](DiskRecord& r) { r.header.group_index = 2; }},
      {"index of another place", [](DiskRecord& r) { r.header.group_index = 0; }},
      {"stride 0", [](DiskRecord& r) { r.header.header_stride = 0; }},
      {"stride of half a sector", [](DiskRecord& r) { r.header.header_stride = 768; }},
      {"stride too large", [](DiskRecord& r) { r.header.header_stride = 8192; }},
      {"group not aligned", [](DiskRecord& r) { r.header.group_bytes += 512; }},
      {"group into the trailer", [](DiskRecord& r) { r.header.group_bytes = 61440; }},
      {"group beyond everything", [](DiskRecord& r) { r.header.group_bytes = ~0ULL & ~4095ULL; }},
      {"group shorter than its headers", [](DiskRecord& r) { r.header.group_bytes = 0; }},
      {"part of nothing", [](DiskRecord& r) { r.parts[0].bytes = r.parts[0].raw_bytes = 0; }},
      {"parts overlap", [](DiskRecord& r) { r.parts[1].offset -= 64; }},
      {"part beyond the payload", [](DiskRecord& r) { r.parts[1].offset += 64; }},
      {"part's reserved", [](DiskRecord& r) { r.parts[0].reserved = 1; }},
      {"raw part of another length", [](DiskRecord& r) { ++r.parts[0].raw_bytes; }},
      {"raw part with a version", [](DiskRecord& r) { r.parts[0].codec_version = 1; }},
      {"raw part with a raw checksum", [](DiskRecord& r) { r.parts[0].raw_checksum = 1; }},
      {"coded part of nothing", [](DiskRecord& r) { r.parts[0].codec = 1, r.parts[0].raw_bytes = 0; }},
      {"sums of another part", [](DiskRecord& r) { r.parts[1].sum_first = 1; }},
      {"sums beyond the record", [](DiskRecord& r) { r.parts[1].sum_count = 9; }},
      {"a part's end without a sum", [](DiskRecord& r) { r.sums[1].bytes -= 64; }},
      {"a sum of nothing", [](DiskRecord& r) { r.sums[0].bytes = 8192, r.sums[1].bytes = 0; }},
  };
  return all;
}

TEST(DiskRecordHeader, FieldsThatContradictAreMalformedAlthoughSealed) {
  const test::ExampleStore store = test::example_store();
  ASSERT_EQ(verify(store, encode_as_is(store.records[1])), DiskFault::kNone);
  for (const Contradiction& contradiction : contradictions()) {
    DiskRecord record = store.records[1];
    contradiction.change(record);
    EXPECT_EQ(verify(store, encode_as_is(record)), DiskFault::kMalformed) << contradiction.name;
  }
}

// Counts decide what is read: they and the length say the same, or nothing is.
TEST(DiskRecordHeader, ALengthThatItsCountsDoNotExplainIsMalformedAlthoughSealed) {
  const test::ExampleStore store = test::example_store();
  for (const std::uint32_t more : {8U, 16U, 96U}) {
    Slot slot = encode(store.records[1]);
    seal(kRecordMagic, std::span(slot).first(store.records[1].header_bytes() + more));
    EXPECT_EQ(verify(store, slot), DiskFault::kMalformed) << more;
    seal(kRecordMagic, std::span(slot).first(store.records[1].header_bytes() - more));
    EXPECT_EQ(verify(store, slot), DiskFault::kMalformed) << more;
  }
}

TEST(DiskRecordHeader, MarksHaveNothingOfABlock) {
  const test::ExampleStore store = test::example_store();
  const std::vector<std::function<void(DiskRecord&)>> changes = {
      [](DiskRecord& r) { r.header.payload_bytes = 1; },
      [](DiskRecord& r) { r.header.payload_offset = 36864; },
      [](DiskRecord& r) { r.header.block_bytes = 1; },
      [](DiskRecord& r) { r.header.parent.words[0] = 1; },
      [](DiskRecord& r) { r.header.key.words[0] = 1; },
      [](DiskRecord& r) { r.header.kind = RecordKind::kTombstone; },
  };
  for (const auto& change : changes) {
    DiskRecord record = store.records[2];
    change(record);
    DiskRecord read;
    EXPECT_EQ(verify_record_header(store.segment, record.header.offset, encode(record), read),
              DiskFault::kMalformed);
  }
  DiskRecord tombstone = store.records[2];
  tombstone.header.kind = RecordKind::kTombstone;
  tombstone.header.key.words[0] = 1;
  DiskRecord read;
  EXPECT_EQ(verify_record_header(store.segment, tombstone.header.offset, encode(tombstone), read),
            DiskFault::kNone);
}

TEST(VerifyRecord, D16_TheRightPlaceWithAnotherBlockIsRefused) {
  const test::ExampleStore store = test::example_store();
  const DiskRecord& record = store.records[1];
  const Slot slot = encode(record);
  DiskRecord read;
  ASSERT_TRUE(verify_record(store.segment, expect(record), slot, store.payloads[1], read).is_ok());
  const std::vector<std::function<void(ExpectedRecord&)>> changes = {
      [](ExpectedRecord& e) { --e.sequence; },
      [](ExpectedRecord& e) { e.key.words[3] ^= 1; },
      [](ExpectedRecord& e) { e.space.words[0] ^= 1; },
      [](ExpectedRecord& e) { e.tenant.words[2] ^= 1; },
      [](ExpectedRecord& e) { e.payload_offset -= 4096; },
      [](ExpectedRecord& e) { --e.payload_bytes; },
      [](ExpectedRecord& e) { ++e.block_bytes; },
      [](ExpectedRecord& e) { e.header_bytes -= 16; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ExpectedRecord expected = expect(record);
    changes[i](expected);
    EXPECT_EQ(verify_record(store.segment, expected, slot, store.payloads[1], read).fault,
              DiskFault::kOtherBlock)
        << "change " << i;
  }
}

// A reader that has all the bytes that the index names knows that a longer one is damage, not a short read.
TEST(VerifyRecord, ADamagedLengthIsNoShortRead) {
  const test::ExampleStore store = test::example_store();
  Slot slot = encode(store.records[1]);
  slot[offsetof(FormatPrefix, bytes) + 1] ^= std::byte{4};
  DiskRecord read;
  const std::span<const std::byte> header = std::span(slot).first(store.records[1].header_bytes());
  EXPECT_EQ(verify_header(store.segment, expect(store.records[1]), header, read), DiskFault::kHeaderDamaged);
  EXPECT_EQ(verify_header(store.segment, expect(store.records[1]), header.first(415), read),
            DiskFault::kTruncated);
}

TEST(VerifyRecord, D01_AShortReadIsNeverTheBlock) {
  const test::ExampleStore store = test::example_store();
  const Slot slot = encode(store.records[1]);
  DiskRecord read;
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, store.payloads[1].size() - 1}) {
    const DiskVerdict verdict = verify_record(store.segment, expect(store.records[1]), slot,
                                              std::span(store.payloads[1]).first(bytes), read);
    EXPECT_EQ(verdict.fault, DiskFault::kTruncated);
    EXPECT_EQ(verdict.expected, store.payloads[1].size());
    EXPECT_EQ(verdict.found, bytes);
  }
  std::vector<std::byte> half_read = store.payloads[1];
  std::fill(half_read.begin() + 4096, half_read.end(), std::byte{0xee});
  const DiskVerdict verdict = verify_record(store.segment, expect(store.records[1]), slot, half_read, read);
  EXPECT_EQ(verdict.fault, DiskFault::kPayloadDamaged);
  EXPECT_EQ(verdict.part, 0U);
  EXPECT_EQ(verdict.sum, 1U);
}

}  // namespace
}  // namespace kvtier
