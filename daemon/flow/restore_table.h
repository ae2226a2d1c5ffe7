#pragma once
// Slots that are being filled from disk: those whose get is still to be sent, in order, those under way, and those that a
// device holds although its answer came. Memory taken at start. Thread: the conductor.

#include <cstdint>
#include <vector>

#include "daemon/model/ids.h"
#include "daemon/tier/disk_command.h"
#include "libkvclient/base/check.h"
#include "libkvclient/base/clock.h"

namespace kvtier {

/// One slot. Names itself to the tier by its number, which is not used again before the slot is ours.
struct Restore {
  BlockId block = BlockId::kNone;  ///< kNone: the block left, the slot is all that is waited for
  NamespaceId tenant = NamespaceId::kNone;
  SlotRef slot;
  DiskLocator locator;  ///< what is read
  TimeNs deadline_ns = kNever;
  std::uint64_t group = 0;    ///< those of one go to the tier together
  std::uint32_t next = 0;     ///< not sent: the next one; free: the next free one
  bool was_doubtful = false;  ///< the read before this one failed
};

class RestoreTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Places, each a slot.
  static constexpr std::uint32_t kRestoresMax = 8192;

  RestoreTable() : restores_(kRestoresMax) {
    for (std::uint32_t i = 0; i < kRestoresMax; ++i) restores_[i].next = i + 1 < kRestoresMax ? i + 1 : kNone;
  }

  [[nodiscard]] std::uint32_t room() const { return kRestoresMax - size_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  Restore& operator[](std::uint32_t number) { return restores_[number]; }

  /// Behind those that are not sent yet. The caller has asked for room.
  std::uint32_t add(const Restore& restore) {
    KV_CHECK(free_ != kNone, "who restores has asked for room");
    const std::uint32_t number = free_;
    free_ = restores_[number].next;
    restores_[number] = restore;
    restores_[number].next = kNone;
    (last_ == kNone ? first_ : restores_[last_].next) = number;
    last_ = number;
    ++size_;
    return number;
  }
  /// The next one to be sent; kNone: all are.
  [[nodiscard]] std::uint32_t unsent() const { return first_; }
  void pop_unsent() {
    first_ = restores_[first_].next;
    if (first_ == kNone) last_ = kNone;
  }
  /// One that was popped: its slot is ours.
  void free(std::uint32_t number) {
    restores_[number] = {.next = free_};
    free_ = number;
    --size_;
  }

  std::uint32_t gets_open = 0;  ///< sent and not answered
  std::uint64_t get_bytes = 0;  ///< of their slots
  std::uint64_t next_group = 1;
  std::uint32_t held_count = 0;  ///< answered, and the device still has the slot

 private:
  std::vector<Restore> restores_;
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
  std::uint32_t free_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace kvtier
