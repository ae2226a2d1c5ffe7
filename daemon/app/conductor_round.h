#pragma once
// One round of the conductor's thread: sessions and store, then what other threads handed in. The counters are
// published before the thread sleeps, and while it does not, from time to time: counting the gauges costs some
// microseconds, which a round that only spins must not cost.

#include <atomic>
#include <optional>
#include <vector>

#include "daemon/admin/admin_port.h"
#include "daemon/agent/mailbox.h"
#include "daemon/app/publish_counters.h"
#include "daemon/app/tier_watch.h"
#include "daemon/background/checksum_agent.h"
#include "daemon/observe/log.h"
#include "daemon/session/conductor.h"

namespace kvtier {

/// What a reload changes on the conductor's thread.
struct LiveSettings {
  std::vector<NamespaceConfig> namespaces;
  StoreLimits limits;
};

class ConductorRound final : public Agent, public Waiter {
 public:
  ConductorRound(Conductor& conductor, Store& store, ChecksumAgent& checksums, AdminPort& admin,
                 Counters& counters, Log& log)
      : conductor_(conductor),
        store_(store),
        checksums_(checksums),
        admin_(admin),
        counters_(counters),
        log_(log),
        is_verifying_(store.unverified_count() > 0),
        settings_(2, conductor) {}

  /// Any thread: what a reload changed. False: two earlier ones still wait.
  bool hand_in(LiveSettings settings) { return settings_.push(std::move(settings)); }
  /// Any thread: the NVMe tier is to end cleanly; is_tier_over() once it has, or where there is none.
  void close_tier();
  [[nodiscard]] bool is_tier_over() const { return is_tier_over_.load(std::memory_order_acquire); }
  /// Before the thread runs: the load of the agent that turns these rounds, to be published.
  void publish(const AgentLoad& load) { load_ = &load; }

  /// Before the thread runs: an NVMe tier, whose troubles go to the log.
  void watch(const NvmeTierFacts& facts, const DiskSnapshotCell& now) {
    tier_watch_.emplace(facts, now, log_);
  }

  [[nodiscard]] std::string_view name() const override { return "kv-conductor"; }
  std::size_t do_work(TimeNs now_ns) override;
  [[nodiscard]] TimeNs next_deadline_ns() const override { return conductor_.next_deadline_ns(); }
  void wait(TimeNs now_ns, TimeNs until_ns) override;
  void wake() override { conductor_.wake(); }

 private:
  std::size_t take_settings();
  void tell_verified();
  void tell_corrupt();
  void look_at_tier();
  void publish_all(TimeNs now_ns);

  static constexpr TimeNs kPublishNs = 50 * kNsPerMs;

  Conductor& conductor_;
  Store& store_;
  ChecksumAgent& checksums_;
  AdminPort& admin_;
  Counters& counters_;
  Log& log_;
  bool is_verifying_;  ///< blocks of an earlier instance, until the last one's checksum is compared
  std::uint64_t corrupt_told_ = 0;  ///< damaged blocks that were logged
  Mailbox<LiveSettings> settings_;
  const AgentLoad* load_ = nullptr;
  // all threads
  std::atomic<bool> is_tier_unwanted_{false};
  std::atomic<bool> is_tier_over_{false};
  // the conductor's
  TimeNs publish_at_ns_ = 0;
  std::optional<TierWatch> tier_watch_;
};

}  // namespace kvtier
