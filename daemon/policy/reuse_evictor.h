#pragma once
// The least reuse for the time it is kept leaves first (reuse_model.h). Candidates are blocks that nothing in memory
// continues: one that was passed over is none until it became a leaf. Blocks that left for want of room are watched as
// ghosts, to learn when they would have been used again. Time comes with the records: BlockRecord::access_ms is set before
// insert and access. O(1) a call, but for learning, of which each call does a little.

#include <array>
#include <memory>

#include "daemon/policy/ages.h"
#include "daemon/policy/block_list.h"
#include "daemon/policy/evictor.h"
#include "daemon/policy/ghosts.h"

namespace kvtier {

class ReuseEvictor final : public Evictor {
 public:
  /// `entries` are shared by the classes of a store; null: its own.
  ReuseEvictor(BlockTable& blocks, std::uint64_t seed, std::shared_ptr<ReuseEntries> entries = nullptr);

  void set_capacity(std::uint32_t blocks) override;
  void insert(BlockId block, BlockId parent) override;
  void access(BlockId block) override;
  void insert_coldest(BlockId block) override;
  void remember(BlockId block) override;
  void remove(BlockId block) override;
  void hint(BlockId block, UseHint hint, WrappingMs now_ms) override;
  void defer(BlockId block) override;
  void released(BlockId block) override;
  void passed_over(BlockId block, bool is_clean) override;
  bool became_leaf(BlockId block, BlockId next) override;
  BlockId coldest() override { return first_from(0); }
  BlockId after(BlockId block) override;
  [[nodiscard]] std::uint32_t size() const override { return size_; }
  [[nodiscard]] std::uint64_t bytes_resident() const override;
  [[nodiscard]] std::uint64_t ghost_hits() const override { return ghost_hits_; }
  [[nodiscard]] std::string_view name() const override { return "reuse"; }

 private:
  static constexpr std::uint16_t kUnlisted = 0;  // else the cell + 1
  static constexpr std::uint16_t kDeferred = ReuseModel::kCells + 1;
  static constexpr std::uint32_t kWords = (ReuseModel::kCells + 63) / 64;

  static Ages::Place place_of(BlockId block) { return index_of(block); }
  [[nodiscard]] ReuseEntry& entry_of(BlockId block) const { return ages_[place_of(block)]; }

  void inherit(ReuseEntry& entry, BlockId parent) const;
  void count_use(ReuseEntry& entry, WrappingMs now_ms);
  ReuseModel::Cell enter(BlockId block);
  void drop_ghost(std::uint32_t ghost);
  void let_time_pass(WrappingMs now_ms);
  void look_again(WrappingMs now_ms);

  void list(BlockId block, std::uint16_t where);
  void list_coldest(BlockId block);
  void unlist(BlockId block);
  void note_listed(std::uint16_t where);
  void rank_again();
  [[nodiscard]] std::uint32_t rank_of_list(std::uint16_t where) const;
  [[nodiscard]] BlockId first_from(std::uint32_t rank) const;

  BlockTable* blocks_;
  std::uint32_t blocks_max_;
  std::uint32_t ghosts_max_ = 0;
  std::uint32_t size_ = 0;
  ReuseModel model_;
  std::shared_ptr<ReuseEntries> entries_;
  Ages ages_;
  Ghosts ghosts_;
  std::uint64_t ghost_hits_ = 0;
  WrappingMs deferred_ms_ = 0;                  // when what was deferred was looked at again
  std::vector<BlockList> candidates_;           // by cell + 1; the last: deferred
  std::array<std::uint64_t, kWords> ranked_{};  // by rank: whether the cell has candidates
};

}  // namespace kvtier
