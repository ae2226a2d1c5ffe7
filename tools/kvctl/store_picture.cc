#include "tools/kvctl/store_picture.h"

#include <algorithm>
#include <numeric>

namespace kvtier::ctl {
namespace {

/// What is void where `born` is lower: of one space, or of a whole namespace.
using MarkBorn = std::map<std::uint32_t, std::uint64_t>;

struct Marks {
  MarkBorn of_scope;
  std::map<std::array<std::uint64_t, 4>, std::uint64_t> of_tenant;

  explicit Marks(const StorePicture& picture) {
    for (const PictureRecord& record : picture.records) {
      if (record.kind != RecordKind::kInvalidation) continue;
      const IndexScope& scope = picture.scopes[record.scope].digests;
      std::uint64_t& born = scope.space.is_zero() ? of_tenant[scope.tenant.words] : of_scope[record.scope];
      born = std::max(born, record.born);
    }
  }
  [[nodiscard]] std::uint64_t born_of(const StorePicture& picture, std::uint32_t scope) const {
    const auto own = of_scope.find(scope);
    const auto all = of_tenant.find(picture.scopes[scope].digests.tenant.words);
    return std::max(own == of_scope.end() ? 0 : own->second, all == of_tenant.end() ? 0 : all->second);
  }
};

bool is_same_key(const PictureRecord& a, const PictureRecord& b) {
  return a.scope == b.scope && a.key == b.key;
}

// Of one key, in the order of their sequences: the last block that neither its tombstones nor `born` voids.
void choose_live(std::vector<PictureRecord>& records, std::span<const std::uint32_t> same,
                 std::uint64_t born) {
  for (const std::uint32_t at : same) {
    if (records[at].kind == RecordKind::kTombstone) born = std::max(born, records[at].born);
  }
  PictureRecord* live = nullptr;
  for (const std::uint32_t at : same) {
    PictureRecord& record = records[at];
    if (record.kind != RecordKind::kBlock) record.is_live = true;
    if (record.kind == RecordKind::kBlock && record.born >= born) live = &record;
  }
  if (live != nullptr) live->is_live = true;
}

void find_live(StorePicture& picture) {
  std::vector<PictureRecord>& records = picture.records;
  const Marks marks(picture);
  std::vector<std::uint32_t> order(records.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    const PictureRecord& x = records[a];
    const PictureRecord& y = records[b];
    return std::tie(x.scope, x.key.words, x.sequence) < std::tie(y.scope, y.key.words, y.sequence);
  });
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && is_same_key(records[order[begin]], records[order[end]])) ++end;
    choose_live(records, std::span(order).subspan(begin, end - begin),
                marks.born_of(picture, records[order[begin]].scope));
    begin = end;
  }
}

void sum_record(StorePicture& picture, const PictureRecord& record) {
  PictureSegment& segment = picture.paths[record.path].segments[record.segment];
  PictureScope& scope = picture.scopes[record.scope];
  segment.faults.add(record.fault);
  if (record.kind != RecordKind::kBlock) {
    ++segment.marks;
    ++scope.marks;
    return;
  }
  ++segment.blocks;
  ++scope.blocks;
  scope.bytes += record.payload_bytes;
  if (!record.is_live) return;
  ++segment.live_blocks;
  ++scope.live_blocks;
  segment.live_bytes += record.payload_bytes;
  scope.live_bytes += record.payload_bytes;
}

}  // namespace

std::uint64_t FaultCounts::total() const {
  return std::accumulate(counts.begin() + 1, counts.end(), std::uint64_t{0});
}

std::uint32_t StorePicture::scope_of(const Digest& tenant, const Digest& space) {
  std::array<std::uint64_t, 8> key{};
  std::ranges::copy(tenant.words, key.begin());
  std::ranges::copy(space.words, key.begin() + 4);
  const auto [place, is_new] = scope_places_.try_emplace(key, static_cast<std::uint32_t>(scopes.size()));
  if (is_new) scopes.push_back({.digests = {tenant, space}});
  return place->second;
}

void settle_picture(StorePicture& picture) {
  find_live(picture);
  for (const PictureRecord& record : picture.records) sum_record(picture, record);
  for (const PicturePath& path : picture.paths) {
    for (const DiskFault fault : path.superblock.faults) picture.faults.add(fault);
    for (const PictureSegment& segment : path.segments) picture.faults.add(segment.faults);
  }
}

}  // namespace kvtier::ctl
