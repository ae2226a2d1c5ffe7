#pragma once
// What an administrator asks of the store. Every call is a bounded piece of work on the conductor's thread:
// lists come in pages with a cursor, long jobs as steps. Read-only unless the name is a verb that changes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/ids.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

struct BlockView {
  std::string namespace_name;
  SpaceId space = SpaceId::kNone;
  Key key{};
  Key parent{};       ///< all zero: none resident
  std::string state;  ///< writing, ready, draining
  std::uint64_t bytes = 0;
  std::uint32_t depth = 0;  ///< resident ancestors
  std::uint32_t children = 0;
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
  std::uint64_t bytes = 0;      ///< of the slabs assigned to it
  std::uint64_t bytes_max = 0;  ///< 0: no limit of its own
  std::uint64_t slabs = 0;
  std::uint64_t directory_entries = 0;
  std::uint64_t directory_capacity = 0;
  std::uint32_t sessions = 0;
};

struct ClientView {
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;
  std::string namespace_name;
  std::string name;
  std::string version;
  std::string state;  ///< attached, zombie, adopted
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  bool is_read_only = false;
  std::uint64_t leased_blocks = 0;  ///< from the pin tables; counted when asked for
  std::uint64_t leased_bytes = 0;
  std::uint64_t writing_blocks = 0;
  std::uint64_t slabs_lent = 0;
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
  std::uint32_t branches = 0;  ///< children of the last block
  std::uint64_t hits = 0;
  std::uint64_t age_ms = 0;  ///< of the first block
};

struct EvictReport {
  std::uint64_t evicted = 0;
  std::uint64_t kept_leased = 0;
  std::uint64_t kept_pinned = 0;
  std::uint64_t kept_writing = 0;
  std::optional<std::uint64_t> next;  ///< call again with this cursor until empty
};

class StoreAdmin {
 public:
  StoreAdmin() = default;
  StoreAdmin(const StoreAdmin&) = delete;
  StoreAdmin& operator=(const StoreAdmin&) = delete;
  virtual ~StoreAdmin() = default;

  virtual std::vector<NamespaceView> namespaces() = 0;
  virtual std::vector<SpaceView> spaces() = 0;
  /// `count_leases`: scans each client's pin tables (bounded by slots in use; for `kvctl clients`, not for a
  /// loop).
  virtual std::vector<ClientView> clients(bool count_leases) = 0;
  virtual Page<BlockView> blocks(const BlockFilter& filter, std::uint64_t cursor, std::uint32_t limit) = 0;
  /// Every block with this key (several spaces may have it); `prefix_hex` of at least 4 digits finds by
  /// beginning.
  virtual std::vector<BlockView> inspect(std::string_view prefix_hex) = 0;
  /// The forest of one namespace, in depth-first order. At most `limit` folded nodes from `cursor`.
  virtual Page<TreeNode> tree(std::string_view namespace_name, SpaceId space, std::uint64_t cursor,
                              std::uint32_t limit) = 0;
  /// Evicts blocks that match, leaf first, leased and pinned ones excepted. A step of at most `limit`
  /// records.
  virtual EvictReport evict(const BlockFilter& filter, std::uint64_t cursor, std::uint32_t limit) = 0;
  virtual EvictReport evict_key(std::string_view prefix_hex) = 0;
  /// Ends a session by force; its memory comes back when its process exits. kNotFound: no such session or
  /// pid.
  virtual Status kick(std::uint64_t session_id_or_pid) = 0;
  /// "ok", or "degraded" with what is wrong and who causes it.
  virtual std::vector<std::string> complaints() = 0;
};

}  // namespace kvtier
