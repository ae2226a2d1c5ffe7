#pragma once
// Bounded queue of typed commands: any number of senders, one receiving agent. A sender that finds it full is
// told so and keeps its command. Each cell has a sequence number (D. Vyukov's bounded queue, with a single
// consumer).

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>

#include "daemon/agent/agent.h"
#include "libkvclient/base/check.h"

namespace kvtier {

template <class Command>
class Mailbox {  // NOLINT(clang-analyzer-optin.performance.Padding): senders and receiver on lines apart
 public:
  /// `capacity`: a power of two above 1. `receiver` is woken by every push; it outlives the mailbox.
  Mailbox(std::size_t capacity, Waiter& receiver)
      : cells_(std::make_unique<Cell[]>(capacity)), capacity_(capacity), receiver_(receiver) {
    // With one cell, "free for the next lap" and "written in this lap" would be the same number.
    KV_CHECK(capacity >= 2 && std::has_single_bit(capacity),
             "the capacity of a mailbox is a power of two above 1");
    for (std::size_t i = 0; i < capacity; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  }

  /// Any thread. False: full, and `command` is as it was.
  [[nodiscard]] bool push(Command&& command) {
    std::size_t at = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[at & (capacity_ - 1)];
      // acquire: pairs with the receiver's release, after which the cell's old command is moved out.
      const std::size_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence == at) {
        // relaxed: only gives each place to one sender; the cell's sequence orders the command itself.
        if (tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) break;
      } else if (static_cast<std::ptrdiff_t>(sequence - at) < 0) {
        return false;
      } else {
        at = tail_.load(std::memory_order_relaxed);
      }
    }
    Cell& cell = cells_[at & (capacity_ - 1)];
    cell.command = std::move(command);
    // release: whoever sees the sequence sees the command.
    cell.sequence.store(at + 1, std::memory_order_release);
    receiver_.wake();
    return true;
  }
  [[nodiscard]] bool push(const Command& command) { return push(Command(command)); }

  /// The receiving agent's thread. False: nothing there, or the oldest sender is not done writing; it wakes
  /// then.
  [[nodiscard]] bool pop(Command& command) {
    Cell& cell = cells_[head_ & (capacity_ - 1)];
    // acquire: pairs with the sender's release.
    if (cell.sequence.load(std::memory_order_acquire) != head_ + 1) return false;
    command = std::move(cell.command);
    // release: the next sender to this cell sees it moved out.
    cell.sequence.store(head_ + capacity_, std::memory_order_release);
    ++head_;
    return true;
  }

  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  struct Cell {
    std::atomic<std::size_t> sequence;
    Command command;
  };
  static constexpr std::size_t kLine = 128;  // two lines: the prefetcher fetches pairs

  // constant after construction
  const std::unique_ptr<Cell[]> cells_;
  const std::size_t capacity_;
  Waiter& receiver_;
  // senders
  alignas(kLine) std::atomic<std::size_t> tail_{0};
  // the receiving agent
  alignas(kLine) std::size_t head_ = 0;
};

}  // namespace kvtier
