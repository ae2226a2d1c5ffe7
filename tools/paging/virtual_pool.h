#pragma once
// A bounded pool of slots for sequences, in this process: what kvsim counts with, and, with bytes, what tests read and
// write. Committed blocks that nobody leases stay until a slot is needed; the one that was released longest ago goes
// first. One thread.

#include <list>
#include <unordered_map>
#include <vector>

#include "kvclient/slot_source.hpp"

namespace kvtier::sim {

class VirtualPool final : public kvclient::SlotSource {
 public:
  struct Options {
    std::uint32_t slots = 0;
    std::uint32_t block_tokens = 16;
    std::size_t block_bytes = 0;  ///< 0: it only counts
  };
  explicit VirtualPool(const Options& options);

  [[nodiscard]] std::uint32_t slots_count() const { return static_cast<std::uint32_t>(slots_.size()); }
  /// A slot is free, private, leased or evictable.
  [[nodiscard]] std::size_t free_count() const { return free_.size(); }
  [[nodiscard]] std::size_t private_count() const { return private_; }
  [[nodiscard]] std::size_t evictable_count() const { return evictable_.size(); }
  [[nodiscard]] std::size_t leased_count() const {
    return slots_.size() - free_count() - private_count() - evictable_count();
  }
  [[nodiscard]] std::uint64_t evictions_count() const { return evictions_; }
  /// Evicts whatever nobody leases.
  void evict_all();

  [[nodiscard]] std::uint32_t block_tokens() const override { return options_.block_tokens; }
  [[nodiscard]] std::size_t block_bytes() const override { return options_.block_bytes; }
  /// A chain like that of kvc_keys_from_tokens, of two 64-bit mixes instead of a SHA-256.
  [[nodiscard]] std::vector<kvc_key> keys(std::span<const std::uint32_t> tokens,
                                          const kvc_key* parent) override;
  std::size_t acquire(kvclient::Keys keys, kvclient::Acquire how, std::span<kvclient::SlotId> slots) override;
  void release(kvclient::SlotId leased) noexcept override;
  kvclient::Outcome reserve(const kvclient::SlotRequest& request, std::span<kvclient::SlotId> slots) override;
  void abort(kvclient::SlotId reserved) noexcept override;
  void commit(std::span<kvclient::BlockCommit> blocks) override;
  [[nodiscard]] std::span<const std::byte> readable(kvclient::SlotId slot) const override;
  [[nodiscard]] std::span<std::byte> writable(kvclient::SlotId reserved) override;

 private:
  struct KeyHash {
    std::size_t operator()(const kvc_key& key) const { return key.words[0]; }
  };
  struct KeyEqual {
    bool operator()(const kvc_key& a, const kvc_key& b) const;
  };
  struct Slot {
    kvc_key key{};             ///< of a committed block
    std::uint32_t leases = 0;  ///< of a committed block; 0: in evictable_
    bool is_committed = false;
    std::list<kvclient::SlotId>::iterator place;  ///< in evictable_
  };

  Slot& at(kvclient::SlotId id) { return slots_[static_cast<std::size_t>(id)]; }
  void lease(kvclient::SlotId id);
  void evict_one();

  const Options options_;
  std::vector<Slot> slots_;
  std::vector<std::byte> bytes_;
  std::vector<kvclient::SlotId> free_;
  std::list<kvclient::SlotId> evictable_;  ///< longest ago first
  std::unordered_map<kvc_key, kvclient::SlotId, KeyHash, KeyEqual> committed_;
  std::size_t private_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace kvtier::sim
