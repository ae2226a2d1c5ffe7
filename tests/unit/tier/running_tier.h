#pragma once
// A tier on real folders with its agent on a thread of its own; the conductor's end is the test's thread.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "daemon/agent/agent_runner.h"
#include "daemon/agent/eventfd_waiter.h"
#include "daemon/tier/disk_opening.h"
#include "tests/support/pattern_block.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {

inline constexpr std::uint64_t kSlabBytes = 16 * kMiB;

inline std::string make_folder(const ScratchDir& dir, const std::string& name) {
  std::filesystem::create_directory(dir.file(name));
  return dir.file(name);
}

inline NvmeTierOptions options_of(const std::vector<std::string>& folders,
                                  IoEngine engine = IoEngine::kPosix) {
  NvmeTierOptions options{.engine = engine,
                          .segment_bytes = 4 * kMiB,
                          .headroom_bytes = 1,
                          .slab_bytes = kSlabBytes,
                          .slabs_max = 2,
                          .instance = "pid 17, socket S"};
  for (const std::string& folder : folders) options.paths.push_back({folder, 33 * kMiB});
  return options;
}

/// The conductor's end on this thread, the agent on its own.
class RunningTier {
 public:
  explicit RunningTier(const NvmeTierOptions& options) : opening_(DiskOpening::open(options)) {
    if (opening_.tier == nullptr) return;
    waiter_ = EventfdWaiter::create().value();
    tier().set_conductor(*waiter_);
    memory_ = static_cast<std::byte*>(
        ::mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    runner_ = std::make_unique<AgentRunner>(tier().agent(), tier().waiter(), clock_, AgentLoopOptions{});
    KV_CHECK(runner_->start().is_ok(), "a thread is to be had");
  }
  ~RunningTier() {
    if (runner_ != nullptr) runner_->stop();
    opening_.tier.reset();  // the ring lets go of the memory
    if (memory_ != nullptr) ::munmap(memory_, kSlabBytes);
  }

  NvmeTier& tier() { return *opening_.tier; }
  DiskOpening& opening() { return opening_; }
  std::span<std::byte> slot(std::uint32_t slot) {
    return {memory_ + slot * kWorldSlotBytes, kWorldSlotBytes};
  }

  void send(const DiskCommand& command) {
    while (!tier().port().send(command)) receive_one();
  }
  /// Sleeps until a piece of news is there; kept in `news` too.
  DiskNews receive_one() {
    DiskNews each;
    while (!tier().port().receive(each)) waiter_->wait(0, kNever);
    news.push_back(each);
    return each;
  }
  DiskNews wait_for(DiskNewsKind kind) {
    for (DiskNews each = receive_one();; each = receive_one()) {
      if (each.kind == kind) return each;
    }
  }
  void open() {
    send({.kind = DiskCommandKind::kSlabAdd, .slab = SlabIndex{0}, .data = memory_, .bytes = kSlabBytes});
    send({.kind = DiskCommandKind::kSpace, .described = space});
    send({.kind = DiskCommandKind::kOpen});
    wait_for(DiskNewsKind::kReady);
  }
  DiskCommand command(DiskCommandKind kind, std::uint64_t number, std::uint32_t at) {
    return {.kind = kind,
            .tenant = space->tenant,
            .space = space->space,
            .slab = SlabIndex{0},
            .tag = number,
            .key = pattern_key(1, number),
            .data = slot(at).data()};
  }
  void close() {
    while (!tier().close()) receive_one();
    EXPECT_EQ(wait_for(DiskNewsKind::kClosed).code, Code::kOk);
  }

  std::vector<DiskNews> news;
  std::shared_ptr<const DiskSpace> space = world_space("default", "1", NamespaceId{0}, SpaceId{1});

 private:
  SystemClock clock_;
  DiskOpening opening_;
  std::unique_ptr<EventfdWaiter> waiter_;
  std::byte* memory_ = nullptr;
  std::unique_ptr<AgentRunner> runner_;
};

}  // namespace kvtier::test
