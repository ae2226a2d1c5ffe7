#pragma once
// Contiguous: one piece a request, reserved when it is admitted, for as long as it runs. The three of Kwon et al., section
// 6.1 (there they stand for Orca with a buddy allocator; here it is first fit).

#include <unordered_map>

#include "tools/paging/contiguous_pool.h"
#include "tools/paging/scheme.h"

namespace kvtier::sim {

class ContiguousScheme final : public Scheme {
 public:
  enum class Reserve : std::uint8_t {
    kMax,    ///< the longest sequence that there may be
    kPow2,   ///< the prompt, and the output rounded up to a power of two
    kOracle  ///< the prompt and the output, known beforehand
  };
  ContiguousScheme(std::uint64_t pool_tokens, Reserve reserve, std::uint64_t max_tokens)
      : pool_(pool_tokens), pool_tokens_(pool_tokens), reserve_(reserve), max_tokens_(max_tokens) {}

  [[nodiscard]] std::string_view name() const override;
  [[nodiscard]] std::uint64_t needed(const LengthRequest& lengths) const override;
  bool admit(const RunningRequest& request) override;
  bool grow(const RunningRequest& request) override;
  void preempt(const RunningRequest& request) override;
  bool resume(const RunningRequest& request) override;
  void finish(const RunningRequest& request) override;
  [[nodiscard]] std::uint64_t allocated(const RunningRequest& request) const override {
    return needed(request.lengths);
  }
  [[nodiscard]] std::uint64_t allocated_total() const override { return pool_tokens_ - pool_.free_tokens(); }
  [[nodiscard]] std::uint64_t pool_tokens() const override { return pool_tokens_; }

 private:
  ContiguousPool pool_;
  const std::uint64_t pool_tokens_;
  const Reserve reserve_;
  const std::uint64_t max_tokens_;
  std::unordered_map<std::size_t, std::uint64_t> pieces_;  // where they begin, by the request's number
};

}  // namespace kvtier::sim
