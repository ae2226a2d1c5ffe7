#pragma once
// Which block leaves next. An evictor orders the ready blocks of one slot class; the flow asks for candidates
// from the coldest on and decides (leases, children, slab). No system call, no clock: calls carry what they
// need. Thread: the conductor.

#include <string_view>

#include "daemon/model/ids.h"

namespace kvtier {

class Evictor {
 public:
  Evictor() = default;
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;
  virtual ~Evictor() = default;

  /// A block was committed. `parent` is its resident parent in the same class or kNone: a child never
  /// outlives its parent, so it enters colder than it.
  virtual void insert(BlockId block, BlockId parent) = 0;
  /// A block was acquired. A prefix is reported last block first, so that its head ends up hottest.
  virtual void access(BlockId block) = 0;
  /// An adopted block, colder than all that are there: adoption goes from the hottest on.
  virtual void insert_coldest(BlockId block) = 0;
  virtual void remove(BlockId block) = 0;
  /// The candidate could not leave (leased, pinned, or it has children): look at it again only after the
  /// others.
  virtual void defer(BlockId block) = 0;

  /// The coldest block; kNone when empty.
  [[nodiscard]] virtual BlockId coldest() const = 0;
  /// The next candidate after `block`; kNone at the end.
  [[nodiscard]] virtual BlockId after(BlockId block) const = 0;
  /// One place that a scan over several turns keeps: kNone, or a block that is there. Who leaves or moves while the
  /// mark is on it hands it to the next one.
  virtual void set_mark(BlockId block) = 0;
  [[nodiscard]] virtual BlockId mark() const = 0;
  [[nodiscard]] virtual std::uint32_t size() const = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
};

}  // namespace kvtier
