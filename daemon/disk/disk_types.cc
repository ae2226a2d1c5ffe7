#include "daemon/disk/disk_types.h"

#include "libkvclient/base/check.h"

namespace kvtier {

DiskLocator make_locator(const SegmentIdentity& identity, const IndexEntry& entry) {
  KV_CHECK(identity.path < kPathsMax && identity.generation < 1ULL << 48 &&
               entry.header_bytes >= DiskLocator::kHeaderBaseBytes && entry.header_bytes <= kHeaderBytesMax,
           "a record's place fits its locator");
  const std::uint64_t units =
      (entry.header_bytes - DiskLocator::kHeaderBaseBytes) / DiskLocator::kHeaderUnitBytes;
  return {.sequence = entry.sequence,
          .use = identity.generation << 16 | units << 8 | identity.path,
          .segment = identity.segment,
          .header_sector = entry.header_sector,
          .payload_sector = entry.payload_sector,
          .payload_bytes = entry.payload_bytes};
}

ExpectedRecord expect(const DiskLocator& locator, const DiskKey& key, std::uint64_t block_bytes) {
  return {.offset = locator.header_offset(),
          .sequence = locator.sequence,
          .tenant = key.tenant,
          .space = key.space,
          .key = key.key,
          .payload_offset = locator.payload_offset(),
          .payload_bytes = locator.payload_bytes,
          .block_bytes = block_bytes,
          .header_bytes = locator.header_bytes()};
}

}  // namespace kvtier
