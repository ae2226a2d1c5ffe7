#include "daemon/disk/format_footer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "daemon/disk/format_order.h"
#include "daemon/disk/format_seal.h"
#include "daemon/disk/format_segment.h"
#include "libkvclient/base/checksum.h"
#include "tests/unit/disk/example_store.h"

namespace kvtier {
namespace {

class Footer : public testing::Test {
 protected:
  [[nodiscard]] std::span<const std::byte> trailer_bytes() const {
    return std::span(segment_).subspan(61440);
  }
  [[nodiscard]] std::span<const std::byte> index() const { return std::span(segment_).subspan(57344, 4096); }
  DiskFault verify() { return verify_trailer(store_.segment, trailer_bytes(), trailer_); }
  /// Verdict on an index whose entries were changed and which was sealed again.
  DiskFault fault_after(const std::function<void(IndexEntry&)>& change, std::uint32_t i) {
    test::ExampleStore store = store_;
    change(store.entries[i]);
    segment_ = test::encode_example_segment(store);
    EXPECT_EQ(verify(), DiskFault::kNone);
    return verify_index(trailer_, index());
  }
  /// Verdict on a trailer that was changed and sealed again.
  DiskFault trailer_fault_after(const std::function<void(SegmentTrailer&)>& change) {
    SegmentTrailer trailer;
    EXPECT_EQ(verify(), DiskFault::kNone);
    trailer = trailer_;
    change(trailer);
    std::vector<std::byte> bytes(kHeaderBytesMax);
    std::memcpy(bytes.data(), &trailer, sizeof trailer);
    seal(kTrailerMagic, std::span(bytes).first(sizeof trailer));
    return verify_trailer(store_.segment, bytes, trailer);
  }

  const test::ExampleStore store_ = test::example_store();
  std::vector<std::byte> segment_ = test::encode_example_segment(store_);
  SegmentTrailer trailer_{};
};

TEST_F(Footer, EveryEntryComesBackAndLeadsToItsRecord) {
  ASSERT_EQ(verify(), DiskFault::kNone);
  ASSERT_EQ(verify_index(trailer_, index()), DiskFault::kNone);
  ASSERT_EQ(trailer_.entry_count, 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const IndexEntry entry = read_entry(trailer_, index(), i);
    EXPECT_EQ(std::memcmp(&entry, &store_.entries[i], sizeof entry), 0);
    const IndexScope scope = read_scope(trailer_, index(), entry.scope);
    EXPECT_EQ(scope, store_.scopes[entry.scope]);
    const ExpectedRecord expected = expect(entry, scope);
    const std::span<const std::byte> payload =
        std::span(segment_).subspan(expected.payload_offset, expected.payload_bytes);
    DiskRecord record;
    EXPECT_TRUE(
        verify_record(store_.segment, expected, std::span(segment_).subspan(expected.offset), payload, record)
            .is_ok())
        << i;
    EXPECT_EQ(record.header.parent, entry.parent);
  }
}

TEST_F(Footer, OrderIsTheSameFromTheIndexAsFromTheHeader) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    const RecordOrder a = order_of(store_.records[i].header);
    const RecordOrder b = order_of(store_.entries[i], store_.scopes[store_.entries[i].scope]);
    EXPECT_TRUE(a.kind == b.kind && a.sequence == b.sequence && a.born == b.born && a.tenant == b.tenant &&
                a.space == b.space && a.key == b.key);
  }
}

TEST_F(Footer, EveryFlippedBitOfItIsFound) {
  ASSERT_EQ(verify(), DiskFault::kNone);
  std::vector<std::byte> bytes(index().begin(), index().end());
  for (std::size_t bit = 0; bit < trailer_.index_bytes * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(verify_index(trailer_, bytes), DiskFault::kIndexDamaged) << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  bytes.assign(trailer_bytes().begin(), trailer_bytes().end());
  for (std::size_t bit = 0; bit < sizeof(SegmentTrailer) * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    SegmentTrailer read;
    EXPECT_EQ(verify_trailer(store_.segment, bytes, read), DiskFault::kHeaderDamaged) << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST_F(Footer, TruncationIsFound) {
  ASSERT_EQ(verify(), DiskFault::kNone);
  EXPECT_EQ(verify_index(trailer_, index().first(trailer_.index_bytes - 1)), DiskFault::kTruncated);
  EXPECT_EQ(verify_trailer(store_.segment, trailer_bytes().first(511), trailer_), DiskFault::kTruncated);
  EXPECT_EQ(verify_trailer(store_.segment, {}, trailer_), DiskFault::kTruncated);
}

TEST_F(Footer, TheTrailerMustBelongHere) {
  EXPECT_EQ(trailer_fault_after([](SegmentTrailer& t) { t.identity.store.words[0] = 3; }),
            DiskFault::kOtherStore);
  EXPECT_EQ(trailer_fault_after([](SegmentTrailer& t) { t.identity.segment = 2; }), DiskFault::kMisplaced);
  EXPECT_EQ(trailer_fault_after([](SegmentTrailer& t) { t.offset -= 4096; }), DiskFault::kMisplaced);
  EXPECT_EQ(trailer_fault_after([](SegmentTrailer& t) { t.identity.generation = 1; }), DiskFault::kNone);
}

TEST_F(Footer, ATrailerThatContradictsItselfIsMalformedAlthoughSealed) {
  const std::vector<std::function<void(SegmentTrailer&)>> changes = {
      [](SegmentTrailer& t) { t.scope_count = 4; },
      [](SegmentTrailer& t) { t.entry_count = ~0U; },
      [](SegmentTrailer& t) { ++t.index_bytes; },
      [](SegmentTrailer& t) { t.index_offset -= 4096; },
      [](SegmentTrailer& t) { t.data_end = 0; },
      [](SegmentTrailer& t) { t.data_end = 61440; },
      [](SegmentTrailer& t) { t.sealed_epoch = 1; },
      [](SegmentTrailer& t) { t.reserved[0] = std::byte{1}; },
      [](SegmentTrailer& t) {
        t.entry_count = 1000, t.index_bytes = index_bytes(2, 1000), t.index_offset = 0;
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(trailer_fault_after(changes[i]), DiskFault::kMalformed) << "change " << i;
  }
}

TEST_F(Footer, AnEntryThatLeadsAstrayIsMalformedAlthoughSealed) {
  const std::vector<std::function<void(IndexEntry&)>> changes = {
      [](IndexEntry& e) { e.scope = 2; },
      [](IndexEntry& e) { e.kind = RecordKind{9}; },
      [](IndexEntry& e) { e.kind = RecordKind::kTombstone; },
      [](IndexEntry& e) { e.reserved[6] = std::byte{1}; },
      [](IndexEntry& e) { e.born = e.sequence + 1; },
      [](IndexEntry& e) { e.sequence = sequence_number(3, 1); },
      [](IndexEntry& e) { e.header_bytes = 303; },
      [](IndexEntry& e) { e.header_bytes = 4097; },
      [](IndexEntry& e) { e.header_sector = 0; },
      [](IndexEntry& e) { e.header_sector = 36864 / 512; },
      [](IndexEntry& e) { e.payload_sector = 36864 / 512; },
      [](IndexEntry& e) { e.payload_sector = ~0U; },
      [](IndexEntry& e) { e.payload_bytes = ~0U; },
      [](IndexEntry& e) { e.payload_bytes = 0; },
      [](IndexEntry& e) { e.block_bytes = 0; },
      [](IndexEntry& e) { e.key = {}; },
  };
  EXPECT_EQ(fault_after([](IndexEntry&) {}, 0), DiskFault::kNone);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    EXPECT_EQ(fault_after(changes[i], 0), DiskFault::kMalformed) << "change " << i;
  }
  EXPECT_EQ(fault_after([](IndexEntry& e) { e.payload_sector = 1; }, 2), DiskFault::kMalformed);
  EXPECT_EQ(fault_after([](IndexEntry& e) { e.payload_bytes = 1; }, 2), DiskFault::kMalformed);
}

TEST_F(Footer, AnEmptySegmentCanBeSealed) {
  std::vector<std::byte> bytes(4096);
  encode_footer(store_.segment, {.data_end = 4096, .sealed_epoch = 5}, bytes);
  SegmentTrailer trailer;
  ASSERT_EQ(verify_trailer(store_.segment, bytes, trailer), DiskFault::kNone);
  EXPECT_EQ(verify_index(trailer, {}), DiskFault::kNone);
  EXPECT_EQ(trailer.entry_count, 0U);
}

TEST(SegmentHeaderTest, TellsItsUseAndMustBelongHere) {
  const test::ExampleStore store = test::example_store();
  const SegmentHeaderBytes bytes = encode_segment_header(store.segment, 99);
  SegmentHeader read{};
  SegmentContext place = store.segment;
  place.identity.generation = 0;
  place.identity.epoch = 0;
  ASSERT_EQ(verify_segment_header(place, bytes, read), DiskFault::kNone);
  EXPECT_EQ(read.identity, store.segment.identity);
  EXPECT_EQ(read.created_ns, 99U);
  place.identity.segment = 2;
  EXPECT_EQ(verify_segment_header(place, bytes, read), DiskFault::kMisplaced);
  place.identity.store = {};
  EXPECT_EQ(verify_segment_header(place, bytes, read), DiskFault::kOtherStore);
  place = store.segment;
  place.geometry.alignment = 8192;
  EXPECT_EQ(verify_segment_header(place, bytes, read), DiskFault::kMalformed);
  place = store.segment;
  place.geometry.segment_bytes *= 2;
  EXPECT_EQ(verify_segment_header(place, bytes, read), DiskFault::kMalformed);
}

}  // namespace
}  // namespace kvtier
