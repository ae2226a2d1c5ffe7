#pragma once
// The host tier's memory: all slabs, taken at start. A tier that does not fit is refused then, with numbers.
// Thread: the conductor.

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "daemon/memory/slab.h"

namespace kvtier {

enum class MemoryLock : std::uint8_t {
  kOff,
  kTry,     ///< as much as the limit allows
  kRequire  ///< no memory without
};

struct HostMemoryOptions {
  std::uint64_t bytes = 0;
  std::uint64_t slab_bytes = 0;  ///< 0: chosen
  SlabPages pages = SlabPages::kOrdinary;
  MemoryLock lock = MemoryLock::kOff;
  /// Called after each slab; the making of a large tier takes minutes. Null: not called.
  std::function<void()> slab_done;
  /// Bytes that may still be taken; asked before each slab, because the kernel does not refuse pages that it
  /// lacks: it kills somebody. Null: not asked.
  std::function<std::uint64_t()> available;
};

class HostMemory {
 public:
  static Result<HostMemory> create(const HostMemoryOptions& options, FdStore& fds);

  /// The same slabs as an earlier instance had, from `take(name)`, which gives up the descriptor of that
  /// name. Not locked.
  static Result<HostMemory> adopt(const HostMemoryOptions& options,
                                  const std::function<UniqueFd(const std::string&)>& take);
  /// Locks adopted slabs as the options want it. Refused only with MemoryLock::kRequire.
  Status lock_all(const HostMemoryOptions& options);
  /// Of an adopted slab that turned out to belong to a namespace.
  void remove_unassigned(SlabIndex index) { std::erase(unassigned_, index); }

  /// Closes a slab's memory and makes new for it, unassigned, locked if the old one was and the limit still
  /// allows it; generations go on above those it had.
  Status replace(Slab& slab, SlabPages pages, FdStore& fds);

  /// A slab that belongs to no namespace yet, taken off the list; nullptr: none left.
  Slab* take_unassigned();
  /// Undoes take_unassigned for a slab that was not assigned after all.
  void put_unassigned(const Slab& slab) { unassigned_.push_back(slab.index()); }
  [[nodiscard]] std::uint32_t unassigned_count() const {
    return static_cast<std::uint32_t>(unassigned_.size());
  }

  [[nodiscard]] Slab& slab(SlabIndex index) { return slabs_[index_of(index)]; }
  [[nodiscard]] std::uint32_t slab_count() const { return static_cast<std::uint32_t>(slabs_.size()); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t locked_bytes() const;
  [[nodiscard]] std::uint64_t huge_bytes() const;
  /// Why not all of it is locked although that was to be tried; ok: it is, or nobody asked.
  [[nodiscard]] const Status& lock_refusal() const { return lock_refusal_; }
  [[nodiscard]] std::uint64_t slab_bytes() const { return slab_bytes_; }

  /// The size that is chosen for a tier: about 1/128 of it, a power of two between 16 MiB and 1 GiB.
  static std::uint64_t default_slab_bytes(std::uint64_t tier_bytes);

 private:
  static Result<HostMemory> sized(const HostMemoryOptions& options);
  [[nodiscard]] std::uint64_t bytes_of(std::uint64_t at) const;
  Status lock(Slab& slab, const HostMemoryOptions& options);
  void add(Slab slab);

  std::deque<Slab> slabs_;  ///< stable addresses
  std::vector<SlabIndex> unassigned_;
  Status lock_refusal_;
  std::uint64_t bytes_ = 0;
  std::uint64_t slab_bytes_ = 0;
};

}  // namespace kvtier
