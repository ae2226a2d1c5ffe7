#pragma once
// The least reuse for the time it is kept leaves first (reuse_model.h). Only blocks without children in the class are
// candidates; blocks that left for want of room are watched as ghosts, to learn when they would have been used again.
// Time comes with the records: BlockRecord::access_ms is set before insert and access. O(1) a call, but for learn().

#include <array>

#include "daemon/policy/ages.h"
#include "daemon/policy/block_list.h"
#include "daemon/policy/evictor.h"
#include "daemon/policy/ghosts.h"

namespace kvtier {

class ReuseEvictor final : public Evictor {
 public:
  ReuseEvictor(BlockTable& blocks, std::uint64_t seed);

  void set_capacity(std::uint32_t blocks) override;
  void insert(BlockId block, BlockId parent) override;
  void access(BlockId block) override;
  void insert_coldest(BlockId block) override;
  void remember(BlockId block) override;
  void remove(BlockId block) override;
  void hint(BlockId block, UseHint hint, WrappingMs now_ms) override;
  void defer(BlockId block) override;
  BlockId coldest() override { return first_from(0); }
  BlockId after(BlockId block) override;
  [[nodiscard]] std::uint32_t size() const override { return size_; }
  [[nodiscard]] std::string_view name() const override { return "reuse"; }

 private:
  /// Who continues whom, among the blocks of the class. A parent that left and a block that has its id now are told
  /// apart by their lives.
  struct Kin {
    BlockId parent;
    std::uint32_t parent_life;
    std::uint32_t life;
    std::uint32_t children;
    std::uint16_t list;  // kUnlisted, or where among the candidates
  };
  static constexpr std::uint16_t kUnlisted = 0;  // else the cell + 1
  static constexpr std::uint16_t kDeferred = ReuseModel::kCells + 1;
  static constexpr std::uint32_t kWords = (ReuseModel::kCells + 63) / 64;

  static Ages::Place place_of(BlockId block) { return index_of(block); }
  [[nodiscard]] Ages::Place place_of_ghost(std::uint32_t ghost) const { return blocks_max_ + ghost; }

  void inherit(Ages::Entry& entry, BlockId parent) const;
  void count_use(Ages::Entry& entry, WrappingMs now_ms);
  void enter(BlockId block);
  void adopt(BlockId block, BlockId parent);
  void orphan(BlockId block);
  void drop_ghost(std::uint32_t ghost);
  void let_time_pass(WrappingMs now_ms);

  void list(BlockId block, std::uint16_t where);
  void list_coldest(BlockId block);
  void unlist(BlockId block);
  void rank_again();
  [[nodiscard]] BlockId first_from(std::uint32_t rank) const;

  BlockTable* blocks_;
  std::uint32_t blocks_max_;
  std::uint32_t ghosts_max_ = 0;
  std::uint32_t size_ = 0;
  ReuseModel model_;
  Ages ages_;
  Ghosts ghosts_;
  Zeroed<Kin> kin_;
  std::vector<BlockList> candidates_;           // by cell + 1; the last: deferred
  std::array<std::uint64_t, kWords> ranked_{};  // by rank: whether the cell has candidates
};

}  // namespace kvtier
