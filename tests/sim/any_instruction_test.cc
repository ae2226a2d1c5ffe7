// The store is killed at any instruction: a child process runs it, single-stepped, and dies after a number of steps that
// a seed chooses; the parent, whose client lives on, adopts the memory. All that comes back is exact, all parts agree,
// and no slot is lost. KVTIER_CUTS runs so many, KVTIER_CUT_SEED replays one.

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "libkvclient/base/prng.h"
#include "tests/support/restart_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlotBytes = 4096;
constexpr std::uint64_t kSlots = 32;
constexpr std::uint64_t kChains = 6;
constexpr std::uint64_t kChainBlocks = 12;
// Few bytes of a slot are used: the steps are to fall into the store, not into filling.
constexpr std::uint64_t kSmallBytes = 64;
constexpr std::uint64_t kLargeBytes = kSlotBytes + 64;
constexpr std::uint64_t kStepsMax = 5'000;

StoreOptions small_store() {
  StoreOptions options;
  options.host_bytes = kSlots * kSlotBytes;
  options.slab_bytes = 8 * kSlotBytes;
  options.low_water_blocks = 2;
  options.seed = 1;
  return options;
}

class AnyInstruction : public RestartFixture {
 protected:
  AnyInstruction() : RestartFixture(small_store()) {}
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(RestartFixture::SetUp());
    register_spaces();
  }

  void register_spaces() {
    spaces_[1] = client_->register_space(encoded_spec("large", kLargeBytes));
    spaces_[0] = client_->register_space(encoded_spec("small", kSmallBytes));
  }

  void work() {
    clock_.advance(10 * kNsPerMs);
    settle();
  }

  // What a block of a key holds does not depend on its space: its first bytes are the key's.
  void put(std::size_t space, Prng& prng) {
    const std::uint64_t count = 1 + prng.below(4);
    const std::uint64_t chain = prng.below(kChains) * 2 + space;
    const std::vector<Key> keys = keys_of(chain, count, prng.below(kChainBlocks));
    const std::uint32_t request = client_->reserve(spaces_[space], keys, Key{});
    work();
    if (!client_->is_answered(request)) return;
    std::vector<Hold> holds;
    for (const Reservation& each : client_->reserved(request)) {
      if (each.result.code != Code::kOk) continue;
      fill_pattern(each.key, client_->bytes_of(each.result.slot, kSmallBytes));
      holds.push_back(each.result.hold);
    }
    if (prng.below(4) == 0) return client_->abort(holds);
    if (prng.below(8) != 0) client_->commit(holds);
  }

  // Some of what is taken is left open: the daemon does not know which.
  void put_from_stock(Prng& prng) {
    client_->refill(spaces_[0], 1 + static_cast<std::uint32_t>(prng.below(4)));
    deliver();
    const std::uint64_t chain = prng.below(kChains) * 2;
    std::vector<Hold> holds;
    const std::uint64_t count = 1 + prng.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::optional<Reservation> taken = client_->take(spaces_[0], pattern_key(chain, i), Key{});
      if (!taken) break;
      fill_pattern(taken->key, client_->bytes_of(taken->result.slot, kSmallBytes));
      if (prng.below(8) != 0) holds.push_back(taken->result.hold);
    }
    if (prng.below(4) == 0) return client_->abort(holds);
    client_->commit(holds);
  }

  // What the daemon does until it is killed.
  void act(Prng& prng) {
    switch (prng.below(10)) {
      case 0:
        return sum_all();
      case 1:
      case 2:
        return put_from_stock(prng);
      case 3:
        if (prng.below(6) == 0) (void)client_->simple(Op::kInvalidate, spaces_[prng.below(2)], {});
        return work();
      default:
        return put(prng.below(4) == 0 ? 1 : 0, prng);
    }
  }

  [[noreturn]] void run_child(Prng prng) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    (void)::raise(SIGSTOP);
    while (true) act(prng);
  }

  // False: this process may not trace its child.
  bool kill_at_step(Prng& prng) {
    const std::uint64_t steps = 1 + prng.below(kStepsMax);
    const pid_t child = ::fork();
    if (child == 0) run_child(Prng(prng.next()));
    int status = 0;
    (void)::waitpid(child, &status, 0);
    if (!WIFSTOPPED(status)) return false;
    for (std::uint64_t i = 0; i < steps && WIFSTOPPED(status); ++i) {
      if (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
      (void)::waitpid(child, &status, 0);
    }
    EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP)
        << "the store stopped by itself: status " << status;
    ::kill(child, SIGKILL);
    (void)::waitpid(child, &status, 0);
    return true;
  }

  void adopt() {
    ASSERT_NO_FATAL_FAILURE(restart_warm());
    ASSERT_NO_FATAL_FAILURE(resume());
    register_spaces();
    client_->acknowledge();
    sum_all();
    work();
  }

  void check() {
    check_store(*store_);
    const StoreStats& stats = store_->stats();
    EXPECT_EQ(stats.blocks_writing + stats.slots_quarantined + stats.blocks_draining, 0U);
    EXPECT_EQ(stats.checksum_failures, 0U);
    for (std::uint64_t chain = 0; chain < 2 * kChains; ++chain) {
      for (std::uint64_t i = 0; i < kChainBlocks + 4; ++i) {
        std::optional<SimLease> lease = client_->acquire(spaces_[chain % 2], pattern_key(chain, i));
        if (!lease) continue;
        EXPECT_EQ(check_pattern(lease->key, lease->bytes.first(kSmallBytes)), kSmallBytes);
        SimClient::release(*lease);
        ++seen_;
      }
    }
  }

  void expect_every_slot() {
    for (const SpaceId space : spaces_) (void)client_->simple(Op::kInvalidate, space, {});
    expect_no_leak(spaces_[0]);
  }

  SpaceId spaces_[2] = {};
  std::uint64_t seen_ = 0;
};

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

TEST_F(AnyInstruction, NothingIsLostAndNothingIsWrong) {
  const std::uint64_t seed = from_environment("KVTIER_CUT_SEED", 1);
  Prng prng(seed);
  const std::uint64_t cuts = from_environment("KVTIER_CUTS", 60);
  for (std::uint64_t cut = 0; cut < cuts && !HasFailure(); ++cut) {
    SCOPED_TRACE("KVTIER_CUT_SEED=" + std::to_string(seed) + " cut " + std::to_string(cut));
    for (int i = 0; i < 8; ++i) act(prng);
    sum_all();
    if (!kill_at_step(prng)) GTEST_SKIP() << "no ptrace here";
    adopt();
    check();
    if (cut % 8 == 7) expect_every_slot();
  }
  EXPECT_GT(seen_, cuts) << "there was something to adopt";
}

}  // namespace
}  // namespace kvtier::test
