#pragma once
// What ARC and S3-FIFO share: blocks in two lists, those that were used once lately and those that proved themselves. A
// pass goes through one list and then through the other; deferred blocks wait at the end of that order. O(1) a call.

#include "daemon/policy/block_list.h"
#include "daemon/policy/evictor.h"
#include "daemon/policy/zeroed.h"

namespace kvtier {

class TwoListEvictor : public Evictor {
 public:
  void insert_coldest(BlockId block) override;
  void remove(BlockId block) override;
  void defer(BlockId block) override;
  BlockId coldest() override;
  BlockId after(BlockId block) override;
  [[nodiscard]] std::uint32_t size() const override { return lists_[kOnce].size() + lists_[kProven].size(); }

 protected:
  enum Which : std::uint8_t { kOnce = 0, kProven = 1 };

  explicit TwoListEvictor(BlockTable& blocks);

  /// The list from which the next block leaves. Neither need have any.
  virtual Which first_list() = 0;
  /// From `block` on, which is on `which` or is kNone, the first that has no second chance; kNone at the end.
  virtual BlockId skip_saved(BlockId block, Which which) = 0;

  /// Just colder than `parent` if that is on the same list, else at its hot end.
  void push(BlockId block, Which which, BlockId parent = BlockId::kNone);
  void move_to_hottest(BlockId block, Which which);
  [[nodiscard]] Which which(BlockId block) const { return where_[index_of(block)]; }
  [[nodiscard]] const BlockList& list(Which which) const { return lists_[which]; }
  [[nodiscard]] BlockTable& blocks() const { return *blocks_; }

 private:
  BlockId first_or_other(BlockId of_first);

  BlockTable* blocks_;
  BlockList lists_[2];
  Zeroed<Which> where_;
  Which first_ = kOnce;  // of the pass that coldest() began
};

}  // namespace kvtier
