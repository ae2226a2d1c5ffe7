#include "daemon/disk/format_parts.h"

#include <gtest/gtest.h>

#include "tests/support/pattern_block.h"
#include "tests/unit/disk/example_store.h"

namespace kvtier {
namespace {

Spec spec_of(std::vector<SpecPart> parts) {
  Spec spec = test::example_spec();
  spec.parts = std::move(parts);
  return spec;
}

SpecPart part(const std::string& name, std::uint64_t bytes, std::uint32_t layers) {
  return {name, bytes, 0, layers, 1, 64, "f16", "[layer][k,v][token][head][dim]"};
}

DiskRecord plan(const Spec& spec) {
  DiskRecord record{};
  record.header.kind = RecordKind::kBlock;
  const Status planned = plan_raw_parts(spec, record);
  EXPECT_TRUE(planned.is_ok()) << planned.to_string();
  return record;
}

/// Each part is covered to its last byte by whole layers, all of them.
void expect_covered(const Spec& spec, const DiskRecord& record) {
  ASSERT_EQ(record.header.part_count, spec.parts.size());
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    std::uint64_t bytes = 0;
    std::uint64_t layers = 0;
    for (const LayerSum& sum :
         record.used_sums().subspan(record.parts[i].sum_first, record.parts[i].sum_count)) {
      bytes += sum.bytes;
      layers += sum.layers;
    }
    EXPECT_EQ(bytes, spec.parts[i].bytes) << i;
    EXPECT_EQ(layers, spec.parts[i].layer_count) << i;
    EXPECT_EQ(record.parts[i].offset, spec.part_offset(i)) << i;
  }
  EXPECT_EQ(record.header.payload_bytes, spec.block_bytes());
  EXPECT_LE(record.header_bytes(), kHeaderBytesMax);
}

TEST(DiskParts, OneSumALayer) {
  const Spec spec = spec_of({part("kv", 2 << 20, 64)});
  const DiskRecord record = plan(spec);
  EXPECT_EQ(record.header.sum_count, 64U);
  EXPECT_EQ(record.sums[63].bytes, 32768U);
  EXPECT_EQ(record.header_bytes(), 1360U);
  expect_covered(spec, record);
}

TEST(DiskParts, LayersBelowAPageShareASum) {
  const Spec spec = spec_of({part("kv", 4096, 32), part("swa", 3 * 3000, 3)});
  const DiskRecord record = plan(spec);
  EXPECT_EQ(record.parts[0].sum_count, 1U);
  EXPECT_EQ(record.parts[1].sum_count, 2U);
  EXPECT_EQ(record.sums[1].layers, 2U);
  EXPECT_EQ(record.sums[2].layers, 1U);
  expect_covered(spec, record);
}

TEST(DiskParts, NoMoreSumsThanAHeaderHasRoomFor) {
  const Spec wide = spec_of({part("kv", 235 * 4096, 235)});
  EXPECT_EQ(plan(wide).header.sum_count, kRecordSumsMax);
  const Spec wider = spec_of({part("kv", 236 * 4096, 236)});
  EXPECT_EQ(plan(wider).header.sum_count, 118U);
  expect_covered(wider, plan(wider));
  std::vector<SpecPart> parts;
  for (int i = 0; i < 16; ++i) parts.push_back(part("p" + std::to_string(i), 500ULL * 8192, 500));
  expect_covered(spec_of(parts), plan(spec_of(parts)));
}

TEST(DiskParts, APartThatIsNoMultipleOfItsLayersHasOneSum) {
  const Spec spec = spec_of({part("kv", 100001, 32)});
  EXPECT_EQ(plan(spec).header.sum_count, 1U);
  expect_covered(spec, plan(spec));
}

TEST(DiskParts, AnInvalidSpecIsRefused) {
  DiskRecord record{};
  EXPECT_EQ(plan_raw_parts(spec_of({}), record).code(), Code::kInvalid);
}

class DamagedPayload : public testing::Test {
 protected:
  DamagedPayload() {
    test::fill_pattern(test::pattern_key(3, 4), payload_);
    sum_payload(payload_, record_);
  }

  const Spec spec_ = spec_of({part("kv", 5 * 8192, 5), part("mamba", 1000, 1), part("swa", 2 * 4160, 2)});
  DiskRecord record_ = plan(spec_);
  std::vector<std::byte> payload_ = std::vector<std::byte>(spec_.block_bytes());
};

TEST_F(DamagedPayload, TheFirstLayerThatIsWrongIsNamed) {
  EXPECT_TRUE(verify_payload(record_, payload_).is_ok());
  for (std::uint16_t i = 0; i < record_.header.part_count; ++i) {
    std::uint64_t at = record_.parts[i].offset;
    for (std::uint16_t k = 0; k < record_.parts[i].sum_count; ++k) {
      const auto sum = static_cast<std::uint16_t>(record_.parts[i].sum_first + k);
      for (const std::uint64_t byte : {at, at + record_.sums[sum].bytes - 1}) {
        payload_[byte] ^= std::byte{0x40};
        const DiskVerdict verdict = verify_payload(record_, payload_);
        EXPECT_EQ(verdict.fault, DiskFault::kPayloadDamaged);
        EXPECT_EQ(verdict.part, i);
        EXPECT_EQ(verdict.sum, sum);
        EXPECT_NE(verdict.expected, verdict.found);
        payload_[byte] ^= std::byte{0x40};
      }
      at += record_.sums[sum].bytes;
    }
  }
}

TEST_F(DamagedPayload, LayersAreVerifiedAloneAsTheyCome) {
  const std::span<const std::byte> kv = std::span(payload_).subspan(0, 5 * 8192);
  EXPECT_TRUE(verify_layers(record_, 0, 2, 2, kv.subspan(2 * 8192, 2 * 8192)).is_ok());
  EXPECT_EQ(verify_layers(record_, 0, 2, 2, kv.subspan(8192)).fault, DiskFault::kPayloadDamaged);
  EXPECT_EQ(verify_layers(record_, 0, 2, 2, kv.subspan(2 * 8192, 2 * 8192 - 1)).fault, DiskFault::kTruncated);
  payload_[3 * 8192] ^= std::byte{1};
  EXPECT_TRUE(verify_layers(record_, 0, 2, 1, kv.subspan(2 * 8192)).is_ok());
  EXPECT_EQ(verify_layers(record_, 0, 2, 2, kv.subspan(2 * 8192)).sum, 3U);
}

TEST_F(DamagedPayload, BytesBetweenPartsBelongToNobody) {
  payload_[record_.parts[1].offset + 1000] ^= std::byte{1};
  EXPECT_TRUE(verify_payload(record_, payload_).is_ok());
}

}  // namespace
}  // namespace kvtier
