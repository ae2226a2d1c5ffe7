#include "tests/kill/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "libkvclient/base/check.h"
#include "tests/support/pattern_block.h"
#include "tests/support/plain_spec.h"

namespace kvtier::kill {
namespace {

constexpr TimeNs kWaitNs = 20 * kNsPerMs;
constexpr TimeNs kDemandNs = 2 * kNsPerSecond;
constexpr TimeNs kPinNs = 50 * kNsPerMs;

Key pattern_of(const Place& place, std::size_t i) {
  return test::pattern_key(place.chain * kSpaces + place.space, place.first + i);
}

}  // namespace

std::vector<kvc_key> keys_at(const Place& place) {
  std::vector<kvc_key> keys(place.count);
  for (std::size_t i = 0; i < place.count; ++i) {
    const Key key = pattern_of(place, i);
    std::memcpy(&keys[i], &key, sizeof key);
  }
  return keys;
}

int register_space(kvc_client* client, std::size_t i, std::uint64_t deadline_ns, kvc_space** space) {
  const test::PlainSpec spec = test::plain_spec(i == 0 ? "kill-small" : "kill-large", kBlockBytes[i]);
  return kvc_space_register(client, spec.get(), deadline_ns, space);
}

Worker::Worker(const WorkerOptions& options)
    : options_(options),
      cells_(CellsFile::open(options.cells_path)),
      cell_(cells_.get().workers[options.index]),
      calls_(cell_, options.deadline_ms * kNsPerMs),
      prng_(options.seed) {}

Worker::~Worker() {
  let_go_of_everything();
  for (kvc_space* space : spaces_) kvc_space_close(space);
  kvc_client_close(client_);
}

void Worker::open() {
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = options_.socket_path.c_str();
  options.client_name = "kill-worker";
  options.deadline_ns = options_.deadline_ms * kNsPerMs;
  const int code = calls_.run(Verb::kOpen, 0, [&] { return kvc_client_open(&options, &client_); });
  KV_CHECK(code == KVC_OK, "a worker opens its client, the daemon being there or not");
  for (std::size_t i = 0; i < kSpaces; ++i) {
    calls_.run(Verb::kRegister, 0, [&] { return register_space(client_, i, 0, &spaces_[i]); });
    KV_CHECK(spaces_[i] != nullptr, "a worker registers its spaces, the daemon being there or not");
  }
}

int Worker::run() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  open();
  cell_.is_running.store(1, std::memory_order_release);
  const Orders& orders = cells_.get().orders;
  for (std::uint32_t rounds = 0; orders.stop.load(std::memory_order_relaxed) == 0; ++rounds) {
    if (options_.rounds_max != 0 && rounds == options_.rounds_max) break;
    if (orders.pause.load(std::memory_order_acquire) != 0) pause();
    round();
  }
  let_go_of_everything();
  return 0;
}

void Worker::pause() {
  let_go_of_everything();
  cell_.is_paused.store(1, std::memory_order_release);
  const Orders& orders = cells_.get().orders;
  while (orders.pause.load(std::memory_order_acquire) != 0 && orders.stop.load() == 0) ::usleep(500);
  cell_.is_paused.store(0, std::memory_order_release);
}

void Worker::round() {
  add_to(cell_.rounds);
  release_due(SystemClock().now_ns());
  const std::uint64_t dice = prng_.below(100);
  if (dice < 50) {
    read();
  } else if (dice < 82) {
    write();
  } else if (dice < 90) {
    wait(any_place(4));
  } else if (dice < 95) {
    pin();
  } else {
    control();
  }
  // Two processors carry all workers: a pause keeps queues for them from being what is measured.
  ::usleep(static_cast<useconds_t>(500 + prng_.below(3000)));
}

Place Worker::any_place(std::size_t count_max) {
  Place place;
  // Demand moves from one space to the other, so that slabs are cut anew.
  place.space = (SystemClock().now_ns() / kDemandNs) % kSpaces;
  if (chance(20)) place.space = prng_.below(kSpaces);
  // Two draws of which the smaller counts: low chains are asked for often, high ones seldom.
  place.chain = std::min(prng_.below(kChains), prng_.below(kChains));
  place.first = chance(50) ? 0 : prng_.below(kChainBlocks);
  place.count = static_cast<std::size_t>(
      1 + prng_.below(std::min<std::uint64_t>(count_max, kChainBlocks - place.first)));
  return place;
}

// A fixed piece of computing without any call: how long it takes at most is the scheduler's doing.
void Worker::control() {
  calls_.run(Verb::kControl, 0, [&] {
    std::vector<std::byte> block(kBlockBytes[0]);
    test::fill_pattern(test::pattern_key(1, 1), block);
    return test::check_pattern(test::pattern_key(1, 1), block) == block.size() ? KVC_OK : KVC_CORRUPT;
  });
}

void Worker::pin() {
  const Place place = any_place(4);
  const std::vector<kvc_key> keys = keys_at(place);
  std::size_t pinned = 0;
  kvc_space* space = spaces_[place.space];
  calls_.run(Verb::kPin, 0, [&] { return kvc_pin(space, keys.data(), keys.size(), kPinNs, 0, &pinned); });
  if (chance(50)) {
    calls_.run(Verb::kUnpin, 0, [&] { return kvc_unpin(space, keys.data(), keys.size(), 0); });
  }
}

TimeNs Worker::keep_ns(std::uint64_t percent) {
  if (!chance(percent)) return 0;
  const std::uint64_t longest_ms = chance(5) ? 5 * options_.hold_ms_max : options_.hold_ms_max;
  return prng_.below(longest_ms + 1) * kNsPerMs;
}

void Worker::wait(const Place& place) {
  const std::vector<kvc_key> keys = keys_at(place);
  std::size_t ready = 0;
  calls_.run(Verb::kWait, kWaitNs, [&] {
    return kvc_wait(spaces_[place.space], keys.data(), keys.size(), kWaitNs, nullptr, &ready);
  });
}

}  // namespace kvtier::kill
