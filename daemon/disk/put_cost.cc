#include "daemon/disk/put_cost.h"

#include <algorithm>

#include "libkvclient/base/units.h"

namespace kvtier {

std::uint64_t put_cost_bytes(std::span<const DiskPut> puts, std::uint32_t alignment) {
  std::uint32_t header_bytes = 0;
  std::uint64_t payload_bytes = 0;
  for (const DiskPut& put : puts) {
    header_bytes = std::max(header_bytes, put.shape->header_bytes());
    payload_bytes += round_up(put.shape->header.payload_bytes, alignment);
  }
  const std::uint64_t headers = puts.size() * round_up(header_bytes, kSectorBytes);
  return round_up(headers, alignment) + payload_bytes + puts.size() * sizeof(IndexEntry);
}

}  // namespace kvtier
