// P-13: what slowly goes wrong. Popular and rare prompts, four clients that die in the middle of things, a
// daemon that is restarted again and again: the hit rate of the last tenth is that of the first steady one,
// and nothing has grown.

#include <cmath>
#include <filesystem>
#include <fstream>

#include "daemon/flow/state.h"
#include "libkvclient/base/checksum.h"
#include "tests/support/store_restart.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlots = 512;
constexpr std::uint64_t kPrompts = 400;
constexpr int kTenths = 10;
constexpr int kRequestsPerTenth = 20000;
constexpr int kRequestsPerDeath = 150;
constexpr int kRequestsPerRestart = 1500;

std::size_t open_descriptors() {
  const auto fds = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(fds), end(fds)));
}

// Of shared memory: an allocator maps as it likes.
std::size_t mappings() {
  std::ifstream file("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("/memfd:") != std::string::npos) ++count;
  }
  return count;
}

struct Resources {
  std::size_t descriptors = 0;
  std::size_t mappings = 0;
  std::uint64_t store_bytes = 0;
};

class Decay : public StoreFixture {
 protected:
  void SetUp() override {
    start();
    for (int i = 0; i < 4; ++i) add_engine();
  }
  void start() {
    StoreOptions options;
    options.slab_bytes = 16 * kBlock;
    make_store(kSlots, options);
    ASSERT_EQ(store_->cold_reason(), "");
  }
  void add_engine() {
    SimClient& client = add_client();
    space_ = usual_space(client);
    keep_pidfd(*store_, client);
  }

  // The popular ones are asked for far more often: the n-th with a share of about 1/n.
  std::uint64_t next_prompt() {
    const double unit = static_cast<double>(chance_.below(1U << 30)) / static_cast<double>(1U << 30);
    return static_cast<std::uint64_t>(std::pow(static_cast<double>(kPrompts), unit)) - 1;
  }

  struct Request {
    std::vector<Key> keys;
    std::vector<SimLease> leases;
    std::vector<Reservation> open;
  };
  Request begin(SimClient& client) {
    const std::uint64_t prompt = next_prompt();
    Request request{.keys = keys_of(prompt, 4 + prompt % 9)};
    for (const Key& key : request.keys) {
      std::optional<SimLease> lease = client.acquire(space_, key);
      if (!lease) break;
      expect_exact(*lease);
      request.leases.push_back(*lease);
    }
    const std::size_t hit = request.leases.size();
    if (hit > 0) client.log_access(space_, request.keys[hit - 1], static_cast<std::uint16_t>(hit));
    asked_ += request.keys.size();
    hit_ += hit;
    if (hit == request.keys.size()) return request;
    const std::vector<Key> missing(request.keys.begin() + static_cast<std::ptrdiff_t>(hit),
                                   request.keys.end());
    const std::uint32_t id = client.reserve(space_, missing, hit > 0 ? request.keys[hit - 1] : Key{});
    settle();
    for (int i = 0; !client.is_answered(id) && i < 100; ++i) advance(kNsPerMs);  // a slab is asked back
    EXPECT_TRUE(client.is_answered(id));
    if (client.is_answered(id)) request.open = client.reserved(id);
    return request;
  }
  void finish(SimClient& client, Request& request) {
    for (SimLease& lease : request.leases) SimClient::release(lease);
    if (chance_.below(12) == 0) {
      client.abort(holds_of(request.open));
    } else {
      commit(client, request.open);
    }
    advance(kNsPerMs);
  }

  // In the middle of a request, with leases and reservations.
  void die(std::size_t engine) {
    (void)begin(*clients_[engine]);
    end_process(*clients_[engine]);
    add_engine();
  }
  void take_sums() {
    while (std::optional<ChecksumJob> job = store_->checksum_next())
      store_->checksum_done(*job, checksum64(job->bytes));
  }
  void restart() {
    clock_.advance(2 * kNsPerSecond);
    take_sums();
    store_.reset();
    start();
    for (const auto& client : clients_) {
      ASSERT_NO_FATAL_FAILURE(resume_session(*store_, *client));
      (void)usual_space(*client);
    }
    take_sums();
    settle();
  }

  double run_tenth() {
    asked_ = hit_ = 0;
    for (int i = 0; i < kRequestsPerTenth && !HasFailure(); ++i) {
      const std::size_t engine = chance_.below(clients_.size());
      if (i % kRequestsPerDeath == 0) die(engine);
      if (i % kRequestsPerRestart == kRequestsPerRestart - 1) restart();
      Request request = begin(*clients_[engine]);
      finish(*clients_[engine], request);
    }
    return static_cast<double>(hit_) / static_cast<double>(asked_);
  }
  Resources resources() {
    settle();
    return {open_descriptors(), mappings(), stats().metadata_bytes + stats().channel_bytes};
  }

  Prng chance_{17};
  SpaceId space_ = SpaceId::kNone;
  std::uint64_t asked_ = 0;
  std::uint64_t hit_ = 0;
};

TEST_F(Decay, P_13_the_hit_rate_and_the_resources_stay_what_they_were) {
  (void)run_tenth();
  const double first = run_tenth();
  const Resources before = resources();
  double last = 0;
  for (int tenth = 2; tenth < kTenths && !HasFailure(); ++tenth) last = run_tenth();
  const Resources after = resources();
  EXPECT_GT(first, 0.3) << "the pool holds the popular prompts";
  EXPECT_NEAR(last, first, 0.05 * first);
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_LE(after.mappings, before.mappings + 2);
  EXPECT_LE(after.store_bytes, before.store_bytes);
  EXPECT_EQ(stats().blocks_writing + stats().slots_quarantined + stats().blocks_draining, 0U);
  EXPECT_EQ(stats().blocks_pinned + stats().waits_open + stats().zombies, 0U);
  std::cout << "hit rate " << first << " and " << last << '\n';
}

}  // namespace
}  // namespace kvtier::test
