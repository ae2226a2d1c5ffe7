#pragma once
// What an administrator asks of the store. Every call is a bounded piece of work on the conductor's thread:
// lists come in pages with a cursor, long jobs as steps. Read-only unless the name is a verb that changes.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/flow/admin_types.h"
#include "libkvclient/base/result.h"

namespace kvtier {

class StoreAdmin {
 public:
  StoreAdmin() = default;
  StoreAdmin(const StoreAdmin&) = delete;
  StoreAdmin& operator=(const StoreAdmin&) = delete;
  virtual ~StoreAdmin() = default;

  virtual std::vector<NamespaceView> namespaces() = 0;
  virtual std::vector<SpaceView> spaces() = 0;
  /// What clients() and complaints() say of leases was counted by a census of all pin tables. Asks for one that
  /// begins now or later: its number.
  virtual std::uint64_t leases_ask() = 0;
  /// A bounded step of the census. True: the one with this number is complete.
  virtual bool leases_count(std::uint64_t round) = 0;
  virtual std::vector<ClientView> clients() = 0;
  virtual Page<BlockView> blocks(const BlockFilter& filter, std::uint64_t cursor, std::uint32_t limit) = 0;
  /// Blocks with this key (several spaces may have it), or whose key begins with these 4 digits or more. A
  /// whole key is looked up in the index, so that draining and quarantined blocks are not found by it; a
  /// beginning is searched in the table, page by page.
  virtual Page<BlockView> inspect(std::string_view prefix_hex, std::uint64_t cursor, std::uint32_t limit) = 0;
  /// The forest of one namespace, in depth-first order: at most `limit` folded nodes from `cursor`.
  virtual TreePage tree(const BlockFilter& filter, const TreeCursor& cursor, std::uint32_t limit) = 0;
  /// Evicts leaf first, leased and pinned blocks excepted. A step of about `work_max`: a block that is looked
  /// at counts 1, one that is evicted or whose holders are looked for kEvictionWork.
  virtual EvictReport evict(const EvictTarget& target, const EvictCursor& from, std::uint32_t work_max) = 0;
  /// Puts blocks that are not on disk there, and behind an fdatasync (sync.h). 0: begins one; else looks at it, and with
  /// is_over for the last time. kBusy, kNotFound.
  virtual Result<SyncView> sync(const BlockFilter& filter, std::uint64_t number) = 0;
  /// Ends sessions by force; their memory is the process's until it exits, or resumes. kNotFound: no such session
  /// or pid; kInvalid: the number is both, of two processes.
  virtual Status kick(const KickTarget& target) = 0;
  /// "ok", or "degraded" with what is wrong and who causes it.
  virtual std::vector<std::string> complaints() = 0;
};

}  // namespace kvtier
