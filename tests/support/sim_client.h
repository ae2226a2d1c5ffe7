#pragma once
// A client of the simulation: the wire protocol over the store's own memory, without sockets, threads or
// mappings of its own. It fills blocks with patterns, leases through the same directory and pin code as
// libkvclient, and can die.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/flow/store.h"
#include "libkvclient/wire/directory_reader.h"
#include "libkvclient/wire/pins.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier::test {

/// A spec of one part with so many bytes; `model` tells spaces apart.
std::vector<std::byte> encoded_spec(const std::string& model, std::uint64_t block_bytes);

struct Reservation {
  Key key{};
  ReserveResult result{};
};

/// `count` keys of a chain.
std::vector<Key> keys_of(std::uint64_t chain, std::size_t count, std::uint64_t first = 0);
/// Of what was granted.
std::vector<Hold> holds_of(const std::vector<Reservation>& reservations);

struct SimLease {
  Key key{};
  PinCell* pin = nullptr;
  std::span<const std::byte> bytes;
  SlotRef slot;
};

class SimClient {
 public:
  SimClient(Store& store, const std::string& namespace_name, std::uint32_t pid);

  SpaceId register_space(const std::vector<std::byte>& spec);
  [[nodiscard]] std::uint64_t block_bytes() const { return block_bytes_; }

  /// Sends a reserve of the keys; the answer comes through deliver().
  std::uint32_t reserve(SpaceId space, const std::vector<Key>& keys, const Key& parent,
                        bool is_all_or_nothing = false);
  /// After the completion: per-key results.
  std::vector<Reservation> reserved(std::uint32_t request_id);
  /// Asks for so many offers in the stock.
  void refill(SpaceId space, std::uint32_t count);
  /// A slot of the stock for the key, in state kOk with its hold; none: nothing is on offer.
  std::optional<Reservation> take(SpaceId space, const Key& key, const Key& parent);
  [[nodiscard]] Stock stock() const { return Stock(channel() + ChannelLayout::kStock); }
  void fill(const Reservation& reservation);
  std::span<std::byte> bytes_of(SlotRef slot, std::uint64_t bytes) { return slot_bytes(slot, bytes); }
  void commit(const std::vector<Hold>& holds);
  /// Up to kInlineHolds; its answer has a code each.
  std::uint32_t commit_awaited(const std::vector<Hold>& holds);
  void abort(const std::vector<Hold>& holds);
  std::uint32_t simple(Op op, SpaceId space, const std::vector<Key>& keys, std::uint64_t argument = 0,
                       TimeNs deadline_ns = 0);

  std::optional<SimLease> acquire(SpaceId space, const Key& key);
  /// 0 missing, 1 ready, 2 pending, 3 on disk only
  int match(SpaceId space, const Key& key);
  static void release(SimLease& lease) { Pins::release(*lease.pin); }
  void log_access(SpaceId space, const Key& last, std::uint16_t count);

  void on_event(const OutEvent& event);
  [[nodiscard]] bool is_answered(std::uint32_t request_id) const { return completions_.contains(request_id); }
  [[nodiscard]] const Completion& completion(std::uint32_t request_id) const {
    return completions_.at(request_id);
  }
  /// Revocations not answered yet; acknowledge() answers them all.
  [[nodiscard]] std::size_t revocations() const { return revocations_.size(); }
  [[nodiscard]] std::size_t removals() const { return removals_.size(); }
  void acknowledge();
  /// Says of each that it is busy; acknowledge() says later that it is released.
  void acknowledge_busy();

  [[nodiscard]] SessionIndex session() const { return grant_.session; }
  [[nodiscard]] bool is_ended() const { return is_ended_; }
  [[nodiscard]] const std::string& end_reason() const { return end_reason_; }
  [[nodiscard]] std::byte* channel() const { return grant_.channel; }
  [[nodiscard]] const SessionGrant& grant() const { return grant_; }
  void map_directory();
  /// The same client after a warm restart of the daemon.
  void resume(Store& store, const SessionGrant& grant);
  /// A lease of before the restart. A real client's mappings live on; this one reads through the store's,
  /// which the new store made anew, so that old pointers dangle.
  void resolve_again(SimLease& lease);

 private:
  void acknowledge(SlabIndex slab, std::uint32_t epoch, SlabState state);
  PinCell& pin_of(SlotRef slot);
  Submission base(Op op, SpaceId space, std::uint32_t count);
  std::span<std::byte> slot_bytes(SlotRef slot, std::uint64_t bytes);

  Store* store_;
  SessionGrant grant_;
  ShmMapping directory_memory_;
  DirectoryReader directory_;
  std::uint64_t block_bytes_ = 0;
  std::uint32_t next_request_ = 1;
  std::uint64_t arena_next_ = 0;
  struct Pending {
    std::uint64_t offset = 0;
    std::vector<Key> keys;
  };
  std::map<std::uint32_t, Pending> pending_;
  std::map<std::uint32_t, Completion> completions_;
  std::vector<std::pair<SlabIndex, std::uint32_t>> revocations_;
  std::vector<std::pair<SlabIndex, std::uint32_t>> removals_;
  bool is_ended_ = false;
  std::string end_reason_;
};

}  // namespace kvtier::test
