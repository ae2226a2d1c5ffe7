#pragma once
// Paged: a kvclient::Sequence a request, over a virtual pool. Tokens are made up, different for every request: these
// traces say nothing about what requests have in common.

#include <unordered_map>

#include "kvclient/sequence.hpp"
#include "tools/paging/scheme.h"
#include "tools/paging/virtual_pool.h"

namespace kvtier::sim {

class PagedScheme final : public Scheme {
 public:
  /// The pool has as many whole blocks as fit into pool_tokens.
  PagedScheme(std::uint64_t pool_tokens, std::uint32_t block_tokens);

  [[nodiscard]] std::string_view name() const override { return "paged"; }
  [[nodiscard]] std::uint64_t needed(const LengthRequest& lengths) const override {
    return round_up(lengths.prompt);
  }
  bool admit(const RunningRequest& request) override;
  bool grow(const RunningRequest& request) override;
  void preempt(const RunningRequest& request) override;
  bool resume(const RunningRequest& request) override;
  void finish(const RunningRequest& request) override;
  [[nodiscard]] std::uint64_t allocated(const RunningRequest& request) const override;
  [[nodiscard]] std::uint64_t allocated_total() const override;
  [[nodiscard]] std::uint64_t pool_tokens() const override {
    return std::uint64_t{pool_.slots_count()} * pool_.block_tokens();
  }
  [[nodiscard]] std::uint64_t recomputed_tokens() const override { return recomputed_tokens_; }

 private:
  [[nodiscard]] std::uint64_t round_up(std::uint64_t tokens) const {
    return (tokens + pool_.block_tokens() - 1) / pool_.block_tokens() * pool_.block_tokens();
  }

  VirtualPool pool_;
  std::unordered_map<std::size_t, kvclient::Sequence> sequences_;  // by number; before the pool they end
  std::uint64_t recomputed_tokens_ = 0;
};

}  // namespace kvtier::sim
