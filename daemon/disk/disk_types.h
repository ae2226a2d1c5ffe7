#pragma once
// What a store of blocks on disk is asked, and how its blocks are named. Trivially copyable, owners of nothing.

#include <cstddef>
#include <cstdint>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/format_order.h"
#include "daemon/disk/format_record.h"
#include "daemon/disk/format_verify.h"
#include "daemon/io/io_types.h"

namespace kvtier {

/// What a block is, for as long as a store lives: ids change over restarts, digests do not.
struct DiskKey {
  Digest tenant{};
  Digest space{};
  Key key{};
  friend bool operator==(const DiskKey&, const DiskKey&) = default;
};

/// Where one copy of a block lies. 32 bytes: a million take 32 MB. All zero: nowhere. A locator whose segment was used
/// anew is stale, and a read of it a miss.
struct DiskLocator {
  std::uint64_t sequence = 0;  ///< of the record; its epoch is the segment's
  std::uint64_t use = 0;       ///< generation << 16, header units << 8, path
  std::uint32_t segment = 0;
  std::uint32_t header_sector = 0;   ///< in the segment
  std::uint32_t payload_sector = 0;  ///< in the segment
  std::uint32_t payload_bytes = 0;   ///< as stored, without padding

  [[nodiscard]] bool is_none() const { return sequence == 0; }
  [[nodiscard]] std::uint32_t path() const { return static_cast<std::uint32_t>(use & 0xff); }
  [[nodiscard]] std::uint32_t header_bytes() const {
    return static_cast<std::uint32_t>(use >> 8 & 0xff) * kHeaderUnitBytes + kHeaderBaseBytes;
  }
  [[nodiscard]] std::uint64_t generation() const { return use >> 16; }
  [[nodiscard]] std::uint64_t epoch() const { return sequence >> kSequenceCountBits; }
  [[nodiscard]] std::uint64_t header_offset() const { return std::uint64_t{header_sector} * kSectorBytes; }
  [[nodiscard]] std::uint64_t payload_offset() const { return std::uint64_t{payload_sector} * kSectorBytes; }
  friend bool operator==(const DiskLocator&, const DiskLocator&) = default;

  /// Headers are a base and units on top (parts and sums): one byte says how many.
  static constexpr std::uint32_t kHeaderBaseBytes = sizeof(RecordHeader);
  static constexpr std::uint32_t kHeaderUnitBytes = sizeof(LayerSum);
};
static_assert(sizeof(DiskLocator) == 32 && std::is_trivially_copyable_v<DiskLocator>);
static_assert(sizeof(RecordPart) % DiskLocator::kHeaderUnitBytes == 0);
static_assert((kHeaderBytesMax - DiskLocator::kHeaderBaseBytes) / DiskLocator::kHeaderUnitBytes < 256);

/// Of a record that lies, or is about to lie, in this use of a segment.
DiskLocator make_locator(const SegmentIdentity& identity, const IndexEntry& entry);
/// What a reader of that copy checks it against.
ExpectedRecord expect(const DiskLocator& locator, const DiskKey& key, std::uint64_t block_bytes);

/// A piece of a host slab, on the ring's table.
struct DiskMemory {
  IoRegion region = IoRegion::kNone;
  std::byte* data = nullptr;   ///< aligned as the path's file
  std::uint64_t capacity = 0;  ///< at least the payload rounded up to the store's alignment
};

/// One block to be written. `memory` and `shape` stay as they are until its event came without is_held, or kReleased.
struct DiskPut {
  DiskKey key;
  Key parent{};
  std::uint64_t born = 0;        ///< DiskStore::stamp() of its commit; 0: of now
  std::uint64_t created_ns = 0;  ///< wall clock
  const DiskRecord* shape =
      nullptr;  ///< parts, sums without checksums and sizes: plan_raw_parts() of its spec
  DiskMemory memory;
  std::uint64_t tag = 0;  ///< the caller's, given back
};

/// One block to be read. `memory` is the store's until its event came without is_held, or kReleased.
struct DiskGet {
  DiskKey key;
  DiskLocator locator;
  std::uint32_t block_bytes = 0;  ///< as its spec says
  DiskMemory memory;
  TimeNs deadline_ns = kNever;
  std::uint64_t tag = 0;
};

/// Voids what was born before it: one key, a space (key zero), or a namespace (space zero too).
struct DiskMark {
  DiskKey key;
  std::uint64_t created_ns = 0;
  std::uint64_t tag = 0;
};

}  // namespace kvtier
