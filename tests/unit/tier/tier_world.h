#pragma once
// A DiskAgent on a simulated disk with faults, under time by hand, and a conductor's end that notes what it is told. One
// life of a daemon; disk and folder outlive it.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "daemon/tier/disk_agent.h"
#include "tests/support/faulty_backend.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/sim_disk_backend.h"

namespace kvtier::test {

inline constexpr std::uint64_t kWorldBlockBytes = 9192;
inline constexpr std::uint64_t kWorldSlotBytes = 12288;

/// A space of a small spec; `revision` tells specs apart.
std::shared_ptr<const DiskSpace> world_space(const std::string& namespace_name, const std::string& revision,
                                             NamespaceId tenant, SpaceId space);

struct TierWorldOptions {
  std::size_t paths = 1;
  std::size_t segments = 8;
  std::uint32_t slots = 128;
  std::uint64_t segment_bytes = 128 * kKiB;
  std::uint32_t puts_max = 256;
  WriteBudgetOptions budget;
  std::string folder;      ///< of the file of spaces; empty: one of its own
  bool has_folder = true;  ///< false: no space can be kept
};

class TierWorld {
 public:
  TierWorld(SimDisk& disk, const TierWorldOptions& options);
  ~TierWorld();

  DiskAgent& agent() { return *agent_; }
  /// What the file of spaces had at the start.
  std::vector<DiskSpace> known;
  MailboxDiskPort& port() { return *port_; }
  FaultyBackend& faults() { return *faulty_; }
  SimDiskBackend& device() { return *device_; }
  ManualClock& clock() { return clock_; }
  DiskSnapshot view() const { return agent_->snapshot().read(); }

  void step();
  bool run(const std::function<bool()>& is_done, std::size_t rounds = 100'000);
  /// Slab, space and kOpen; until kReady or kRefused.
  bool open();
  void add_slab();
  void send(const DiskCommand& command);

  /// The conductor's end: takes news at each step while it is set.
  bool is_receiving = true;
  std::vector<DiskNews> news;
  std::function<ReclaimAnswer(const DiskNews&)> on_question;  ///< none: nobody answers
  [[nodiscard]] std::size_t count(DiskNewsKind kind) const;
  [[nodiscard]] const DiskNews* last(DiskNewsKind kind) const;

  DiskCommand put(std::uint64_t number, std::uint32_t slot, bool is_group_end = true);
  DiskCommand get(std::uint64_t number, std::uint32_t slot, const DiskLocator& locator);
  [[nodiscard]] std::span<std::byte> slot(std::uint32_t slot);
  /// Key of a number, for all worlds.
  static Key key(std::uint64_t number);

  std::shared_ptr<const DiskSpace> space = world_space("default", "1", NamespaceId{3}, SpaceId{1});

 private:
  struct NoWaiter final : Waiter {
    void wait(TimeNs, TimeNs) override {}
    void wake() override {}
  };

  const TierWorldOptions options_;
  const ScratchDir own_folder_;
  ManualClock clock_;
  NoWaiter waiter_;
  std::vector<std::byte> memory_;
  std::span<std::byte> slots_;
  DiskChannel channel_{waiter_, waiter_};
  FaultyBackend* faulty_ = nullptr;
  SimDiskBackend* device_ = nullptr;
  std::unique_ptr<DiskAgent> agent_;
  std::unique_ptr<MailboxDiskPort> port_;
};

}  // namespace kvtier::test
