#pragma once
// S3-FIFO (Yang et al., SOSP 2023): a small queue for what is new, a main queue for what was used again while it was
// there or came back soon after, a ghost queue. An access only counts.

#include "daemon/policy/ghosts.h"
#include "daemon/policy/two_list_evictor.h"

namespace kvtier {

class S3FifoEvictor final : public TwoListEvictor {
 public:
  S3FifoEvictor(BlockTable& blocks, std::uint64_t seed);

  void set_capacity(std::uint32_t blocks) override;
  void insert(BlockId block, BlockId parent) override;
  void access(BlockId block) override;
  void insert_coldest(BlockId block) override;
  void remember(BlockId block) override;
  [[nodiscard]] std::string_view name() const override { return "s3fifo"; }

 private:
  Which first_list() override;
  BlockId skip_saved(BlockId block, Which which) override;
  void trim_ghosts();

  Ghosts ghosts_;
  Zeroed<std::uint8_t> uses_;   // since it entered its queue, at most kUsesMax
  std::uint32_t main_max_ = 0;  // blocks; beyond it the main queue gives one up
  std::uint32_t ghosts_max_ = 0;
};

}  // namespace kvtier
