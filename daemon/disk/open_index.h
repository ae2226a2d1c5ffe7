#pragma once
// The index of a segment that is not sealed yet, in memory until its footer is written. Fixed in size.

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/store_options.h"

namespace kvtier {

class OpenIndex {
 public:
  OpenIndex();

  void clear();
  /// What its footer would take with these records too; 0: they do not fit into an index.
  [[nodiscard]] std::uint64_t footer_bytes_with(const SegmentGeometry& geometry,
                                                std::span<const DiskRecord> records) const;
  /// Of a placed record, which footer_bytes_with() found room for. Its position. In the order of offsets.
  std::uint32_t add(const DiskRecord& record);
  /// Its write failed: the footer will not name it.
  void drop(std::uint32_t position) { entries_[position].scope = kDropped; }
  /// Closes up what dropped entries left: no position is valid after it.
  void compact();

  [[nodiscard]] const IndexEntry& entry(std::uint32_t position) const { return entries_[position]; }
  [[nodiscard]] std::span<const IndexScope> scopes() const { return scopes_; }
  [[nodiscard]] std::span<const IndexEntry> entries() const { return entries_; }

 private:
  static constexpr std::uint32_t kDropped = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t find(const IndexScope& scope) const;

  std::vector<IndexScope> scopes_;
  std::vector<IndexEntry> entries_;
};

}  // namespace kvtier
