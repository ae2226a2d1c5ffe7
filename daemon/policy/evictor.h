#pragma once
// Which block leaves next. An evictor orders the ready blocks of one slot class; the flow asks for candidates
// from the coldest on and decides (leases, children, slab). No system call, no clock: BlockRecord::access_ms is set
// before insert and access. Thread: the conductor.

#include <string_view>

#include "daemon/model/ids.h"
#include "daemon/policy/use_hint.h"

namespace kvtier {

class Evictor {
 public:
  Evictor() = default;
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;
  virtual ~Evictor() = default;

  /// How many blocks the class has room for. Before the first insert, and whenever it changes.
  virtual void set_capacity(std::uint32_t blocks) = 0;
  /// A block was committed. `parent` is its resident parent in the same class or kNone: a child never
  /// outlives its parent, so it enters colder than it.
  virtual void insert(BlockId block, BlockId parent) = 0;
  /// A block was acquired. A prefix is reported last block first, so that its head ends up hottest.
  virtual void access(BlockId block) = 0;
  /// An adopted block, colder than all that are there: adoption goes from the hottest on.
  virtual void insert_coldest(BlockId block) = 0;
  /// `block` is about to be removed for want of room, not because it is worth nothing: should its key come back soon,
  /// an evictor that learns from that knows it again. Its record still has the key.
  virtual void remember(BlockId block) = 0;
  virtual void remove(BlockId block) = 0;
  /// Told of a block after its last access, at BlockRecord::access_ms or later. A weight, never an order: the next access
  /// voids it. An evictor that does not weigh hints leaves the block where it is.
  virtual void hint(BlockId, UseHint, std::uint32_t /*now_ms*/) {}
  /// The candidate could not leave (leased, pinned, or it has children): look at it again only after the
  /// others.
  virtual void defer(BlockId block) = 0;

  /// What kept a block that was deferred is over. Blocks that the evictor does not have are no matter.
  virtual void released(BlockId) {}
  /// Looked at in a pass, and some of what continues it stays. `is_clean`: in a pass for blocks that are on disk, where what
  /// is cold keeps its place.
  virtual void passed_over(BlockId block, bool is_clean) {
    if (!is_clean) defer(block);
  }
  /// Nothing in memory continues it any more, or all that does is leaving. Blocks that the evictor does not have are no
  /// matter. True: in a pass it comes before `next`, kNone: the end, and would be left out.
  virtual bool became_leaf(BlockId, BlockId /*next*/) { return false; }

  /// The first candidate; kNone when empty. Starts a pass: blocks that earned a second chance get it here and in
  /// after(), and the order of the pass is decided here.
  virtual BlockId coldest() = 0;
  /// The next candidate after `block`; kNone at the end. Blocks that cannot leave before others may be left out. Those deferred during a pass come again at its end.
  virtual BlockId after(BlockId block) = 0;
  /// One place that a scan over several turns keeps: kNone, or a block that is there. Who leaves or moves while the
  /// mark is on it hands it to the next one.
  void set_mark(BlockId block) { mark_ = block; }
  [[nodiscard]] BlockId mark() const { return mark_; }
  [[nodiscard]] virtual std::uint32_t size() const = 0;
  /// Memory beside the block table that it has come to use.
  [[nodiscard]] virtual std::uint64_t bytes_resident() const { return 0; }
  /// Blocks that came back while it still knew of them.
  [[nodiscard]] virtual std::uint64_t ghost_hits() const { return 0; }
  [[nodiscard]] virtual std::string_view name() const = 0;

 private:
  BlockId mark_ = BlockId::kNone;
};

}  // namespace kvtier
