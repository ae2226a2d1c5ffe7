#pragma once
// The requests of a ring: a fixed table, a list of free places, and the order in which requests wait for the device.

#include <cstdint>
#include <vector>

#include "daemon/io/io_types.h"

namespace kvtier {

struct IoSlot {
  enum class State : std::uint8_t {
    kFree,
    kWaiting,   ///< for its turn, in the list
    kInDevice,  ///< the device has its memory
    kFinished   ///< its last event is not taken yet
  };

  IoRequest request;
  std::uint32_t generation = 1;
  std::uint32_t done = 0;     ///< bytes
  std::uint32_t retries = 0;  ///< completions in a row that moved nothing
  State state = State::kFree;
  bool is_answered = false;  ///< the result is out although the device is not done
  std::uint32_t previous = 0;
  std::uint32_t next = 0;
};

class IoSlots {
 public:
  explicit IoSlots(std::uint32_t count);

  [[nodiscard]] bool is_full() const { return free_.empty(); }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(slots_.size() - 1); }
  [[nodiscard]] std::uint32_t used_count() const {
    return count() - static_cast<std::uint32_t>(free_.size());
  }

  /// A free slot for the request, last in the list. Caller checks is_full().
  IoId take(const IoRequest& request);
  void give_back(std::uint32_t slot);

  [[nodiscard]] IoSlot& operator[](std::uint32_t slot) { return slots_[slot]; }
  [[nodiscard]] const IoSlot& operator[](std::uint32_t slot) const { return slots_[slot]; }
  [[nodiscard]] IoId id(std::uint32_t slot) const { return {slot, slots_[slot].generation}; }
  /// nullptr: that request is over.
  [[nodiscard]] IoSlot* find(IoId id);

  /// The list of those that wait for the device.
  [[nodiscard]] bool is_nobody_waiting() const { return slots_[end()].next == end(); }
  [[nodiscard]] std::uint32_t first_waiting() const { return slots_[end()].next; }
  void wait_first(std::uint32_t slot) { link(slot, slots_[end()].next); }
  void stop_waiting(std::uint32_t slot);

 private:
  [[nodiscard]] std::uint32_t end() const { return count(); }
  void link(std::uint32_t slot, std::uint32_t before);

  std::vector<IoSlot> slots_;  ///< the last one is head and end of the list
  std::vector<std::uint32_t> free_;
};

}  // namespace kvtier
