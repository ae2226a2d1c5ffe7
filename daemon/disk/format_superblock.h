#pragma once
// The superblock: kSuperblockCopies copies, kSuperblockStrideBytes apart, at the start of a path's file. An update
// writes copies 0 and 1, flushes, writes 2 and 3, flushes: at any moment two copies are whole.

#include <array>
#include <cstddef>
#include <span>

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"
#include "libkvclient/base/result.h"

namespace kvtier {

using SuperblockBytes = std::array<std::byte, sizeof(Superblock)>;
/// What was read at each copy's place; shorter where the file is.
using SuperblockCopies = std::array<std::span<const std::byte>, kSuperblockCopies>;

/// One copy's bytes. `superblock` must be valid.
SuperblockBytes encode_superblock(const Superblock& superblock, std::uint32_t copy);

/// The store was told to do without that path.
constexpr bool is_given_up(const Superblock& superblock, std::uint32_t path) {
  return path < kPathsMax && (superblock.given_up >> path & 1) != 0;
}

DiskFault verify_superblock(std::span<const std::byte> bytes, std::uint32_t copy, Superblock& out);

struct SuperblockChoice {
  bool is_new = false;  ///< nothing was ever written: a store may be made here
  Superblock superblock{};
  std::array<DiskFault, kSuperblockCopies> faults{};
  bool needs_repair = false;  ///< some copies are damaged or older: write all of them
};

/// The newest intact copy. A refusal says what was found and what to do, and means: write nothing.
/// kVersion: another format version. kInvalid: not a store, or copies of different stores. kCorrupt: no intact copy.
Result<SuperblockChoice> choose_superblock(const SuperblockCopies& copies);

}  // namespace kvtier
