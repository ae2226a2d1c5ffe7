// Where the slots of sequences come from: what sequence.hpp needs of a cache. client_slots.hpp is one over the daemon's
// host memory; a simulated pool is another. Needs C++20.
#ifndef KVCLIENT_SLOT_SOURCE_HPP
#define KVCLIENT_SLOT_SOURCE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "kvclient/client.hpp"

namespace kvclient {

/// A slot of a source: private to who reserved it, or a lease of a committed block. Means something to its source only.
enum class SlotId : std::uint32_t { kNone = 0xffffffff };

/// What became of a call. With KVC_NO_SPACE, `cause` (kvc_cause) and `detail` (a pid) say who has the room.
struct [[nodiscard]] Outcome {
  int code = KVC_OK;  ///< kvc_code
  int cause = KVC_CAUSE_NONE;
  std::uint32_t detail = 0;

  [[nodiscard]] bool is_ok() const { return code == KVC_OK; }
};

/// Slots for blocks whose keys are known, one behind the other in a chain, and for blocks without a key yet.
struct SlotRequest {
  Keys keys;
  const kvc_key* parent = nullptr;  ///< of keys[0]; null: it begins a chain
  std::size_t blanks = 0;

  [[nodiscard]] std::size_t size() const { return keys.size() + blanks; }
};

struct BlockCommit {
  SlotId slot = SlotId::kNone;  ///< private; afterwards as `code` says
  kvc_key key{};
  const kvc_key* parent = nullptr;  ///< null: it begins a chain
  int code = KVC_OK;
};

enum class Acquire : std::uint8_t {
  kLeading,  ///< up to the first block that is not there
  kEach      ///< every block that is there
};

/// Thread: one at a time for a source and everything that is made from it.
/// Errors: kvc_code; std::bad_alloc, after which nothing is held that was not before.
class SlotSource {
 public:
  SlotSource() = default;
  SlotSource(const SlotSource&) = delete;
  SlotSource& operator=(const SlotSource&) = delete;
  virtual ~SlotSource() = default;

  [[nodiscard]] virtual std::uint32_t block_tokens() const = 0;
  /// Of a block; 0: the source only counts.
  [[nodiscard]] virtual std::size_t block_bytes() const = 0;
  /// Of every full block of `tokens`, which follow the block `parent` (null: they begin a sequence).
  [[nodiscard]] virtual std::vector<kvc_key> keys(std::span<const std::uint32_t> tokens,
                                                  const kvc_key* parent) = 0;

  /// Leases committed blocks: slots[i] has keys[i], or is kNone. Returns how many are leased. What is not there, for
  /// whatever reason, is a miss. A block may be leased any number of times.
  virtual std::size_t acquire(Keys keys, Acquire how, std::span<SlotId> slots) = 0;
  virtual void release(SlotId leased) noexcept = 0;

  /// Private slots, first those of the keys, then the blanks: all, or none and why. Evicts committed blocks that nobody
  /// leases when no slot is free. Their bytes are of no meaning. A key tells the source what a slot is for, so that
  /// others may wait for it; it binds nobody.
  virtual Outcome reserve(const SlotRequest& request, std::span<SlotId> slots) = 0;
  virtual void abort(SlotId reserved) noexcept = 0;

  /// Makes full private blocks visible under their keys, first to last, and leases them without a moment in between.
  /// KVC_OK: `slot` is a lease of the block with this key, and the private slot is gone; it may be a block that
  /// somebody else committed first. Else `slot` is private as before, or kNone: the block is lost.
  virtual void commit(std::span<BlockCommit> blocks) = 0;

  /// block_bytes() each, or empty where this process cannot address them. Valid until the slot is given back or
  /// committed.
  [[nodiscard]] virtual std::span<const std::byte> readable(SlotId slot) const = 0;
  [[nodiscard]] virtual std::span<std::byte> writable(SlotId reserved) = 0;

  /// Whole blocks; `to` is private. Done when the call returns.
  virtual void copy(SlotId to, SlotId from) { copy_bytes(writable(to), readable(from)); }
  virtual void copy_out(std::span<std::byte> to, SlotId from) { copy_bytes(to, readable(from)); }
  virtual void copy_in(SlotId to, std::span<const std::byte> from) { copy_bytes(writable(to), from); }

 private:
  static void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }
};

}  // namespace kvclient

#endif  // KVCLIENT_SLOT_SOURCE_HPP
