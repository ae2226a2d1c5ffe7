#include "daemon/disk/open_index.h"

#include <algorithm>

#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

IndexScope scope_of(const DiskRecord& record) {
  return {record.header.tenant, record.header.space};
}

}  // namespace

OpenIndex::OpenIndex() {
  scopes_.reserve(kScopesMax);
  entries_.reserve(kIndexBytesMax / sizeof(IndexEntry));
}

void OpenIndex::clear() {
  scopes_.clear();
  entries_.clear();
}

std::uint32_t OpenIndex::find(const IndexScope& scope) const {
  return static_cast<std::uint32_t>(std::find(scopes_.begin(), scopes_.end(), scope) - scopes_.begin());
}

std::uint64_t OpenIndex::footer_bytes_with(const SegmentGeometry& geometry,
                                           std::span<const DiskRecord> records) const {
  std::uint64_t scopes = scopes_.size();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const IndexScope scope = scope_of(records[i]);
    const auto is_same = [&](const DiskRecord& other) { return scope_of(other) == scope; };
    const auto before = records.first(i);
    if (find(scope) == scopes_.size() && std::none_of(before.begin(), before.end(), is_same)) ++scopes;
  }
  const std::uint64_t entries = entries_.size() + records.size();
  if (scopes > kScopesMax || index_bytes(scopes, entries) > kIndexBytesMax) return 0;
  return footer_bytes(geometry, scopes, entries);
}

std::uint32_t OpenIndex::add(const DiskRecord& record) {
  const IndexScope scope = scope_of(record);
  const std::uint32_t found = find(scope);
  if (found == scopes_.size()) scopes_.push_back(scope);
  KV_CHECK(scopes_.size() <= kScopesMax && entries_.size() < entries_.capacity(),
           "an index has room for its records");
  entries_.push_back(index_entry(record, found));
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

// Scopes that only dropped records had go too: a trailer has no more scopes than entries.
void OpenIndex::compact() {
  std::erase_if(entries_, [](const IndexEntry& entry) { return entry.scope == kDropped; });
  for (std::uint32_t i = static_cast<std::uint32_t>(scopes_.size()); i-- > 0;) {
    const bool is_used = std::any_of(entries_.begin(), entries_.end(),
                                     [&](const IndexEntry& entry) { return entry.scope == i; });
    if (is_used) continue;
    scopes_.erase(scopes_.begin() + i);
    for (IndexEntry& entry : entries_) entry.scope -= entry.scope > i ? 1 : 0;
  }
}

}  // namespace kvtier
