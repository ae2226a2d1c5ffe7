#pragma once
// A request that is being answered: which step the conductor is asked for next, and which line comes next.
// Lines are made as the peer takes them, so that a long list never becomes a long buffer.

#include <optional>
#include <string>

#include "daemon/admin/admin_command.h"
#include "daemon/admin/admin_facts.h"

namespace kvtier {

class AdminJob {
 public:
  static constexpr TimeNs kAnswerNs = 5 * kNsPerSecond;  ///< for the conductor, a step
  static constexpr TimeNs kEchoNs = kNsPerSecond;
  static constexpr std::uint32_t kEvictStepWork = 256 * kEvictionWork;
  static constexpr TimeNs kProgressNs = 250 * kNsPerMs;  ///< between two progress lines
  static constexpr TimeNs kLookNs = 50 * kNsPerMs;       ///< between two looks at a scrub or a sync

  AdminJob(AdminRequest request, std::uint64_t ticket, TimeNs now_ns);

  /// To send to the conductor now; then asked().
  [[nodiscard]] std::optional<AdminCommand> command(TimeNs now_ns) const;
  void asked(TimeNs now_ns);
  /// A verify is not the conductor's: it is begun with the NVMe tier, then watched.
  [[nodiscard]] bool is_to_begin() const { return state_ == State::kToBegin; }
  void begun(TimeNs now_ns);
  [[nodiscard]] bool is_watching() const { return state_ == State::kWatching; }
  void answered(AdminAnswer answer, TimeNs now_ns);
  void failed(Status status);

  /// Appends the next line. False: there is none now.
  bool next_line(const AdminFacts& facts, TimeNs now_ns, std::string& output);
  [[nodiscard]] bool is_over() const { return state_ == State::kOver; }
  [[nodiscard]] bool is_asking() const { return state_ == State::kAsked; }
  /// It goes on with the conductor, which is asked again in a while.
  [[nodiscard]] bool is_looking() const { return state_ == State::kToLook; }

  [[nodiscard]] std::uint64_t ticket() const { return ticket_; }
  [[nodiscard]] const AdminRequest& request() const { return request_; }
  /// While the conductor owes an answer, or a scrub is watched; else kNever.
  [[nodiscard]] TimeNs deadline_ns() const;

 private:
  enum class State : std::uint8_t { kToAsk, kAsked, kToLook, kToBegin, kWatching, kLines, kOver };

  bool watch(const AdminFacts& facts, TimeNs now_ns, std::string& output);
  void add_step(const EvictReport& step, TimeNs now_ns);
  void look_again(const SyncView& view, TimeNs now_ns);
  void take_progress(TimeNs now_ns);

  // constant after construction
  const std::uint64_t ticket_;
  // the server's thread
  AdminRequest request_;  ///< the cursor moves on with each step
  State state_;
  AdminAnswer answer_;
  EvictReport total_;  ///< of all steps
  SyncView sync_;      ///< at the last look
  bool is_progress_due_ = false;
  std::size_t row_ = 0;  ///< next of a page
  TimeNs asked_ns_ = 0;
  TimeNs progress_ns_;
  TimeNs look_ns_ = 0;  ///< when the scrub or sync is looked at next
};

}  // namespace kvtier
