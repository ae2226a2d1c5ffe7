// The part of a worker that touches blocks: leases and their bytes, reservations and what is written into
// them.

#include <cstdio>
#include <cstring>

#include "libkvclient/base/check.h"
#include "tests/kill/worker.h"
#include "tests/support/pattern_block.h"

namespace kvtier::kill {
namespace {

constexpr std::size_t kHeldMax = 6;
constexpr std::size_t kWritingMax = 3;
constexpr std::size_t kPlaceMax = 8;

Key key_of(const kvc_key& key) {
  Key words{};
  std::memcpy(&words, &key, sizeof words);
  return words;
}

}  // namespace

void Worker::check(const Held& held, const char* when) {
  const std::vector<kvc_key> keys = keys_at(held.place);
  const void* const* blocks = kvc_lease_blocks(held.lease);
  const std::size_t bytes = kvc_lease_block_bytes(held.lease);
  for (std::size_t i = 0; i < kvc_lease_count(held.lease); ++i) {
    if (blocks[i] == nullptr) continue;
    const auto* data = static_cast<const std::byte*>(blocks[i]);
    const std::size_t at = test::check_pattern(key_of(keys[i]), {data, bytes});
    if (at == bytes && bytes == kBlockBytes[held.place.space]) continue;
    char line[200];
    std::snprintf(line, sizeof line, "%s: space %zu chain %llu block %llu: byte %zu of %zu is not the key's",
                  when, held.place.space, static_cast<unsigned long long>(held.place.chain),
                  static_cast<unsigned long long>(held.place.first + i), at, bytes);
    calls_.wrong(line);
  }
}

void Worker::read() {
  if (held_.size() >= kHeldMax) return;
  Held held;
  held.place = any_place(kPlaceMax);
  const std::vector<kvc_key> keys = keys_at(held.place);
  kvc_space* space = spaces_[held.place.space];
  std::uint8_t states[kPlaceMax];
  std::size_t ready = 0;
  calls_.run(Verb::kMatch, 0, [&] {
    return kvc_match(space, keys.data(), keys.size(), chance(50) ? states : nullptr, &ready);
  });
  KV_CHECK(kvc_lease_create(client_, kPlaceMax, &held.lease) == KVC_OK, "a lease can be made");
  const std::uint32_t flags = chance(30) ? std::uint32_t{KVC_UNORDERED} : 0U;
  calls_.run(Verb::kAcquire, 0,
             [&] { return kvc_acquire(space, keys.data(), keys.size(), flags, prng_.next(), held.lease); });
  add_to(cell_.blocks_checked, kvc_lease_held(held.lease));
  check(held, "at acquire");
  held.until_ns = SystemClock().now_ns() + keep_ns(30);
  held_.push_back(held);
}

void Worker::release_due(TimeNs now_ns) {
  for (std::size_t i = 0; i < held_.size();) {
    if (held_[i].until_ns > now_ns) {
      ++i;
      continue;
    }
    add_to(cell_.blocks_rechecked, kvc_lease_held(held_[i].lease));
    check(held_[i], "before release");
    calls_.run(Verb::kRelease, 0, [&] { return kvc_release(held_[i].lease), KVC_OK; });
    kvc_lease_destroy(held_[i].lease);
    held_[i] = held_.back();
    held_.pop_back();
  }
  for (std::size_t i = 0; i < writing_.size();) {
    if (writing_[i].until_ns > now_ns) {
      ++i;
      continue;
    }
    finish_writing(writing_[i]);
    writing_.erase(writing_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Worker::let_go_of_everything() {
  release_due(kNever);
}

void Worker::fill(const Writing& writing) {
  const std::vector<kvc_key> keys = keys_at(writing.place);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (writing.slots[i].data == nullptr) continue;
    auto* data = static_cast<std::byte*>(writing.slots[i].data);
    test::fill_pattern(key_of(keys[i]), {data, kBlockBytes[writing.place.space]});
  }
}

void Worker::write() {
  if (writing_.size() >= kWritingMax) return;
  Writing writing;
  writing.place = any_place(kPlaceMax);
  const std::vector<kvc_key> keys = keys_at(writing.place);
  writing.slots.resize(keys.size());
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  kvc_key parent{};
  if (writing.place.first > 0) {
    Place before = writing.place;
    before.count = 1;
    --before.first;
    parent = keys_at(before)[0];
    options.parent = &parent;
  }
  options.flags =
      (chance(30) ? std::uint32_t{KVC_ALL_OR_NOTHING} : 0U) | (chance(50) ? std::uint32_t{KVC_NO_CLAIM} : 0U);
  calls_.run(Verb::kReserve, 0, [&] {
    return kvc_reserve(spaces_[writing.place.space], keys.data(), keys.size(), &options,
                       writing.slots.data());
  });
  // A slot is filled at once or only at the end of its time; half-written slots die with their process.
  if (chance(60)) fill(writing);
  bool is_pending = false;
  for (const kvc_slot& slot : writing.slots) is_pending = is_pending || slot.code == KVC_PENDING;
  const Place place = writing.place;
  writing.until_ns = SystemClock().now_ns() + keep_ns(20);
  writing_.push_back(std::move(writing));
  if (is_pending) wait(place);
}

void Worker::finish_writing(Writing& writing) {
  kvc_space* space = spaces_[writing.place.space];
  kvc_slot* slots = writing.slots.data();
  const std::size_t count = writing.slots.size();
  const std::uint32_t flags = chance(40) ? std::uint32_t{KVC_WAIT} : 0U;
  if (chance(15)) {
    for (const kvc_slot& slot : writing.slots) {
      if (slot.data != nullptr) std::memset(slot.data, 0xEE, kBlockBytes[writing.place.space]);
    }
    calls_.run(Verb::kAbort, 0, [&] { return kvc_abort(space, slots, count, flags, 0); });
    return;
  }
  fill(writing);
  std::size_t filled = 0;
  for (const kvc_slot& slot : writing.slots) filled += slot.data != nullptr ? 1 : 0;
  const int code = calls_.run(Verb::kCommit, 0, [&] { return kvc_commit(space, slots, count, flags, 0); });
  add_to(code == KVC_STALE ? cell_.commits_stale : cell_.blocks_committed, code == KVC_STALE ? 1 : filled);
}

}  // namespace kvtier::kill
