#include "daemon/disk/format_superblock.h"

#include <cstring>

#include "daemon/disk/format_geometry.h"
#include "daemon/disk/format_seal.h"

namespace kvtier {
namespace {

bool has_valid_paths(const Superblock& block) {
  if (block.path >= block.path_count || block.path_count > kPathsMax) return false;
  const bool is_of_paths = block.path_count == kPathsMax || block.given_up >> block.path_count == 0;
  return is_of_paths && !is_given_up(block, block.path);
}

bool is_valid(const Superblock& block) {
  return is_valid_geometry({block.segment_bytes, block.alignment}) && has_valid_paths(block) &&
         block.segment_count != 0 && block.revision != 0 && block.closed_epoch <= block.epoch &&
         block.store != StoreId{} && is_all_zero(block.reserved);
}

}  // namespace

SuperblockBytes encode_superblock(const Superblock& superblock, std::uint32_t copy) {
  KV_CHECK(is_valid(superblock) && copy < kSuperblockCopies, "only a valid superblock is written");
  Superblock block = superblock;
  block.copy = copy;
  SuperblockBytes bytes;
  std::memcpy(bytes.data(), &block, sizeof block);
  seal(kSuperblockMagic, bytes);
  return bytes;
}

DiskFault verify_superblock(std::span<const std::byte> bytes, std::uint32_t copy, Superblock& out) {
  const DiskFault fault = copy_sealed(kSuperblockMagic, bytes, out);
  if (fault != DiskFault::kNone) return fault;
  if (out.copy != copy) return DiskFault::kMisplaced;
  return is_valid(out) ? DiskFault::kNone : DiskFault::kMalformed;
}

}  // namespace kvtier
