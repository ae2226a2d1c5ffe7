// The slots of sequences in the daemon's host memory: a SlotSource over kvclient.h. Bytes are written and read in place.
//
// A block whose key is known ahead (a prompt's) is written where it stays: reserved under its key, so that others find
// it pending and wait instead of computing it too. A slot without a key (a sequence's last block, and one whose key
// another client has reserved) is reserved under a name that nobody else can guess; when its block is full and gets its
// key, it is copied into a slot of that key, at the rate of kvc_copy, once a block. A block that exists by then is
// leased, and the copy saved.
//
// While the daemon is away everything is a miss and nothing can be reserved; what sequences hold stays readable, and
// slots writable. Slots of before a restart of the daemon that were reserved under their key are lost with their
// commit; those without a key are not.
#ifndef KVCLIENT_CLIENT_SLOTS_HPP
#define KVCLIENT_CLIENT_SLOTS_HPP

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "kvclient/slot_source.hpp"

namespace kvclient {

/// Thread: one at a time. Each thread may have its own over the same client.
class ClientSlots final : public SlotSource {
 public:
  struct Options {
    std::uint64_t deadline_ns = 0;  ///< of reservations and commits; 0: the client's default
    /// To bring back what is on disk only. 0: that is a miss, and a sequence's own block of its key stays private.
    std::uint64_t restore_ns = 0;
    std::string salt;  ///< of the keys (kvc_keys_from_tokens)
  };

  /// Client and space outlive it.
  ClientSlots(kvc_client* client, kvc_space* space, Options options)
      : client_(client), space_(space), options_(std::move(options)) {
    facts_.struct_size = sizeof facts_;
    check(kvc_space_info(space, &facts_));
    std::random_device chance;
    for (std::uint64_t& word : name_.words) word = (std::uint64_t{chance()} << 32) | chance();
  }
  ClientSlots(kvc_client* client, kvc_space* space) : ClientSlots(client, space, Options()) {}
  ClientSlots(const Client& client, const Space& space, Options options)
      : ClientSlots(client.get(), space.get(), std::move(options)) {}
  ClientSlots(const Client& client, const Space& space) : ClientSlots(client, space, Options()) {}

  [[nodiscard]] std::uint32_t block_tokens() const override { return facts_.block_tokens; }
  [[nodiscard]] std::size_t block_bytes() const override { return facts_.block_bytes; }
  [[nodiscard]] std::vector<kvc_key> keys(std::span<const std::uint32_t> tokens,
                                          const kvc_key* parent) override {
    std::vector<kvc_key> keys(tokens.size() / block_tokens());
    std::size_t count = 0;
    const std::string& salt = parent == nullptr ? options_.salt : no_salt_;
    check(kvc_keys_from_tokens(space_, tokens.data(), tokens.size(), salt.data(), salt.size(), parent,
                               keys.data(), keys.size(), &count));
    return keys;
  }

  std::size_t acquire(Keys keys, Acquire how, std::span<SlotId> slots) override {
    std::ranges::fill(slots, SlotId::kNone);
    if (keys.empty()) return 0;
    make_room(keys.size());
    const SharedLease lease = make_lease(keys.size());
    if (options_.restore_ns > 0) restore(keys, how);
    const std::uint32_t flags = how == Acquire::kEach ? KVC_UNORDERED : 0;
    if (kvc_acquire(space_, keys.data(), keys.size(), flags, 0, lease.get()) != KVC_OK) return 0;
    for (std::size_t i = 0; i < kvc_lease_count(lease.get()); ++i) {
      const void* data = kvc_lease_blocks(lease.get())[i];
      if (data != nullptr)
        slots[i] = enter({.data = const_cast<void*>(data), .slot = {}, .key = {}, .lease = lease});
    }
    return kvc_lease_held(lease.get());
  }
  void release(SlotId leased) noexcept override { leave(leased); }

  Outcome reserve(const SlotRequest& request, std::span<SlotId> slots) override {
    std::vector<kvc_key> keys(request.keys.begin(), request.keys.end());
    for (std::size_t i = 0; i < request.blanks; ++i) keys.push_back(next_name());
    make_room(keys.size());
    Reservation granted(space_, block_bytes(), keys.size());
    Outcome outcome = claim(keys, request.parent, granted.slots());
    if (outcome.is_ok()) outcome = claim_blanks_for_taken(keys, granted.slots());
    if (!outcome.is_ok()) return outcome;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const kvc_slot slot = std::exchange(granted.slots()[i], {});
      slots[i] = enter({.data = slot.data, .slot = slot, .key = keys[i], .lease = {}});
    }
    return outcome;
  }
  void abort(SlotId reserved) noexcept override {
    (void)kvc_abort(space_, &at(reserved).slot, 1, 0, kNoWait);
    leave(reserved);
  }

  void commit(std::span<BlockCommit> blocks) override;

  [[nodiscard]] std::span<const std::byte> readable(SlotId slot) const override {
    return {static_cast<const std::byte*>(at(slot).data), block_bytes()};
  }
  [[nodiscard]] std::span<std::byte> writable(SlotId reserved) override {
    return {static_cast<std::byte*>(at(reserved).data), block_bytes()};
  }
  void copy(SlotId to, SlotId from) override { kvc_copy(at(to).data, at(from).data, block_bytes()); }

 private:
  using SharedLease = std::shared_ptr<kvc_lease>;  // its last block ends it

  struct Entry {
    void* data = nullptr;  // read-only where there is a lease
    kvc_slot slot{};       // of a private slot
    kvc_key key{};         // that it was reserved under
    SharedLease lease;
  };

  static constexpr std::uint64_t kNoWait = 1;
  static constexpr std::size_t kAllOrNothingMax = 4096;  // keys of a call

  Entry& at(SlotId id) { return entries_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const Entry& at(SlotId id) const { return entries_[static_cast<std::size_t>(id)]; }

  // After this enter() and leave() take no memory.
  void make_room(std::size_t count) {
    const std::size_t needed = entries_.size() + count;
    if (needed > entries_.capacity()) entries_.reserve(std::max(needed, 2 * entries_.capacity()));
    free_.reserve(entries_.capacity());
  }
  SlotId enter(Entry entry) noexcept {
    if (free_.empty()) {
      entries_.push_back(std::move(entry));
      return static_cast<SlotId>(entries_.size() - 1);
    }
    const SlotId id = free_.back();
    free_.pop_back();
    at(id) = std::move(entry);
    return id;
  }
  void leave(SlotId id) noexcept {
    at(id) = {};
    free_.push_back(id);
  }

  [[nodiscard]] SharedLease make_lease(std::size_t capacity) const {
    kvc_lease* made = nullptr;
    check(kvc_lease_create(client_, capacity, &made));
    return {made, kvc_lease_destroy};
  }

  // Not what is pending: it may be this thread that has yet to compute it.
  void restore(Keys keys, Acquire how) const {
    std::vector<std::uint8_t> states(keys.size());
    std::vector<kvc_key> on_disk;
    std::size_t ready = 0;
    if (kvc_match(space_, keys.data(), keys.size(), states.data(), &ready) != KVC_OK) return;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (states[i] == KVC_STATE_ON_DISK) on_disk.push_back(keys[i]);
      const bool is_there = states[i] == KVC_STATE_ON_DISK || states[i] == KVC_READY;
      if (!is_there && how == Acquire::kLeading) break;
    }
    if (!on_disk.empty())
      (void)kvc_restore(space_, on_disk.data(), on_disk.size(), options_.restore_ns, nullptr, &ready);
  }

  kvc_key next_name() {
    ++name_.words[3];
    return name_;
  }

  // Every slot is granted, or its key is another's; or none is.
  Outcome claim(Keys keys, const kvc_key* parent, std::span<kvc_slot> granted) const {
    for (std::size_t first = 0; first < keys.size(); first += kAllOrNothingMax) {
      const std::size_t count = std::min(kAllOrNothingMax, keys.size() - first);
      const kvc_reserve_options options{sizeof options, first == 0 ? parent : &keys[first - 1],
                                        options_.deadline_ns, KVC_ALL_OR_NOTHING, 0};
      const std::span<kvc_slot> some = granted.subspan(first, count);
      const int code = kvc_reserve(space_, &keys[first], count, &options, some.data());
      for (const kvc_slot& slot : some) {
        const bool is_taken = slot.code == KVC_EXISTS || slot.code == KVC_PENDING;
        if (slot.code != KVC_OK && !is_taken) return {slot.code, slot.cause, slot.detail};
      }
      if (code != KVC_OK) return {code};
    }
    return {};
  }

  Outcome claim_blanks_for_taken(std::span<kvc_key> keys, std::span<kvc_slot> granted) {
    std::vector<kvc_key> names;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (granted[i].code != KVC_OK) names.push_back(keys[i] = next_name());
    }
    Reservation blanks(space_, block_bytes(), names.size());
    const Outcome outcome = claim(names, nullptr, blanks.slots());
    if (!outcome.is_ok()) return outcome;
    for (std::size_t i = 0, used = 0; i < keys.size(); ++i) {
      if (granted[i].code != KVC_OK) granted[i] = std::exchange(blanks.slots()[used++], {});
    }
    return outcome;
  }

  [[nodiscard]] bool is_in_place(const BlockCommit& block) const {
    return std::ranges::equal(at(block.slot).key.words, block.key.words);
  }
  int place(const BlockCommit& block, kvc_slot& to);
  void take_over(BlockCommit& block, Entry leased);
  void keep_or_lose(BlockCommit& block, kvc_slot& slot, int code);
  [[nodiscard]] bool adopt(BlockCommit& block) noexcept;

  kvc_client* client_;
  kvc_space* space_;
  const Options options_;
  const std::string no_salt_;
  kvc_space_facts facts_{};
  kvc_key name_{};
  std::vector<Entry> entries_;
  std::vector<SlotId> free_;
};

}  // namespace kvclient

#include "kvclient/client_slots_commit.hpp"

#endif  // KVCLIENT_CLIENT_SLOTS_HPP
