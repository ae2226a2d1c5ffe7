#include "daemon/flow/admin_find.h"

#include <cstring>

namespace kvtier {
namespace {

// A position counts places for spaces, used or not, so that it stays right while spaces are added.
BlockId find_in_space(StoreState& state, const Key& key, std::uint64_t position) {
  Tenant& tenant = state.tenants[position / state.options.spaces_max];
  const std::uint64_t place = position % state.options.spaces_max;
  if (place >= tenant.spaces.size()) return BlockId::kNone;
  const SpaceId space{static_cast<std::uint32_t>(place + 1)};
  const BlockId found = state.index->find(tenant.id, space, key);
  // The index compares fingerprints.
  return found != BlockId::kNone && state.blocks[found].key == key ? found : BlockId::kNone;
}

BlockId find_in_table(const StoreState& state, const KeyPrefix& prefix, std::uint64_t position) {
  const BlockId id{static_cast<std::uint32_t>(position)};
  const BlockRecord& record = state.blocks[id];
  const bool is_block = record.state != BlockState::kFree && record.state != BlockState::kStocked;
  return is_block && prefix.matches(record.key) ? id : BlockId::kNone;
}

}  // namespace

KeyPrefix::KeyPrefix(std::string_view hex) {
  constexpr std::size_t kDigits = 2 * sizeof(Key);
  if (hex.size() < 4 || hex.size() > kDigits) return;
  const Result<Digest> key = digest_from_hex(std::string(hex) + std::string(kDigits - hex.size(), '0'));
  if (!key.is_ok()) return;
  key_ = key.value();
  digits_ = hex.size();
}

bool KeyPrefix::matches(const Key& key) const {
  if (digits_ == 0 || std::memcmp(&key, &key_, digits_ / 2) != 0) return false;
  if (digits_ % 2 == 0) return true;
  const auto half = [this](const Key& of) {
    return reinterpret_cast<const unsigned char*>(&of)[digits_ / 2] >> 4;
  };
  return half(key) == half(key_);
}

BlockId admin_find_next(StoreState& state, const KeyPrefix& prefix, std::uint64_t& position,
                        std::int64_t& budget) {
  while (budget > 0 && !admin_find_is_over(state, prefix, position)) {
    --budget;
    const BlockId found = prefix.is_whole() ? find_in_space(state, prefix.key(), position)
                                            : find_in_table(state, prefix, position);
    ++position;
    if (found != BlockId::kNone) return found;
  }
  return BlockId::kNone;
}

bool admin_find_is_over(const StoreState& state, const KeyPrefix& prefix, std::uint64_t position) {
  if (!prefix.is_whole()) return position >= state.blocks.limit();
  return position >= std::uint64_t{state.options.spaces_max} * state.tenants.size();
}

}  // namespace kvtier
