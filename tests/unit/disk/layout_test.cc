// format.h, FORMAT.md and the golden file change together. Each struct's fields lie without a gap, are the rows of
// the document's table, and the example's bytes are the document's and the golden file's.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "daemon/disk/format_fault.h"
#include "daemon/disk/format_geometry.h"
#include "daemon/disk/format_recovery.h"
#include "tests/unit/disk/example_store.h"
#include "tests/unit/disk/format_document.h"

namespace kvtier {
namespace {

#define KV_FIELD(type, name) \
  { #name, offsetof(type, name), sizeof(type::name) }

struct Field {
  std::string name;
  std::size_t offset;
  std::size_t bytes;
};
struct Layout {
  std::string name;
  std::size_t bytes;
  std::vector<Field> fields;
};

std::vector<Layout> layouts() {
  using A = FormatPrefix;
  using B = SegmentIdentity;
  using C = Superblock;
  using D = SegmentHeader;
  using E = RecordHeader;
  using F = RecordPart;
  using G = LayerSum;
  using H = IndexScope;
  using I = IndexEntry;
  using J = SegmentTrailer;
  return {
      {"FormatPrefix",
       sizeof(A),
       {KV_FIELD(A, magic), KV_FIELD(A, version), KV_FIELD(A, bytes), KV_FIELD(A, checksum)}},
      {"SegmentIdentity",
       sizeof(B),
       {KV_FIELD(B, store), KV_FIELD(B, path), KV_FIELD(B, segment), KV_FIELD(B, generation),
        KV_FIELD(B, epoch)}},
      {"Superblock",
       sizeof(C),
       {KV_FIELD(C, prefix), KV_FIELD(C, store), KV_FIELD(C, revision), KV_FIELD(C, copy), KV_FIELD(C, path),
        KV_FIELD(C, path_count), KV_FIELD(C, alignment), KV_FIELD(C, segment_bytes),
        KV_FIELD(C, segment_count), KV_FIELD(C, created_ns), KV_FIELD(C, epoch), KV_FIELD(C, closed_epoch),
        KV_FIELD(C, home_fsid), KV_FIELD(C, home_inode), KV_FIELD(C, given_up), KV_FIELD(C, home_birth_ns),
        KV_FIELD(C, reserved)}},
      {"SegmentHeader",
       sizeof(D),
       {KV_FIELD(D, prefix), KV_FIELD(D, identity), KV_FIELD(D, segment_bytes), KV_FIELD(D, alignment),
        KV_FIELD(D, reserved0), KV_FIELD(D, created_ns), KV_FIELD(D, reserved)}},
      {"RecordHeader",
       sizeof(E),
       {KV_FIELD(E, prefix),         KV_FIELD(E, identity),      KV_FIELD(E, offset),
        KV_FIELD(E, sequence),       KV_FIELD(E, born),          KV_FIELD(E, tenant),
        KV_FIELD(E, space),          KV_FIELD(E, key),           KV_FIELD(E, parent),
        KV_FIELD(E, payload_offset), KV_FIELD(E, payload_bytes), KV_FIELD(E, block_bytes),
        KV_FIELD(E, created_ns),     KV_FIELD(E, sidecar),       KV_FIELD(E, kind),
        KV_FIELD(E, reserved0),      KV_FIELD(E, part_count),    KV_FIELD(E, sum_count),
        KV_FIELD(E, group_index),    KV_FIELD(E, group_count),   KV_FIELD(E, reserved1),
        KV_FIELD(E, header_stride),  KV_FIELD(E, group_bytes)}},
      {"RecordPart",
       sizeof(F),
       {KV_FIELD(F, offset), KV_FIELD(F, bytes), KV_FIELD(F, raw_bytes), KV_FIELD(F, codec),
        KV_FIELD(F, codec_version), KV_FIELD(F, raw_checksum), KV_FIELD(F, sum_first), KV_FIELD(F, sum_count),
        KV_FIELD(F, reserved)}},
      {"LayerSum", sizeof(G), {KV_FIELD(G, checksum), KV_FIELD(G, bytes), KV_FIELD(G, layers)}},
      {"IndexScope", sizeof(H), {KV_FIELD(H, tenant), KV_FIELD(H, space)}},
      {"IndexEntry",
       sizeof(I),
       {KV_FIELD(I, key), KV_FIELD(I, parent), KV_FIELD(I, sequence), KV_FIELD(I, born),
        KV_FIELD(I, header_sector), KV_FIELD(I, payload_sector), KV_FIELD(I, payload_bytes),
        KV_FIELD(I, block_bytes), KV_FIELD(I, header_bytes), KV_FIELD(I, scope), KV_FIELD(I, kind),
        KV_FIELD(I, reserved), KV_FIELD(I, created_ns)}},
      {"SegmentTrailer",
       sizeof(J),
       {KV_FIELD(J, prefix), KV_FIELD(J, identity), KV_FIELD(J, offset), KV_FIELD(J, index_offset),
        KV_FIELD(J, index_bytes), KV_FIELD(J, index_checksum), KV_FIELD(J, scope_count),
        KV_FIELD(J, entry_count), KV_FIELD(J, data_end), KV_FIELD(J, sealed_epoch), KV_FIELD(J, sealed_ns),
        KV_FIELD(J, reserved)}},
  };
}

TEST(DiskLayout, FieldsLieWithoutAGapOfWhichNobodySpoke) {
  for (const Layout& layout : layouts()) {
    std::size_t end = 0;
    for (const Field& field : layout.fields) {
      EXPECT_EQ(field.offset, end) << layout.name << "::" << field.name;
      end = field.offset + field.bytes;
    }
    EXPECT_EQ(end, layout.bytes) << layout.name;
  }
}

TEST(DiskLayout, TheDocumentHasEveryField) {
  const test::FormatDocument document;
  for (const Layout& layout : layouts()) {
    const auto& rows = document.table(layout.name + ", " + std::to_string(layout.bytes) + " bytes");
    ASSERT_EQ(rows.size(), layout.fields.size()) << layout.name << ", " << layout.bytes << " bytes";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Field& field = layout.fields[i];
      const test::TableRow expected = {std::to_string(field.offset), std::to_string(field.bytes), field.name};
      EXPECT_EQ(test::TableRow(rows[i].begin(), rows[i].begin() + 3), expected) << layout.name;
    }
  }
}

TEST(DiskLayout, TheDocumentHasEveryConstant) {
  const std::vector<std::pair<std::string, std::uint64_t>> constants = {
      {"kFormatVersion", kFormatVersion},
      {"kSectorBytes", kSectorBytes},
      {"kHeaderBytesMax", kHeaderBytesMax},
      {"kSuperblockCopies", kSuperblockCopies},
      {"kSuperblockStrideBytes", kSuperblockStrideBytes},
      {"kSegmentsOffset", kSegmentsOffset},
      {"kAlignmentMin", kAlignmentMin},
      {"kAlignmentMax", kAlignmentMax},
      {"kSegmentUnitsMin", kSegmentUnitsMin},
      {"kSegmentBytesMax", kSegmentBytesMax},
      {"kPathsMax", kPathsMax},
      {"kGroupRecordsMax", kGroupRecordsMax},
      {"kRecordPartsMax", kRecordPartsMax},
      {"kRecordSumsMax", kRecordSumsMax},
      {"kSequenceCountBits", kSequenceCountBits},
      {"RecordKind::kBlock", static_cast<std::uint64_t>(RecordKind::kBlock)},
      {"RecordKind::kTombstone", static_cast<std::uint64_t>(RecordKind::kTombstone)},
      {"RecordKind::kInvalidation", static_cast<std::uint64_t>(RecordKind::kInvalidation)},
  };
  const test::FormatDocument document;
  const auto& rows = document.table("Constants");
  ASSERT_EQ(rows.size(), constants.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], constants[i].first);
    EXPECT_EQ(rows[i][1], std::to_string(constants[i].second)) << rows[i][0];
  }
}

TEST(DiskLayout, TheDocumentHasEveryFault) {
  const test::FormatDocument document;
  const auto& rows = document.table("Faults");
  ASSERT_EQ(rows.size(), kDiskFaultCount - 1U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], std::to_string(i + 1));
    EXPECT_EQ(rows[i][1], disk_fault_name(static_cast<DiskFault>(i + 1)));
  }
}

TEST(DiskLayout, TheWorkedExampleIsWhatTheCodeWrites) {
  const test::FormatDocument document;
  for (const auto& [name, bytes] : test::example_structures()) {
    std::vector<std::byte> shown = document.dump(name);
    EXPECT_LE(shown.size(), bytes.size()) << name;
    shown.resize(bytes.size());
    EXPECT_EQ(shown, bytes) << "```hex " << name << "\n" << test::format_dump(bytes) << "\n```";
  }
}

// Written anew with KVTIER_WRITE_GOLDEN=1, together with a new kFormatVersion.
TEST(DiskLayout, TheGoldenBytesAreWhatTheCodeWrites) {
  std::string now;
  for (const auto& [name, bytes] : test::example_structures()) {
    now.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  const std::string path = std::string(KVTIER_SOURCE_DIR) + "/tests/unit/disk/golden/disk_v" +
                           std::to_string(kFormatVersion) + ".bin";
  if (std::getenv("KVTIER_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << now;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.is_open()) << path;
  EXPECT_TRUE(now == std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace
}  // namespace kvtier
