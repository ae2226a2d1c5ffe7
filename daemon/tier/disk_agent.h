#pragma once
// The thread of the NVMe tier: takes the conductor's commands to a DiskStore, and what the store answers and tells back,
// between ids and digests. Decides nothing but order: what does not fit now waits here, in the order in which it came.
//
// Thread: its own; snapshot(): any. Nothing is allocated while it serves, but for a slab or a space that is new.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/agent/agent.h"
#include "daemon/disk/disk_store.h"
#include "daemon/disk/path_owner.h"
#include "daemon/observe/counters.h"
#include "daemon/tier/disk_channel.h"
#include "daemon/tier/disk_snapshot.h"
#include "daemon/tier/group_queue.h"
#include "daemon/tier/space_catalog.h"
#include "daemon/tier/space_table.h"

namespace kvtier {

struct DiskAgentOptions {
  DiskStoreOptions store;        ///< scratch_region is the agent's to choose
  std::uint32_t slabs_max = 0;   ///< of the host tier: the ring's table has a place more
  WriteBudgetOptions budget;     ///< of puts; the store's own is for what reclaim rewrites
  Counters* counters = nullptr;  ///< published a few times a second; null: nowhere
};

/// What an agent is made of: opened by DiskOpening, or by a test.
struct DiskAgentParts {
  std::unique_ptr<IoRing> ring;  ///< the files are on its table
  std::vector<StoreFile> files;
  std::vector<OwnedPath> owned;  ///< kept open; may be empty
  SpaceCatalog catalog;
};

class DiskAgent final : public Agent {
 public:
  /// The channel is borrowed and outlives it. Takes all memory.
  DiskAgent(const DiskAgentOptions& options, DiskAgentParts parts, DiskChannel& channel);
  /// Waits for requests that the device has not given back.
  ~DiskAgent() override;

  [[nodiscard]] std::string_view name() const override { return "kv-disk"; }
  std::size_t do_work(TimeNs now_ns) override;
  [[nodiscard]] TimeNs next_deadline_ns() const override;

  /// The device has requests that were given up: destruction waits for it.
  [[nodiscard]] bool has_held_requests() const { return ring_->in_device_count() > 0; }
  [[nodiscard]] const DiskSnapshotCell& snapshot() const { return snapshot_; }

 private:
  static constexpr std::size_t kCommandsMax = 256;   ///< of a round
  static constexpr std::size_t kForgetsStep = 1024;  ///< of a round
  static constexpr std::size_t kOutboxNews = 512;
  static constexpr std::uint64_t kBudgetLowPart = 4;   ///< of the burst: below, wants_evidence() is true
  static constexpr std::size_t kPutsWaitingMax = 512;  ///< beyond, takes_puts() is false
  static constexpr std::uint32_t kQuietRounds = 3;
  static constexpr std::uint64_t kOwnTag = ~std::uint64_t{0};  ///< of the agent's own flushes
  static constexpr TimeNs kFlushNs = kNsPerSecond;             ///< what was put is flushed so much later
  static constexpr TimeNs kPublishNs = 100 * kNsPerMs;
  static constexpr TimeNs kBlockedNs = kNsPerMs;  ///< until it is tried again whether the conductor has room
  static constexpr TimeNs kKeepAgainNs = kNsPerSecond;

  struct SlabPlace {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;
    bool is_leaving = false;
    std::uint64_t tag = 0;  ///< of the kSlabRemove
  };

  // commands: disk_agent_commands.cc
  std::size_t take_forgets();
  std::size_t take_commands();
  [[nodiscard]] bool take(const DiskCommand& command);
  void take_slab(const DiskCommand& command);
  void take_space(const DiskCommand& command);
  void take_put(const DiskCommand& command);
  void take_get(const DiskCommand& command);
  [[nodiscard]] bool take_flush(const DiskCommand& command);
  [[nodiscard]] bool take_mark(const DiskCommand& command);
  void take_answer(const DiskCommand& command);
  [[nodiscard]] Code keep_space(SpaceEntry& space);
  [[nodiscard]] DiskMemory memory_of(const DiskCommand& command, std::uint64_t block_bytes) const;

  // to the store and back: disk_agent.cc, disk_agent_events.cc
  std::size_t hand_puts();
  std::size_t hand_gets();
  [[nodiscard]] Code hand(std::span<const DiskPut> puts, bool& is_over_budget);
  [[nodiscard]] std::uint32_t alignment_max() const;
  void settle_budget();
  std::size_t end_removals();
  std::size_t flush_own();
  std::size_t begin_close();
  void end_close(const DiskNews& news);
  std::size_t take_events();
  void take_event(const DiskEvent& event);
  void ask();
  void answer_rest();
  [[nodiscard]] DiskNews news_of(DiskNewsKind kind, const DiskEvent& event) const;
  void tell(const DiskNews& news);
  [[nodiscard]] bool has_outbox_room() const { return outbox_.size() + kDiskGroupMax <= kOutboxNews; }
  std::size_t deliver();
  void look_at_budget();
  void note_damage(const DiskEvent& event, const DiskLocator& locator);
  void look_at_verify();
  void publish(bool is_due);
  [[nodiscard]] NvmeTierState state() const;

  // constant after construction
  const DiskAgentOptions options_;
  DiskChannel& channel_;
  const std::vector<OwnedPath> owned_;
  const std::size_t path_count_;
  // owned by the agent
  TimeNs now_ns_ = 0;
  SpaceCatalog catalog_;
  SpaceTable spaces_;
  std::vector<SlabPlace> slabs_;
  std::uint32_t slabs_leaving_ = 0;
  WriteBudget budget_;
  std::uint64_t budget_settled_bytes_ = 0;  ///< paid for: by puts before they are handed on, or afterwards
  GroupQueue<DiskPut> puts_;
  GroupQueue<DiskGet> gets_;
  std::optional<DiskCommand> kept_;  ///< the store was busy: nothing behind it is taken before it
  FixedQueue<DiskNews> outbox_;
  DiskNews next_news_;
  bool has_next_news_ = false;  ///< out of the outbox, and the mailbox was full
  bool is_open_ = false;
  TimeNs opened_ns_ = 0;
  bool is_refused_ = false;
  bool is_closing_ = false;      ///< kClose came
  bool is_close_taken_ = false;  ///< and the store has it
  bool is_closed_ = false;
  std::uint64_t close_tag_ = 0;
  // of the last kAsk
  std::uint64_t ask_number_ = 0;
  std::array<ReclaimAnswer, StoreReclaim::kQuestionsMax> answers_{};
  std::array<bool, StoreReclaim::kQuestionsMax> is_answered_{};
  std::size_t questions_ = 0;
  std::size_t questions_open_ = 0;
  std::uint64_t puts_flushed_ = 0;  ///< DiskStats::puts when the last own flush began
  TimeNs flush_at_ns_ = kNever;     ///< kNever: nothing that it would be for
  bool is_flushing_ = false;
  std::uint64_t verify_tag_ = 0;     ///< of the last scrub
  std::uint64_t verify_damage_ = 0;  ///< DiskDamage::count when it began
  std::uint32_t quiet_rounds_ = 0;
  TimeNs publish_at_ns_ = 0;
  DiskSnapshot view_;
  std::unique_ptr<DiskStore> store_;
  std::unique_ptr<IoRing> ring_;  ///< goes before the store
  // all threads
  DiskSnapshotCell snapshot_;
};

}  // namespace kvtier
