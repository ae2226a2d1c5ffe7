#pragma once
// The store of FORMAT.md's worked example: fixed, so that its bytes are the golden ones.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/format_superblock.h"
#include "libkvclient/wire/spec.h"

namespace kvtier::test {

struct ExampleStore {
  Superblock superblock{};
  SegmentContext segment;
  std::vector<DiskRecord> records;               ///< a group of two blocks, then a group of one invalidation
  std::vector<std::vector<std::byte>> payloads;  ///< of the two blocks
  std::vector<IndexScope> scopes;
  std::vector<IndexEntry> entries;
  std::uint64_t data_end = 0;
};

Spec example_spec();
ExampleStore example_store();
/// The whole segment: header, groups, payloads, footer.
std::vector<std::byte> encode_example_segment(const ExampleStore& store);

/// The structures that FORMAT.md prints, by the names that it has for them, one after the other in the golden file.
std::vector<std::pair<std::string, std::vector<std::byte>>> example_structures();

}  // namespace kvtier::test
