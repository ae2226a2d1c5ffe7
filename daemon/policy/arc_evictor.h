#pragma once
// ARC (Megiddo, Modha, FAST 2003): recent and frequent blocks in two LRU lists; ghosts of both move the target size of
// the first. The class makes room before it knows which key comes: the target moves at the insert, one block late.

#include "daemon/policy/ghosts.h"
#include "daemon/policy/two_list_evictor.h"

namespace kvtier {

class ArcEvictor final : public TwoListEvictor {
 public:
  ArcEvictor(BlockTable& blocks, std::uint64_t seed);

  void set_capacity(std::uint32_t blocks) override;
  void insert(BlockId block, BlockId parent) override;
  void access(BlockId block) override { move_to_hottest(block, kProven); }
  void remember(BlockId block) override;
  [[nodiscard]] std::string_view name() const override { return "arc"; }

 private:
  Which first_list() override;
  BlockId skip_saved(BlockId block, Which) override { return block; }
  /// A key came back whose ghost is in `queue`.
  void adapt(std::uint32_t queue);
  void trim_ghosts();

  Ghosts ghosts_;
  std::uint32_t capacity_ = 0;
  double once_target_ = 0;  // blocks
};

}  // namespace kvtier
