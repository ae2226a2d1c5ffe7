#include "tests/system/cache_client.h"

#include <algorithm>
#include <cstring>

#include "tests/support/pattern_block.h"
#include "tests/support/plain_spec.h"

namespace kvtier::test {
namespace {

Key key_of(const kvc_key& key) {
  return digest_from_bytes(&key);
}

}  // namespace

std::vector<kvc_key> chain_keys(std::uint64_t chain, std::size_t first, std::size_t count) {
  std::vector<kvc_key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = pattern_key(chain, first + i);
    std::memcpy(&keys[i], &key, sizeof key);
  }
  return keys;
}

CacheClient::CacheClient(const Options& options) : deadline_ns_(options.deadline_ns) {
  kvc_client_options open{};
  open.struct_size = sizeof open;
  open.socket_path = options.socket.c_str();
  open.namespace_name = options.namespace_name.c_str();
  open.client_name = "cache-client";
  open.deadline_ns = options.deadline_ns;
  open.flags = options.flags | KVC_REQUIRE;
  code_ = kvc_client_open(&open, &client_);
  if (code_ == KVC_OK) {
    code_ = kvc_space_register(client_, plain_spec(options.model, kBlockBytes).get(), deadline_ns_, &space_);
  }
  if (code_ != KVC_OK) error_ = kvc_last_error();
}

CacheClient::~CacheClient() {
  for (kvc_lease* lease : held_) kvc_lease_destroy(lease);
  kvc_space_close(space_);
  kvc_client_close(client_);
}

std::size_t CacheClient::store(std::uint64_t chain, std::size_t first, std::size_t count) {
  const std::vector<kvc_key> keys = chain_keys(chain, first, count);
  std::vector<kvc_slot> slots(count);
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  const std::vector<kvc_key> parent = chain_keys(chain, first == 0 ? 0 : first - 1, 1);
  options.parent = first == 0 ? nullptr : parent.data();
  options.deadline_ns = deadline_ns_;
  (void)kvc_reserve(space_, keys.data(), count, &options, slots.data());
  std::size_t stored = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (slots[i].code == KVC_EXISTS) ++stored;
    if (slots[i].code != KVC_OK) continue;
    fill_pattern(key_of(keys[i]), {static_cast<std::byte*>(slots[i].data), kBlockBytes});
    ++stored;
  }
  return kvc_commit(space_, slots.data(), count, KVC_WAIT, deadline_ns_) == KVC_OK ? stored : 0;
}

std::size_t CacheClient::match(std::uint64_t chain, std::size_t count) {
  const std::vector<kvc_key> keys = chain_keys(chain, 0, count);
  std::size_t ready = 0;
  return kvc_match(space_, keys.data(), count, nullptr, &ready) == KVC_OK ? ready : 0;
}

CacheClient::Read CacheClient::read(std::uint64_t chain, std::size_t count) {
  return read(chain, count, 0);
}

CacheClient::Read CacheClient::read_any(std::uint64_t chain, std::size_t count) {
  return read(chain, count, KVC_UNORDERED);
}

CacheClient::Read CacheClient::read(std::uint64_t chain, std::size_t count, std::uint32_t flags) {
  const std::vector<kvc_key> keys = chain_keys(chain, 0, count);
  kvc_lease* lease = nullptr;
  Read result;
  if (kvc_lease_create(client_, count, &lease) != KVC_OK) return result;
  if (kvc_acquire(space_, keys.data(), count, flags, 0, lease) == KVC_OK) {
    result.blocks = kvc_lease_held(lease);
    const void* const* blocks = kvc_lease_blocks(lease);
    for (std::size_t i = 0; i < kvc_lease_count(lease); ++i) {
      if (blocks[i] == nullptr) continue;
      const std::span<const std::byte> bytes(static_cast<const std::byte*>(blocks[i]), kBlockBytes);
      if (check_pattern(key_of(keys[i]), bytes) != kBlockBytes) ++result.wrong_blocks;
    }
    kvc_release(lease);
  }
  kvc_lease_destroy(lease);
  return result;
}

CacheClient::Restored CacheClient::restore(std::uint64_t chain, std::size_t count) {
  const std::vector<kvc_key> keys = chain_keys(chain, 0, count);
  Restored result;
  result.code = kvc_restore(space_, keys.data(), count, deadline_ns_, nullptr, &result.ready);
  return result;
}

std::size_t CacheClient::count_state(std::uint64_t chain, std::size_t count, std::uint8_t state) {
  const std::vector<kvc_key> keys = chain_keys(chain, 0, count);
  std::vector<std::uint8_t> states(count);
  std::size_t ready = 0;
  (void)kvc_match(space_, keys.data(), count, states.data(), &ready);
  return static_cast<std::size_t>(std::ranges::count(states, state));
}

std::size_t CacheClient::hold(std::uint64_t chain, std::size_t count) {
  const std::vector<kvc_key> keys = chain_keys(chain, 0, count);
  kvc_lease* lease = nullptr;
  if (kvc_lease_create(client_, count, &lease) != KVC_OK) return 0;
  held_.push_back(lease);
  return kvc_acquire(space_, keys.data(), count, 0, 0, lease) == KVC_OK ? kvc_lease_held(lease) : 0;
}

std::size_t CacheClient::reserve_and_forget(std::uint64_t chain, std::size_t first, std::size_t count) {
  const std::vector<kvc_key> keys = chain_keys(chain, first, count);
  std::vector<kvc_slot> slots(count);
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.deadline_ns = deadline_ns_;
  (void)kvc_reserve(space_, keys.data(), count, &options, slots.data());
  std::size_t reserved = 0;
  for (const kvc_slot& slot : slots) reserved += slot.code == KVC_OK ? 1 : 0;
  return reserved;
}

pid_t CacheClient::refused_by(std::uint64_t chain, std::size_t count, kvc_cause cause) {
  const std::vector<kvc_key> keys = chain_keys(chain, 0, count);
  std::vector<kvc_slot> slots(count);
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.flags = KVC_ALL_OR_NOTHING;
  options.deadline_ns = deadline_ns_;
  (void)kvc_reserve(space_, keys.data(), count, &options, slots.data());
  const bool is_refused = slots[0].code == KVC_NO_SPACE && slots[0].cause == cause;
  return is_refused ? static_cast<pid_t>(slots[0].detail) : 0;
}

bool CacheClient::ping(TimeNs deadline_ns) {
  return kvc_ping(client_, deadline_ns) == KVC_OK;
}

kvc_client_status CacheClient::status() {
  kvc_client_status status{};
  status.struct_size = sizeof status;
  (void)kvc_status(client_, &status);
  return status;
}

}  // namespace kvtier::test
