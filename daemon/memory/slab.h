#pragma once
// A slab of the host tier: one memfd of payload, one of slot words. It belongs to one namespace and one slot
// size at a time and is lent for writing to at most one session. Thread: the conductor.

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/model/fd_store.h"
#include "daemon/model/ids.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/shm_segment.h"
#include "libkvclient/wire/slot_table.h"

namespace kvtier {

/// A slab on its way out of its namespace: its memory is closed once nobody maps it any more.
struct SlabRetirement {
  std::uint32_t epoch = 0;
  std::vector<SessionIndex> mapped_by;
};

/// What a slab's payload is made of.
enum class SlabPages : std::uint8_t {
  kOrdinary,
  kGathered,  ///< huge pages as far as the kernel finds room for them, ordinary ones where it does not
  kSetAside   ///< from the pool of huge pages (vm.nr_hugepages); refused where it is too small
};

class Slab {
 public:
  /// Takes the memory now: pages of the payload are reserved. The name is what the FdStore knows it by.
  /// `floor`: no slot's generation starts below it.
  static Result<Slab> create(SlabIndex index, std::uint64_t bytes, SlabPages pages, FdStore& fds,
                             Generation floor = 0);

  /// Takes over what an earlier instance left. Slots that a record claims are claimed by the caller, then
  /// finish_adoption frees the rest. kInvalid: sizes that do not fit each other.
  static Result<Slab> adopt(SlabIndex index, std::uint64_t bytes, UniqueFd data, UniqueFd slots);
  Status adopt_assignment(NamespaceId owner, std::uint64_t slot_bytes);
  void finish_adoption();

  /// Locks the payload against swap, which also maps all of it. kNoSpace, with the limit: not allowed to.
  Status lock();
  /// In huge pages; of an adopted slab it is not known, and 0.
  [[nodiscard]] std::uint64_t huge_bytes() const { return huge_bytes_; }
  [[nodiscard]] bool is_locked() const { return is_locked_; }

  /// Gives the slab to a namespace in slots of `slot_bytes`. Every slot is free afterwards, under generations
  /// that no earlier locator has. kInvalid: a slot does not fit; kNoSpace: no pages for the slot table.
  Status assign(NamespaceId owner, std::uint64_t slot_bytes);

  /// A free slot, lowest first after an assignment; it is `writing` under the returned generation. Caller
  /// checks free_count() > 0. A generation of 0: this slot is used up for good, ask again.
  Generation take(std::uint32_t& slot);
  /// writing, evicting or quarantined -> free.
  void give_back(std::uint32_t slot);

  [[nodiscard]] std::byte* payload(std::uint32_t slot) const { return data_.data() + slot * slot_bytes_; }

  [[nodiscard]] SlabIndex index() const { return index_; }
  [[nodiscard]] NamespaceId owner() const { return owner_; }
  [[nodiscard]] std::uint64_t bytes() const { return data_.size(); }
  [[nodiscard]] std::uint64_t slot_bytes() const { return slot_bytes_; }
  [[nodiscard]] std::uint32_t slot_count() const { return slot_count_; }
  [[nodiscard]] std::uint32_t slots_max() const;
  [[nodiscard]] std::uint32_t free_count() const { return static_cast<std::uint32_t>(free_.size()); }
  [[nodiscard]] bool is_empty() const { return free_.size() + lost_count_ == slot_count_; }
  [[nodiscard]] SlotTable& table() { return table_; }
  [[nodiscard]] int data_fd(bool is_writable) const {
    return is_writable ? data_fd_.get() : data_read_fd_.get();
  }
  [[nodiscard]] int table_fd() const { return table_read_fd_.get(); }
  [[nodiscard]] std::uint64_t table_bytes() const { return table_memory_.size(); }
  [[nodiscard]] std::uint64_t table_bytes_resident() const;

  [[nodiscard]] BlockId block(std::uint32_t slot) const {
    return slot < slot_count_ ? blocks_[slot] : BlockId::kNone;
  }
  /// Empty but for slots of a stock; true of an empty one.
  [[nodiscard]] bool holds_only_stock() const {
    return free_.size() + lost_count_ + stocked_count == slot_count_;
  }
  void set_block(std::uint32_t slot, BlockId id) { blocks_[slot] = id; }

  // Lending, decided in flow/lending.
  SessionIndex writer = SessionIndex::kNone;
  std::uint32_t writing_count = 0;                ///< slots in state writing
  std::uint32_t stocked_count = 0;                ///< of them, those in a stock
  std::uint32_t revoke_epoch = 0;                 ///< of the last revocation sent
  std::unique_ptr<SlabRetirement> retire;         ///< decided in flow/rebalance; null: it stays
  bool is_revoking = false;                       ///< a revocation is not acknowledged yet
  bool is_emptying = false;                       ///< decided in flow/emptying: it gives no slots
  std::uint64_t emptying_attempt = 0;             ///< the last one that tried this slab
  TimeNs asked_ns = 0;                            ///< when it was asked back, by revocation or to be unmapped
  std::uint32_t free_list_position = 0xffffffff;  ///< in its slot class's list of slabs with free slots

 private:
  void gather_huge_pages();
  Status map_all(UniqueFd data, UniqueFd slots, std::uint64_t bytes);

  SlabIndex index_ = SlabIndex::kNone;
  NamespaceId owner_ = NamespaceId::kNone;
  UniqueFd data_fd_;
  UniqueFd data_read_fd_;
  UniqueFd table_fd_;
  UniqueFd table_read_fd_;
  ShmMapping data_;
  ShmMapping table_memory_;
  SlotTable table_;
  std::uint64_t slot_bytes_ = 0;
  std::uint32_t slot_count_ = 0;
  std::uint32_t lost_count_ = 0;  ///< slots whose generations are used up
  Generation floor_ = 0;
  bool is_locked_ = false;
  std::uint64_t huge_bytes_ = 0;
  std::vector<std::uint32_t> free_;
  std::vector<BlockId> blocks_;
};

}  // namespace kvtier
