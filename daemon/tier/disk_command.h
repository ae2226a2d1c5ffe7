#pragma once
// What the conductor and the agent of the NVMe tier tell each other: data, in bounded mailboxes (DiskChannel), in order.
// The conductor speaks of its own ids; the agent knows the digests that last over restarts. DESIGN 5.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/disk/disk_event.h"
#include "daemon/disk/disk_types.h"
#include "daemon/disk/reclaim_answer.h"
#include "daemon/model/ids.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

/// What a space is called on disk. Made once, shared by conductor and agent, never changed.
struct DiskSpace {
  NamespaceId tenant = NamespaceId::kNone;
  SpaceId space = SpaceId::kNone;
  std::string namespace_name;
  std::vector<std::byte> encoding;  ///< of the spec
  Digest digest{};                  ///< of the space
  std::uint64_t block_bytes = 0;
};

enum class DiskCommandKind : std::uint8_t {
  kSlabAdd,  ///< slab, data, bytes: memory that later commands may name. Registered with the ring where that works
  kSlabRemove,  ///< slab: answered by kSlabRemoved, after which nothing of the agent touches it. No put or get is open there
  kSpace,  ///< described: before the first command that names the space. Kept on disk before its first put
  kOpen,   ///< all spaces of before are known: the store recovers. Entries follow, then kReady
  kPut,    ///< tag, tenant, space, key, parent, slab, data; answered by kPut
  kGet,    ///< tag, tenant, space, key, locator, slab, data, deadline_ns; answered by kGet
  kFlush,  ///< tag; answered by kFlushed
  kMark,  ///< tag, tenant, space (kNone: the namespace), key (zero: the space): what is put before is void; kMarked
  kForget,  ///< locator: nobody names it any more. No answer; may overtake other commands, and waits for none
  kAnswer,  ///< tag, answer: to that kQuestion
  kVerify,  ///< tag: the scrub begins, and ends one that runs; what is bad comes as kDropped, the rest is in the snapshot
  kVerifyStop,  ///< tag: of that scrub
  kClose,       ///< seals and notes the clean end; kClosed
};

struct DiskCommand {
  DiskCommandKind kind = DiskCommandKind::kFlush;
  /// kPut, kGet: those since the last end go together: a prefix is laid out and read in one piece. At most kDiskGroupMax.
  bool is_group_end = true;
  ReclaimAnswer answer = ReclaimAnswer::kDead;
  NamespaceId tenant = NamespaceId::kNone;
  SpaceId space = SpaceId::kNone;
  SlabIndex slab = SlabIndex::kNone;
  std::uint64_t tag = 0;  ///< the conductor's, given back: a block's id, or any number
  Key key{};
  Key parent{};
  DiskLocator locator{};
  std::byte* data =
      nullptr;  ///< the slot; as large as the space's slots. The agent's until the answer, or kReleased
  std::uint64_t bytes = 0;  ///< kSlabAdd
  TimeNs deadline_ns = kNever;
  std::shared_ptr<const DiskSpace> described;
};

/// Puts or gets that the agent hands to the store in one call.
inline constexpr std::size_t kDiskGroupMax = 64;
/// Commands under way in the mailbox; a sender that finds it full keeps its command.
inline constexpr std::size_t kDiskCommandsMax = 2048;
inline constexpr std::size_t kDiskForgetsMax = 2048;
inline constexpr std::size_t kDiskNewsMax = 4096;

enum class DiskNewsKind : std::uint8_t {
  kSlabRemoved,
  kEntry,  ///< recovery: tenant, space, key, parent, locator. Of two with one key the later one counts
  kReady,
  kRefused,   ///< the tier stays shut: status says why. Everything else goes on without it
  kPut,       ///< tag, code, locator, is_held
  kGet,       ///< tag, code, fault, is_held; is_dropped: the copy is gone, forget it
  kReleased,  ///< tag: the slot of an answer with is_held is the conductor's again
  kFlushed,   ///< tag; one of the agent's own that failed comes too, with a tag of nobody's
  kMarked,
  kQuestion,  ///< reclaim: is this copy wanted? tag, tenant, space, key, locator. kAnswer is due
  kMoved,  ///< reclaim: key's copy at `old` lies at `locator` now; who does not name `old` any more forgets `locator`
  kDropped,  ///< key's copy at `old` goes (reclaim), or is bad (scrub): who names it forgets it. kSystem: could not be read
  kPath,     ///< a path's state is another
  kClosed,
};

struct DiskNews {
  DiskNewsKind kind = DiskNewsKind::kPath;
  Code code = Code::kOk;
  DiskFault fault = DiskFault::kNone;
  bool is_held = false;
  bool is_dropped = false;
  bool is_over_budget = false;              ///< kPut, with kNoSpace: refused by the write budget
  NamespaceId tenant = NamespaceId::kNone;  ///< kNone: of a space that nobody described
  SpaceId space = SpaceId::kNone;
  std::uint64_t tag = 0;
  Key key{};
  Key parent{};
  DiskLocator locator{};
  DiskLocator old{};
};

}  // namespace kvtier
