#include "tools/paging/virtual_pool.h"

#include <algorithm>

#include "libkvclient/base/check.h"
#include "libkvclient/base/prng.h"

namespace kvtier::sim {

using kvclient::SlotId;

bool VirtualPool::KeyEqual::operator()(const kvc_key& a, const kvc_key& b) const {
  return std::ranges::equal(a.words, b.words);
}

VirtualPool::VirtualPool(const Options& options)
    : options_(options), slots_(options.slots), bytes_(options.slots * options.block_bytes) {
  free_.reserve(options.slots);
  for (std::uint32_t i = options.slots; i-- > 0;) free_.push_back(SlotId{i});
}

std::vector<kvc_key> VirtualPool::keys(std::span<const std::uint32_t> tokens, const kvc_key* parent) {
  std::vector<kvc_key> keys;
  kvc_key key = parent != nullptr ? *parent : kvc_key{{1, 2, 3, 4}};
  for (; tokens.size() >= block_tokens(); tokens = tokens.subspan(block_tokens())) {
    for (const std::uint32_t token : tokens.first(block_tokens())) {
      key.words[0] = mix64(key.words[0] + token + 1);
      key.words[1] = mix64(key.words[1] ^ (std::uint64_t{token} << 32) ^ 0x9e3779b97f4a7c15ULL);
    }
    keys.push_back(key);
  }
  return keys;
}

std::size_t VirtualPool::acquire(kvclient::Keys keys, kvclient::Acquire how, std::span<SlotId> slots) {
  std::ranges::fill(slots, SlotId::kNone);
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = committed_.find(keys[i]);
    if (found == committed_.end() && how == kvclient::Acquire::kLeading) break;
    if (found == committed_.end()) continue;
    lease(slots[i] = found->second);
    ++count;
  }
  return count;
}

void VirtualPool::lease(SlotId id) {
  if (at(id).leases++ == 0) evictable_.erase(at(id).place);
}

void VirtualPool::release(SlotId leased) noexcept {
  Slot& slot = at(leased);
  KV_CHECK(slot.is_committed && slot.leases > 0, "a slot is released that nobody leases");
  if (--slot.leases == 0) slot.place = evictable_.insert(evictable_.end(), leased);
}

kvclient::Outcome VirtualPool::reserve(const kvclient::SlotRequest& request, std::span<SlotId> slots) {
  const std::size_t count = request.size();
  if (count > slots_.size()) return {KVC_NO_SPACE, KVC_CAUSE_REQUEST_TOO_LARGE};
  if (count > free_.size() + evictable_.size()) return {KVC_NO_SPACE, KVC_CAUSE_PINNED_BY};
  for (std::size_t i = 0; i < count; ++i) {
    if (free_.empty()) evict_one();
    slots[i] = free_.back();
    free_.pop_back();
  }
  private_ += count;
  return {};
}

void VirtualPool::evict_one() {
  const SlotId id = evictable_.front();
  evictable_.pop_front();
  committed_.erase(at(id).key);
  at(id) = {};
  free_.push_back(id);
  ++evictions_;
}

void VirtualPool::evict_all() {
  while (!evictable_.empty()) evict_one();
}

void VirtualPool::abort(SlotId reserved) noexcept {
  KV_CHECK(!at(reserved).is_committed && private_ > 0, "a slot is aborted that is not reserved");
  --private_;
  free_.push_back(reserved);
}

void VirtualPool::commit(std::span<kvclient::BlockCommit> blocks) {
  for (kvclient::BlockCommit& block : blocks) {
    const auto [found, is_new] = committed_.try_emplace(block.key, block.slot);
    if (is_new) {
      Slot& slot = at(block.slot);
      slot.key = block.key;
      slot.is_committed = true;
      slot.leases = 1;
      --private_;
    } else {
      abort(block.slot);
      lease(block.slot = found->second);
    }
    block.code = KVC_OK;
  }
}

std::span<const std::byte> VirtualPool::readable(SlotId slot) const {
  return std::span(bytes_).subspan(static_cast<std::size_t>(slot) * block_bytes(), block_bytes());
}

std::span<std::byte> VirtualPool::writable(SlotId reserved) {
  return std::span(bytes_).subspan(static_cast<std::size_t>(reserved) * block_bytes(), block_bytes());
}

}  // namespace kvtier::sim
