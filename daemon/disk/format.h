#pragma once
// What is on disk, byte by byte (FORMAT.md). Little-endian, fixed width, offsets and never pointers. This file,
// FORMAT.md and the golden file change together, with kFormatVersion: tests/unit/disk/layout_test.cc.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "libkvclient/base/digest.h"

namespace kvtier {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

inline constexpr std::uint32_t kFormatVersion = 1;

constexpr std::uint64_t format_magic(const char (&text)[9]) {
  std::uint64_t magic = 0;
  for (int i = 7; i >= 0; --i) magic = magic << 8 | static_cast<unsigned char>(text[i]);
  return magic;
}
inline constexpr std::uint64_t kSuperblockMagic = format_magic("KVTSUPER");
inline constexpr std::uint64_t kSegmentMagic = format_magic("KVTSEGMT");
inline constexpr std::uint64_t kRecordMagic = format_magic("KVTBLOCK");
inline constexpr std::uint64_t kTrailerMagic = format_magic("KVTINDEX");

inline constexpr std::uint32_t kSectorBytes = 512;  ///< the most that a disk writes all or nothing of
inline constexpr std::uint32_t kHeaderBytesMax = 4096;
inline constexpr std::uint32_t kSuperblockCopies = 4;
inline constexpr std::uint64_t kSuperblockStrideBytes = 256ULL * 1024;
inline constexpr std::uint64_t kSegmentsOffset = kSuperblockCopies * kSuperblockStrideBytes;
inline constexpr std::uint32_t kAlignmentMin = 4096;
inline constexpr std::uint32_t kAlignmentMax = 65536;
inline constexpr std::uint64_t kSegmentBytesMax = 1ULL << 36;
inline constexpr std::uint32_t kPathsMax = 64;
inline constexpr std::uint32_t kGroupRecordsMax = 64;
inline constexpr std::uint32_t kRecordPartsMax = 16;
inline constexpr unsigned kSequenceCountBits = 40;  ///< of a sequence number; above them is the epoch

/// How every structure with a checksum begins, in this and all later versions.
struct FormatPrefix {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t bytes;     ///< of the structure, this prefix included; a multiple of 8
  std::uint64_t checksum;  ///< of all `bytes` but this field (format_seal.h)
};
static_assert(sizeof(FormatPrefix) == 24 && offsetof(FormatPrefix, checksum) == 16);

/// Random, made with the store. Clients are never told it: who knows it could forge a record in a payload.
struct StoreId {
  std::array<std::uint64_t, 2> words;
  friend bool operator==(const StoreId&, const StoreId&) = default;
};
static_assert(sizeof(StoreId) == 16);

/// One use of one segment. Two uses never share (generation, epoch).
struct SegmentIdentity {
  StoreId store;
  std::uint32_t path;
  std::uint32_t segment;     ///< position on the path
  std::uint64_t generation;  ///< counts the segments opened, over the whole store
  std::uint64_t epoch;       ///< the daemon's start in which it was opened
  friend bool operator==(const SegmentIdentity&, const SegmentIdentity&) = default;
};
static_assert(sizeof(SegmentIdentity) == 40);

struct Superblock {
  FormatPrefix prefix;
  StoreId store;
  std::uint64_t revision;  ///< rises with each update; the highest intact copy counts
  std::uint32_t copy;
  std::uint32_t path;
  std::uint32_t path_count;
  std::uint32_t alignment;
  std::uint64_t segment_bytes;
  std::uint64_t segment_count;
  std::uint64_t created_ns;    ///< since 1970
  std::uint64_t epoch;         ///< of the last start
  std::uint64_t closed_epoch;  ///< of the last start that ended cleanly: equal means that nothing is open
  std::uint64_t home_fsid;     ///< where the file was made: a copy elsewhere needs an identity of its own
  std::uint64_t home_inode;
  std::uint64_t given_up;       ///< a bit for each path that is no longer the store's
  std::uint64_t home_birth_ns;  ///< when the file was made, since 1970; 0: its file system did not say
  std::array<std::byte, 376> reserved;
};
static_assert(sizeof(Superblock) == kSectorBytes && offsetof(Superblock, segment_bytes) == 64);
static_assert(offsetof(Superblock, reserved) == 136 && std::is_trivially_copyable_v<Superblock>);

struct SegmentHeader {
  FormatPrefix prefix;
  SegmentIdentity identity;
  std::uint64_t segment_bytes;
  std::uint32_t alignment;
  std::uint32_t reserved0;
  std::uint64_t created_ns;
  std::array<std::byte, 424> reserved;
};
static_assert(sizeof(SegmentHeader) == kSectorBytes && offsetof(SegmentHeader, reserved) == 88);
static_assert(std::is_trivially_copyable_v<SegmentHeader>);

enum class RecordKind : std::uint8_t {
  kBlock = 1,
  kTombstone = 2,     ///< voids older records of one key
  kInvalidation = 3,  ///< voids older records of a space, or of a whole namespace (space zero)
};

/// Followed by part_count RecordPart, then sum_count LayerSum.
struct RecordHeader {
  FormatPrefix prefix;
  SegmentIdentity identity;
  std::uint64_t offset;    ///< its own, in the segment
  std::uint64_t sequence;  ///< of this write: epoch, then a count; never twice in a store
  std::uint64_t born;      ///< block: the sequence number at its commit; else: records born before are void
  Digest tenant;           ///< namespace_digest(), since ids change over restarts
  Digest space;
  Key key;
  Key parent;                    ///< zero: none
  std::uint64_t payload_offset;  ///< in the segment
  std::uint64_t payload_bytes;   ///< as stored, without the padding
  std::uint64_t block_bytes;     ///< as the spec says
  std::uint64_t created_ns;
  Digest sidecar;  ///< of a codec's tables outside the block; zero: none
  RecordKind kind;
  std::uint8_t reserved0;
  std::uint16_t part_count;
  std::uint16_t sum_count;
  std::uint16_t group_index;
  std::uint16_t group_count;
  std::uint16_t reserved1;
  std::uint32_t header_stride;  ///< bytes from one header of the group to the next
  std::uint64_t group_bytes;    ///< headers and payloads: the next group follows
};
static_assert(sizeof(RecordHeader) == 304 && offsetof(RecordHeader, tenant) == 88);
static_assert(offsetof(RecordHeader, payload_offset) == 216 && offsetof(RecordHeader, kind) == 280);
static_assert(std::is_trivially_copyable_v<RecordHeader>);

struct RecordPart {
  std::uint32_t offset;  ///< in the payload
  std::uint32_t bytes;   ///< as stored
  std::uint32_t raw_bytes;
  std::uint16_t codec;  ///< 0: raw
  std::uint16_t codec_version;
  std::uint64_t raw_checksum;  ///< of the decoded bytes; 0 for raw parts
  std::uint16_t sum_first;
  std::uint16_t sum_count;
  std::uint32_t reserved;
};
static_assert(sizeof(RecordPart) == 32 && std::is_trivially_copyable_v<RecordPart>);

/// The checksum of one layer of one part, or of a few layers that follow each other.
struct LayerSum {
  std::uint64_t checksum;
  std::uint32_t bytes;
  std::uint32_t layers;
};
static_assert(sizeof(LayerSum) == 16 && std::is_trivially_copyable_v<LayerSum>);

inline constexpr std::uint32_t kRecordSumsMax =
    (kHeaderBytesMax - sizeof(RecordHeader) - sizeof(RecordPart)) / sizeof(LayerSum);

/// Whose blocks an index has: entries name one by its position.
struct IndexScope {
  Digest tenant;
  Digest space;
  friend bool operator==(const IndexScope&, const IndexScope&) = default;
};
static_assert(sizeof(IndexScope) == 64);

struct IndexEntry {
  Key key;
  Key parent;
  std::uint64_t sequence;
  std::uint64_t born;
  std::uint32_t header_sector;  ///< offset in the segment, in sectors
  std::uint32_t payload_sector;
  std::uint32_t payload_bytes;
  std::uint32_t block_bytes;
  std::uint32_t header_bytes;
  std::uint32_t scope;
  RecordKind kind;
  std::array<std::byte, 7> reserved;
  std::uint64_t created_ns;
};
static_assert(sizeof(IndexEntry) == 120 && offsetof(IndexEntry, kind) == 104);
static_assert(std::is_trivially_copyable_v<IndexEntry>);

/// First sector of a sealed segment's last alignment unit; the index lies before that unit.
struct SegmentTrailer {
  FormatPrefix prefix;
  SegmentIdentity identity;
  std::uint64_t offset;  ///< its own, in the segment
  std::uint64_t index_offset;
  std::uint64_t index_bytes;
  std::uint64_t index_checksum;
  std::uint32_t scope_count;
  std::uint32_t entry_count;
  std::uint64_t data_end;  ///< where the last group ends
  std::uint64_t sealed_epoch;
  std::uint64_t sealed_ns;
  std::array<std::byte, 384> reserved;
};
static_assert(sizeof(SegmentTrailer) == kSectorBytes && offsetof(SegmentTrailer, reserved) == 128);
static_assert(std::is_trivially_copyable_v<SegmentTrailer>);

}  // namespace kvtier
