#include "tools/paging/paged_scheme.h"

#include "libkvclient/base/check.h"
#include "libkvclient/base/prng.h"

namespace kvtier::sim {
namespace {

std::uint32_t token_at(const RunningRequest& request, std::uint64_t position) {
  return static_cast<std::uint32_t>(mix64((std::uint64_t{request.number} << 32) + position));
}

// A step computes all tokens that it has room for.
void publish(kvclient::Sequence& sequence) {
  KV_CHECK(sequence.commit(sequence.tokens_count()).is_ok(), "a virtual pool refused a block");
}

}  // namespace

PagedScheme::PagedScheme(std::uint64_t pool_tokens, std::uint32_t block_tokens)
    : pool_({.slots = static_cast<std::uint32_t>(pool_tokens / block_tokens), .block_tokens = block_tokens}) {
}

bool PagedScheme::admit(const RunningRequest& request) {
  // No prompt has a prefix in common with another: what waits need not be hashed again at every step.
  const std::uint64_t available = pool_.free_count() + pool_.evictable_count();
  if (needed(request.lengths) > available * pool_.block_tokens()) return false;
  std::vector<std::uint32_t> prompt;
  for (std::uint32_t i = 0; i < request.lengths.prompt; ++i) prompt.push_back(token_at(request, i));
  kvclient::Sequence sequence(pool_);
  if (!sequence.allocate(prompt).is_ok()) return false;
  publish(sequence);
  sequences_.emplace(request.number, std::move(sequence));
  return true;
}

bool PagedScheme::grow(const RunningRequest& request) {
  kvclient::Sequence& sequence = sequences_.at(request.number);
  if (!sequence.append(token_at(request, request.held())).is_ok()) return false;
  publish(sequence);
  return true;
}

void PagedScheme::preempt(const RunningRequest& request) {
  KV_CHECK(sequences_.at(request.number).swap_out().is_ok(), "a running sequence could not be swapped out");
}

// Full blocks that were evicted meanwhile are computed again: there is no lower tier.
bool PagedScheme::resume(const RunningRequest& request) {
  kvclient::Sequence& sequence = sequences_.at(request.number);
  const int code = sequence.swap_in().code;
  if (code != KVC_NOT_FOUND) return code == KVC_OK;
  if (!sequence.recompute().is_ok()) return false;
  recomputed_tokens_ += sequence.tokens_count() - sequence.written_count();
  publish(sequence);
  return true;
}

void PagedScheme::finish(const RunningRequest& request) {
  sequences_.erase(request.number);
}

std::uint64_t PagedScheme::allocated(const RunningRequest& request) const {
  return sequences_.at(request.number).table().size() * pool_.block_tokens();
}

std::uint64_t PagedScheme::allocated_total() const {
  return (pool_.private_count() + pool_.leased_count()) * pool_.block_tokens();
}

}  // namespace kvtier::sim
