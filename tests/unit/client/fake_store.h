#pragma once
// The blocks of the fake daemon: real memfds, slot tables and a directory, the simplest possible decisions.
// Not thread-safe: FakeDaemon's mutex guards it.

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "libkvclient/wire/commands.h"
#include "libkvclient/wire/directory_writer.h"
#include "libkvclient/wire/pins.h"
#include "libkvclient/wire/shm_segment.h"
#include "libkvclient/wire/stock.h"

namespace kvtier::test {

/// A memfd with the daemon's mapping of it.
struct FakeSegment {
  UniqueFd fd;
  ShmMapping memory;
  static FakeSegment create(const char* name, std::uint64_t bytes);
};

struct FakeSlab {
  FakeSegment data;
  FakeSegment words;
  SlotTable table;
  std::uint64_t slot_bytes = 0;  ///< 0: takes that of the first block
};

struct FakeBlock {
  SlotRef slot;
  Generation generation = 0;
  bool is_ready = false;
  std::uint64_t writer = 0;  ///< session id
  std::uint32_t number = 0;  ///< Hold::block
  std::uint64_t sum = 0;     ///< of the bytes that were committed
};

/// A slot in a client's stock.
struct FakeStocked {
  SlotRef slot;
  Generation generation = 0;
  SpaceId space = SpaceId::kNone;
  std::uint64_t session = 0;
  Stock table;
  std::uint32_t entry = 0;
};

struct FakeSpace {
  Digest digest{};
  std::uint64_t block_bytes = 0;
  std::uint64_t slot_bytes = 0;
};

class FakeStore {
 public:
  static constexpr std::uint64_t kSlabBytes = 1 << 20;
  static constexpr std::uint64_t kSlotsMax = kSlabBytes / kSlotAlignment;
  static constexpr std::uint32_t kSlabs = 4;
  using BlockKey = std::pair<SpaceId, std::array<std::uint64_t, 4>>;

  FakeStore();

  SpaceId space_of(const Digest& digest, std::uint64_t block_bytes);
  ReserveResult reserve(SpaceId space, const Key& key, std::uint64_t session);
  Code commit(const Hold& hold, std::uint64_t session);
  Code abort(const Hold& hold, std::uint64_t session);
  /// Brings the offers for a space up to `count`, while there are free slots.
  void refill(SpaceId space, std::uint32_t count, Stock table, std::uint64_t session);
  /// All that is on offer to anybody; how many.
  std::uint32_t take_back();
  [[nodiscard]] std::size_t stocked_count() const { return stocked_.size(); }
  /// Everything that a session was writing.
  void abandon(std::uint64_t session);
  std::uint32_t invalidate(SpaceId space);
  [[nodiscard]] bool is_pending(SpaceId space, const Key& key) const;
  [[nodiscard]] std::uint32_t writing_count() const;
  /// Evicts unless one of the pin cells is set.
  bool evict(SpaceId space, const Key& key, const std::vector<const PinCell*>& pins);
  /// To the disk, out of memory.
  void cool(SpaceId space, const Key& key);
  /// Takes a slot for what is on disk only; it is pending until end_restores. kNoSpace, kNotFound.
  Code restore(SpaceId space, const Key& key);
  /// All that are under way: ready, or lost.
  void end_restores(bool is_ok);
  std::span<std::byte> bytes_of(SpaceId space, const FakeBlock& block);
  std::span<std::byte> bytes_of(SpaceId space, const Key& key) {
    return bytes_of(space, blocks_.at({space, key.words}));
  }
  SlotRef slot_of(SpaceId space, const Key& key) const { return blocks_.at({space, key.words}).slot; }
  /// Fills in the sums of those that are there; of none while `has_no_sums`.
  void sums(SpaceId space, std::span<SumEntry> entries) const;
  [[nodiscard]] std::uint32_t ready_count() const {
    return static_cast<std::uint32_t>(blocks_.size()) - writing_count();
  }
  /// A new directory memfd with the same entries; the old one is marked moved.
  void move_directory();

  std::vector<FakeSlab> slabs;
  std::vector<FakeSpace> spaces;
  FakeSegment directory;
  std::uint64_t slots_limit = kSlotsMax;  ///< of a slab; free slots beyond it are refused: no_space
  Cause no_space_cause = Cause::kTierFull;
  std::uint32_t usable_slabs = 2;
  std::uint64_t restores_asked = 0;
  bool has_no_sums = false;
  Completion sync_end{};          ///< how a sync ends; kOk: with all that was asked for
  std::vector<SumEntry> doubted;  ///< that clients found wrong

 private:
  std::optional<std::pair<SlotRef, Generation>> take_slot(std::uint64_t slot_bytes);
  FakeBlock* by_hold(const Hold& hold, std::uint64_t session, BlockKey& key);
  Code name_stocked(const Hold& hold, std::uint64_t session);
  void drop_stocked(std::uint32_t number);
  void publish(const BlockKey& key, const FakeBlock& block);
  void drop(const BlockKey& key);

  static constexpr std::uint64_t kDiskWriter = ~std::uint64_t{0};  ///< no session

  DirectoryWriter writer_;
  std::map<BlockKey, FakeBlock> blocks_;
  std::map<BlockKey, std::vector<std::byte>> disk_;
  std::map<std::uint32_t, FakeStocked> stocked_;  ///< by Hold::block
  std::uint32_t next_number_ = 1;
};

}  // namespace kvtier::test
