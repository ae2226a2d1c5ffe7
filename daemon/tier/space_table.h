#pragma once
// Between the conductor's ids and the digests on disk, both ways, with what a block of each space looks like in a record.
//
// Thread: the agent's. Memory is taken when a space is described, never by a look-up.

#include <memory>
#include <unordered_map>
#include <vector>

#include "daemon/disk/format_record.h"
#include "daemon/tier/disk_command.h"

namespace kvtier {

struct SpaceEntry {
  std::shared_ptr<const DiskSpace> described;
  Digest tenant{};                ///< of the namespace's name
  DiskRecord shape{};             ///< of a record: parts and sums, uncoded
  std::vector<std::byte> record;  ///< for the catalog
  bool is_kept = false;           ///< by the catalog
  TimeNs keep_again_ns = 0;       ///< not tried before: it failed
};

class SpaceTable {
 public:
  /// kInvalid: the spec cannot be decoded, or has no raw layout. Of ids that were described before the later description
  /// counts; the earlier one stays in memory, for puts under way point into it.
  Status describe(const std::shared_ptr<const DiskSpace>& space, bool is_kept);

  [[nodiscard]] SpaceEntry* find(NamespaceId tenant, SpaceId space);
  [[nodiscard]] const SpaceEntry* find(const Digest& tenant, const Digest& space) const;
  /// Of the namespace of a space that was described; zero: of none.
  [[nodiscard]] Digest tenant_digest(NamespaceId tenant) const;

 private:
  struct Digests {
    Digest tenant{};
    Digest space{};
    friend bool operator==(const Digests&, const Digests&) = default;
  };
  struct DigestsHash {
    // They are SHA-256: any word is as good as a hash.
    std::size_t operator()(const Digests& digests) const {
      return digests.tenant.words[0] ^ digests.space.words[1];
    }
  };

  std::vector<std::unique_ptr<SpaceEntry>> entries_;
  std::unordered_map<std::uint64_t, SpaceEntry*> by_ids_;
  std::unordered_map<Digests, SpaceEntry*, DigestsHash> by_digests_;
  std::unordered_map<std::uint32_t, Digest> tenants_;
};

}  // namespace kvtier
