#pragma once
// What an administrator is told: rows, pages, cursors and counts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/flow/sync_job.h"
#include "daemon/model/ids.h"
#include "libkvclient/base/status.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

struct BlockView {
  std::string namespace_name;
  SpaceId space = SpaceId::kNone;
  Key key{};
  Key parent{};       ///< all zero: none resident
  std::string state;  ///< writing, ready, draining, cold
  bool is_on_disk = false;
  std::uint64_t bytes = 0;
  std::uint32_t depth = 0;     ///< resident ancestors, counted up to 16384
  std::uint32_t children = 0;  ///< counted as far
  std::uint32_t hits = 0;
  std::uint64_t age_ms = 0;      ///< since the last access
  std::uint32_t leases = 0;      ///< pins counted now, over all clients
  std::uint32_t writer_pid = 0;  ///< while writing
  std::uint64_t pinned_ms = 0;   ///< remaining time of a pin; 0: none
  SlotRef slot;
  Generation generation = 0;
  std::optional<std::uint64_t> checksum;  ///< none: unsummed
};

struct SpaceView {
  std::string namespace_name;
  SpaceId space = SpaceId::kNone;
  Digest digest{};
  std::string model;
  std::string revision;
  std::string adapter;
  std::uint32_t block_tokens = 0;
  std::uint64_t block_bytes = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t blocks = 0;
  bool is_invalidated = false;
};

struct NamespaceView {
  std::string name;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;       ///< of the slabs assigned to it
  std::uint64_t used_bytes = 0;  ///< of their slots that are not free
  std::uint64_t bytes_max = 0;   ///< 0: no limit of its own
  std::uint64_t slabs = 0;
  std::uint64_t directory_entries = 0;
  std::uint64_t directory_capacity = 0;
  std::uint64_t pinned_bytes = 0;  ///< slots of pinned blocks
  std::uint32_t sessions = 0;
};

struct ClientView {
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;
  std::string namespace_name;
  std::string name;
  std::string version;
  std::string state;  ///< attached, zombie, adopted; closed: all that is left of it are pins
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  bool is_read_only = false;
  std::uint64_t leased_blocks = 0;  ///< by the last census
  std::uint64_t leased_bytes = 0;
  std::uint64_t leased_unpinned_bytes = 0;  ///< of them, those that it has not pinned as well
  std::uint64_t writing_blocks = 0;         ///< without those stocked
  std::uint64_t stocked_blocks =
      0;  ///< slots granted ahead of need: on offer, or taken and not committed yet
  std::uint64_t stocked_bytes = 0;
  std::uint64_t slabs_lent = 0;
  std::uint64_t pinned_blocks = 0;  ///< only in clients(); by others too, perhaps
  std::uint64_t pinned_bytes = 0;
  std::uint64_t connected_ms = 0;
};

/// A page of a list: pass `next` back until it is empty.
template <class View>
struct Page {
  std::vector<View> rows;
  std::optional<std::uint64_t> next;
};

struct BlockFilter {
  std::string namespace_name;      ///< empty: all
  SpaceId space = SpaceId::kNone;  ///< kNone: all
};

/// A node of the prefix tree with chains of only children folded into one.
struct TreeNode {
  Key first{};
  Key last{};
  std::uint32_t blocks = 0;    ///< length of the chain
  std::uint32_t depth = 0;     ///< blocks above it
  std::uint32_t level = 0;     ///< folded nodes above it
  std::uint32_t branches = 0;  ///< children of the last block, counted up to 16384
  std::uint32_t pinned = 0;    ///< of its blocks
  std::uint64_t hits = 0;
  std::uint64_t age_ms = 0;  ///< of the first block
};

/// A block as it was seen. A record that was reused since is another one: slot and generation tell.
struct BlockMark {
  BlockId id = BlockId::kNone;
  SlotRef slot;
  Generation generation = 0;
  friend bool operator==(const BlockMark&, const BlockMark&) = default;
};

/// Where the next page of a tree begins.
struct TreeCursor {
  std::uint64_t record = 0;  ///< where the search for roots goes on
  BlockMark at;  ///< inside a tree; kNone: between two. When it has gone, the rest of its tree is left out
  std::uint32_t depth = 0;
  std::uint32_t level = 0;
  bool is_climbing = false;  ///< everything below `at` was listed
  friend bool operator==(const TreeCursor&, const TreeCursor&) = default;
};

struct TreePage {
  std::vector<TreeNode> rows;
  std::optional<TreeCursor> next;
};

/// Blocks that match, or one key and what hangs below its blocks.
struct EvictTarget {
  BlockFilter filter;
  std::string key_prefix;  ///< hex digits; not empty: the filter counts for nothing
  bool is_disk_too =
      false;  ///< off the disk as well, for good (purge.h); a whole filter goes, whoever holds it
};

inline constexpr std::uint32_t kEvictionWork = 16;

/// Blocks that are there when the eviction is over, each under the first reason that holds.
struct KeptCounts {
  std::uint64_t pinned = 0;
  std::uint64_t leased = 0;
  std::uint64_t writing = 0;
  std::uint64_t parents = 0;  ///< nobody holds them, but blocks below them are there
  std::uint64_t other = 0;  ///< stored since, let go since they were tried, or their checksum is being taken
  std::uint64_t on_disk = 0;  ///< not in memory any more; their copies stay. No part of the total

  [[nodiscard]] std::uint64_t total() const { return pinned + leased + writing + parents + other; }
  void add(const KeptCounts& more) {
    pinned += more.pinned;
    leased += more.leased;
    writing += more.writing;
    parents += more.parents;
    other += more.other;
    on_disk += more.on_disk;
  }
};

struct EvictCounts {
  std::uint64_t evicted = 0;
  std::uint64_t unsaved = 0;  ///< of these, where there is a tier of disks: it had no copy. They are gone
  KeptCounts kept;

  void add(const EvictCounts& more) {
    evicted += more.evicted;
    unsaved += more.unsaved;
    kept.add(more.kept);
  }
};

/// Where the next step of an eviction begins.
struct EvictCursor {
  std::uint64_t position = 0;  ///< the next record, or as admin_find counts
  BlockMark root;              ///< the walk goes below this block; kNone: there is no walk
  BlockMark at;                ///< where the walk is, or the parent that the scan climbs to
  bool is_climbing = false;    ///< everything below `at` was visited
  bool is_counting = false;    ///< the scan is over: a second one counts what stays
  std::uint32_t restarts = 0;  ///< of the walk: `at` had gone
  KeptCounts kept;             ///< by the walk since its last restart
  std::uint64_t purge = 0;     ///< what it waits for on disk; 0: nothing
};

struct EvictReport : EvictCounts {
  std::optional<EvictCursor> next;  ///< call again with this cursor until empty
  Status status;                    ///< with the last one: why what was removed from disk may come back
};

/// Whose sessions end: a process's, or the one with this id.
struct KickTarget {
  enum class Kind : std::uint8_t { kEither, kProcess, kSession };
  std::uint64_t number = 0;
  Kind kind = Kind::kEither;
};

}  // namespace kvtier
