#include "tests/kill/disk_writer.h"

#include <unistd.h>

#include <bit>
#include <cstring>

#include "libkvclient/base/check.h"
#include "tests/support/pattern_block.h"
#include "tests/support/plain_spec.h"

namespace kvtier::kill {
namespace {

constexpr std::uint64_t kBytes = 16 * 1024;
constexpr TimeNs kCallNs = 2 * kNsPerSecond;
constexpr TimeNs kAnswerNs = 50 * kNsPerMs;
// A look-up may miss what is there, seldom; nothing else is under way when promises are checked.
constexpr int kLooks = 200;

}  // namespace

DiskWriter::DiskWriter(const DiskWriterOptions& options) : options_(options), prng_(options.seed) {
  open();
}

DiskWriter::~DiskWriter() {
  kvc_lease_destroy(lease_);
  for (const Space& space : spaces_) kvc_space_close(space.handle);
  kvc_client_close(client_);
}

void DiskWriter::open() {
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = options_.socket.c_str();
  options.client_name = "kill-disk";
  options.deadline_ns = kCallNs;
  KV_CHECK(kvc_client_open(&options, &client_) == KVC_OK, "a client opens, the daemon being there or not");
  KV_CHECK(kvc_lease_create(client_, kChainBlocks, &lease_) == KVC_OK, "a lease can be made");
  for (std::size_t i = 0; i < 2; ++i) {
    const test::PlainSpec spec = test::plain_spec(
        "kill-disk-" + std::to_string(options_.index) + (i == 0 ? "-kept" : "-void"), kBytes);
    // It may have no daemon yet: what counts is the handle.
    (void)kvc_space_register(client_, spec.get(), kAnswerNs, &spaces_[i].handle);
    KV_CHECK(spaces_[i].handle != nullptr, "a space is registered, the daemon being there or not");
  }
}

std::vector<kvc_key> DiskWriter::keys(const Chain& chain) const {
  std::vector<kvc_key> all(kChainBlocks);
  for (std::size_t i = 0; i < kChainBlocks; ++i) {
    const Key key = test::pattern_key(chain.number, i);
    std::memcpy(&all[i], &key, sizeof key);
  }
  return all;
}

void DiskWriter::error(std::uint64_t& count, const std::string& what) {
  ++count;
  if (figures_.first_error.empty())
    figures_.first_error = "writer " + std::to_string(options_.index) + ": " + what;
}

// What a client may meet while daemons die and memory is short.
void DiskWriter::expected(int code, const char* what) {
  switch (code) {
    case KVC_OK:
    case KVC_EXISTS:
    case KVC_PENDING:
    case KVC_NO_SPACE:
    case KVC_UNAVAILABLE:
    case KVC_DEADLINE:
    case KVC_STALE:
      return;
    default:
      error(figures_.unexpected,
            std::string(what) + " answered " + kvc_code_name(code) + ": " + kvc_last_error());
  }
}

bool DiskWriter::await_daemon(const Stop& stop) {
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + 20 * kNsPerSecond;
  while (!stop.load() && clock.now_ns() < deadline_ns) {
    if (kvc_ping(client_, kAnswerNs) == KVC_OK) return true;
    ::usleep(1000);
  }
  return false;
}

bool DiskWriter::match(const Space& space, const Chain& chain, States& states) {
  const std::vector<kvc_key> all = keys(chain);
  std::size_t ready = 0;
  const int code = kvc_match(space.handle, all.data(), all.size(), states, &ready);
  expected(code, "match");
  return code == KVC_OK;
}

void DiskWriter::look(Space& space, Chain& chain) {
  States states;
  if (!match(space, chain, states)) return;
  for (std::size_t i = 0; i < kChainBlocks; ++i) {
    const std::uint32_t bit = 1U << i;
    if (states[i] != KVC_STATE_ON_DISK || (chain.on_disk & bit) != 0) continue;
    chain.on_disk |= bit;
    ++figures_.blocks_seen_on_disk;
  }
}

template <class Condition>
bool DiskWriter::settles(const Space& space, const Chain& chain, const Stop& stop, Condition is_wanted,
                         bool& is_known) {
  States states;
  is_known = false;
  for (int i = 0; i < kLooks && !stop.load(); ++i) {
    is_known = match(space, chain, states);
    if (is_known && is_wanted(states)) return true;
    ::usleep(1000);
  }
  return false;
}

void DiskWriter::check_chain(Space& space, Chain& chain, const Stop& stop) {
  if (chain.on_disk == 0) return;
  std::uint32_t there = 0;
  bool is_known = false;
  const auto has_all = [&](const States& states) {
    for (std::size_t i = 0; i < kChainBlocks; ++i) there |= states[i] != KVC_MISSING ? 1U << i : 0U;
    return !options_.is_strict || (chain.on_disk & ~there) == 0;
  };
  const bool is_there = settles(space, chain, stop, has_all, is_known);
  if (stop.load() || !is_known) return;
  const int found = std::popcount(chain.on_disk & there);
  (options_.is_strict ? figures_.must_checked : figures_.found_again) += static_cast<std::uint64_t>(found);
  if (!is_there) {
    error(figures_.lost, "chain " + std::to_string(chain.number) + ": of the blocks on disk " +
                             std::to_string(std::popcount(chain.on_disk & ~there)) + " are gone");
  }
  chain.on_disk &= there;
}

void DiskWriter::check_dead(const Space& space, const Chain& chain, const Stop& stop) {
  bool is_known = false;
  States last{};
  const auto has_none = [&](const States& states) {
    std::memcpy(last, states, sizeof last);
    for (const std::uint8_t state : states) {
      if (state != KVC_MISSING) return false;
    }
    return true;
  };
  const bool is_gone = settles(space, chain, stop, has_none, is_known);
  if (!is_known || stop.load()) return;
  figures_.void_checked += kChainBlocks;
  if (!is_gone)
    error(figures_.came_back, "chain " + std::to_string(chain.number) + " was invalidated and is there");
}

void DiskWriter::check_promises(const Stop& stop) {
  for (Space& space : spaces_) {
    for (Chain& chain : space.chains) {
      if (!space.is_doubtful) check_chain(space, chain, stop);
    }
    for (const Chain& chain : space.dead) check_dead(space, chain, stop);
  }
}

void DiskWriter::restore_all(const Stop& stop) {
  for (Space& space : spaces_) {
    for (Chain& chain : space.chains) {
      if (chain.on_disk == 0 || space.is_doubtful) continue;
      restore(space, chain);
      check_chain(space, chain, stop);
    }
  }
}

void DiskWriter::work(const Work& work, const Stop& stop) {
  while (!stop.load()) {
    round(work);
    if (work.pause_us_max > 0) ::usleep(static_cast<useconds_t>(prng_.below(work.pause_us_max)));
  }
}

void DiskWriter::round(const Work& work) {
  Space& space = spaces_[prng_.below(2)];
  if (space.is_doubtful || (&space == &spaces_[1] && chance(work.invalidate_percent)))
    return invalidate(space);
  if (space.chains.empty() || (work.is_writing && chance(60))) return work.is_writing ? write(space) : void();
  // Blocks that were written a moment ago are in memory: old chains are what is on disk.
  for (int i = 0; i < 4; ++i) look(space, space.chains[prng_.below(space.chains.size())]);
  Chain& chain = space.chains[prng_.below(space.chains.size())];
  if (work.is_writing && chance(25)) return sync(space, chain);
  chance(40) ? restore(space, chain) : read(space, chain);
}

void DiskWriter::write(Space& space) {
  Chain chain{.number = (std::uint64_t{options_.index} + 1) << 32 | next_chain_++};
  const std::vector<kvc_key> all = keys(chain);
  kvc_slot slots[kChainBlocks];
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  expected(kvc_reserve(space.handle, all.data(), all.size(), &options, slots), "reserve");
  std::uint64_t filled = 0;
  for (std::size_t i = 0; i < kChainBlocks; ++i) {
    if (slots[i].code != KVC_OK) continue;
    test::fill_pattern(test::pattern_key(chain.number, i), {static_cast<std::byte*>(slots[i].data), kBytes});
    ++filled;
  }
  if (filled == 0) {
    ::usleep(500);
    return;
  }
  const int code =
      kvc_commit(space.handle, slots, kChainBlocks, chance(30) ? std::uint32_t{KVC_WAIT} : 0U, 0);
  expected(code, "commit");
  figures_.blocks_committed += code == KVC_OK ? filled : 0;
  space.chains.push_back(chain);
}

void DiskWriter::restore(Space& space, Chain& chain) {
  const std::vector<kvc_key> all = keys(chain);
  States states;
  std::size_t ready = 0;
  expected(kvc_restore(space.handle, all.data(), all.size(), kCallNs, states, &ready), "restore");
  read(space, chain);
}

void DiskWriter::read(Space& space, const Chain& chain) {
  const std::vector<kvc_key> all = keys(chain);
  const int code = kvc_acquire(space.handle, all.data(), all.size(), KVC_UNORDERED, 0, lease_);
  expected(code, "acquire");
  if (code != KVC_OK) return;
  const void* const* blocks = kvc_lease_blocks(lease_);
  for (std::size_t i = 0; i < kvc_lease_count(lease_); ++i) {
    if (blocks[i] == nullptr) continue;
    ++figures_.blocks_checked;
    const std::size_t at = test::check_pattern(test::pattern_key(chain.number, i),
                                               {static_cast<const std::byte*>(blocks[i]), kBytes});
    if (at != kBytes) {
      error(figures_.wrong, "chain " + std::to_string(chain.number) + " block " + std::to_string(i) +
                                ": byte " + std::to_string(at) + " is not the key's");
    }
  }
  kvc_release(lease_);
}

// What is acknowledged is on disk, whether a look-up ever showed it there or not.
void DiskWriter::sync(Space& space, Chain& chain) {
  const std::vector<kvc_key> all = keys(chain);
  std::uint64_t durable = 0;
  const int code = kvc_sync(space.handle, all.data(), all.size(), kCallNs, &durable, nullptr);
  if (code != KVC_NOT_FOUND) expected(code, "sync");  // some of it left memory before it was written
  if (code != KVC_OK) return;
  if (durable != kChainBlocks) error(figures_.unexpected, "a sync that is ok has not all blocks");
  chain.on_disk = (1U << kChainBlocks) - 1;
  figures_.blocks_synced += durable;
}

void DiskWriter::invalidate(Space& space) {
  space.is_doubtful = true;
  const int code = kvc_invalidate(space.handle, kCallNs, nullptr);
  expected(code, "invalidate");
  if (code != KVC_OK) return;
  space.is_doubtful = false;
  ++figures_.invalidations;
  space.dead.insert(space.dead.end(), space.chains.begin(), space.chains.end());
  space.chains.clear();
}

}  // namespace kvtier::kill
