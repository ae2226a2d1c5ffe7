// What the store answered and told, to the conductor in its ids; reclaim's questions; what others see of it.
#include <algorithm>

#include "daemon/tier/disk_agent.h"
#include "daemon/tier/disk_counters.h"

namespace kvtier {

std::size_t DiskAgent::take_events() {
  std::size_t taken = 0;
  DiskEvent event;
  // A question is up to kQuestionsMax news: room for all of them, or the event stays where it is.
  static_assert(StoreReclaim::kQuestionsMax <= kDiskGroupMax);
  while (has_outbox_room() && store_->poll(event)) {
    take_event(event);
    ++taken;
  }
  return taken;
}

DiskNews DiskAgent::news_of(DiskNewsKind kind, const DiskEvent& event) const {
  DiskNews news{.kind = kind,
                .code = event.code,
                .fault = event.fault,
                .is_held = event.is_held,
                .is_dropped = event.is_dropped,
                .tag = event.tag,
                .key = event.key.key,
                .parent = event.parent,
                .locator = event.locator,
                .old = event.old};
  const SpaceEntry* space = spaces_.find(event.key.tenant, event.key.space);
  if (space != nullptr) {
    news.tenant = space->described->tenant;
    news.space = space->described->space;
  }
  return news;
}

void DiskAgent::take_event(const DiskEvent& event) {
  switch (event.kind) {
    case DiskEventKind::kPut:
      return tell(news_of(DiskNewsKind::kPut, event));
    case DiskEventKind::kGet:
      note_damage(event, event.locator);
      return tell(news_of(DiskNewsKind::kGet, event));
    case DiskEventKind::kReleased:
      return tell(news_of(DiskNewsKind::kReleased, event));
    case DiskEventKind::kFlushed:
      if (event.tag == kOwnTag) {
        is_flushing_ = false;
        if (event.code == Code::kOk) return;  // else nobody may believe a later one about these puts
      }
      return tell(news_of(DiskNewsKind::kFlushed, event));
    case DiskEventKind::kMarked:
      return tell(news_of(DiskNewsKind::kMarked, event));
    case DiskEventKind::kEntry: {
      const DiskNews news = news_of(DiskNewsKind::kEntry, event);
      const bool is_known = news.tenant != NamespaceId::kNone;
      view_.recovered_bytes += event.locator.payload_bytes;
      view_.unknown_entries += is_known ? 0 : 1;
      view_.unknown_bytes += is_known ? 0 : event.locator.payload_bytes;
      return tell(news);
    }
    case DiskEventKind::kProgress:
      view_.recovery_done = event.done;
      view_.recovery_total = event.total;
      return;
    case DiskEventKind::kReady:
      view_.recovery_ns = now_ns_ - opened_ns_;
      resume_budget(budget_, store_->stats(), now_ns_ + options_.store.wall_minus_monotonic_ns);
      return tell(news_of(DiskNewsKind::kReady, event));
    case DiskEventKind::kRefused:
      is_refused_ = true;
      snapshot_.publish_reasons(store_->status().message(), snapshot_.unregistered());
      return tell(news_of(DiskNewsKind::kRefused, event));
    case DiskEventKind::kAsk:
      return ask();
    case DiskEventKind::kMoved:
      return tell(news_of(DiskNewsKind::kMoved, event));
    case DiskEventKind::kDropped:
      note_damage(event, event.old);
      return tell(news_of(DiskNewsKind::kDropped, event));
    case DiskEventKind::kPath:
      return tell(news_of(DiskNewsKind::kPath, event));
    case DiskEventKind::kClosed:
      return end_close(news_of(DiskNewsKind::kClosed, event));
  }
}

// A block that rotted, or was written wrong: it is a miss, and somebody should look at the device.
void DiskAgent::note_damage(const DiskEvent& event, const DiskLocator& locator) {
  if (event.code != Code::kCorrupt) return;
  DiskDamage& damage = view_.damage;
  ++damage.count;
  damage.fault = event.fault;
  damage.space = event.key.space;
  damage.key = event.key.key;
  for (std::size_t i = 0; i < path_count_; ++i) {
    const StorePath& path = store_->path(i);
    if (path.number != locator.path()) continue;
    damage.path = static_cast<std::uint8_t>(i);
    damage.offset = segment_file_offset(path.geometry, locator.segment) + locator.header_offset();
  }
}

// All that is there was read and is good: what was damaged before is gone.
void DiskAgent::look_at_verify() {
  const VerifyReport& report = view_.verify;
  const std::uint64_t bad = report.blocks_bad + report.marks_bad + report.too_large + report.late +
                            report.segments_unreachable + report.segments_unindexed;
  if (report.state == VerifyState::kDone && report.tag == verify_tag_ && bad == 0)
    view_.damage.answered = verify_damage_;
}

// One question's tag: which of the calls for answers, and which of its questions.
void DiskAgent::ask() {
  ++ask_number_;
  questions_ = questions_open_ = store_->questions().size();
  is_answered_.fill(false);
  if (is_closing_) return answer_rest();
  for (std::size_t i = 0; i < questions_; ++i) {
    const ReclaimQuestion& question = store_->questions()[i];
    DiskNews news = news_of(DiskNewsKind::kQuestion, {.key = question.key});
    news.tag = ask_number_ << 8 | i;
    news.parent = question.parent;
    news.locator = question.locator;
    tell(news);
  }
}

void DiskAgent::take_answer(const DiskCommand& command) {
  const std::size_t at = command.tag & 0xff;
  const bool is_due = command.tag >> 8 == ask_number_ && at < questions_ && !is_answered_[at];
  if (questions_open_ == 0 || !is_due) return;  // answered for the conductor at kClose
  answers_[at] = command.answer;
  is_answered_[at] = true;
  if (--questions_open_ == 0) store_->answer(std::span(answers_).first(questions_));
}

// Nobody answers any more when the daemon ends: nothing is lost by keeping.
void DiskAgent::answer_rest() {
  if (questions_open_ == 0) return;
  for (std::size_t i = 0; i < questions_; ++i) {
    if (!is_answered_[i]) answers_[i] = ReclaimAnswer::kKeep;
  }
  questions_open_ = 0;
  store_->answer(std::span(answers_).first(questions_));
}

NvmeTierState DiskAgent::state() const {
  if (is_refused_) return NvmeTierState::kRefused;
  if (is_closed_) return NvmeTierState::kClosed;
  if (is_closing_) return NvmeTierState::kClosing;
  if (!is_open_) return NvmeTierState::kWaiting;
  return store_->is_ready() ? NvmeTierState::kServing : NvmeTierState::kRecovering;
}

void DiskAgent::look_at_budget() {
  view_.state = state();
  view_.budget_taken_bytes = budget_.taken_bytes();
  view_.budget_left_bytes = budget_.level_bytes(now_ns_);
  bool is_any_ok = false;
  for (std::size_t i = 0; i < path_count_ && view_.state == NvmeTierState::kServing; ++i)
    is_any_ok = is_any_ok || store_->path_state(i) == PathState::kOk;
  const std::uint64_t needed = std::min(options_.store.block_bytes_max, options_.budget.burst_bytes / 2);
  view_.takes_puts = is_any_ok && puts_.size() < kPutsWaitingMax && view_.budget_left_bytes >= needed;
  // relaxed: a hint (DiskChannel).
  channel_.takes_puts.store(view_.takes_puts, std::memory_order_relaxed);
  view_.wants_evidence = view_.budget_left_bytes < options_.budget.burst_bytes / kBudgetLowPart;
  // relaxed: likewise.
  channel_.wants_evidence.store(view_.wants_evidence, std::memory_order_relaxed);
}

void DiskAgent::publish(bool is_due) {
  if (!is_due) return;
  publish_at_ns_ = now_ns_ + kPublishNs;
  view_.puts_waiting = puts_.size();
  view_.gets_waiting = gets_.size();
  view_.spaces_failed = catalog_.failed_count();
  view_.requests_held = ring_->held_count();
  view_.epoch = store_->epoch();
  view_.is_path_missing = store_->is_path_missing();
  view_.paths_given_up = store_->paths_given_up();
  view_.stats = store_->stats();
  view_.verify = store_->verify_report();
  look_at_verify();
  view_.path_count = static_cast<std::uint32_t>(path_count_);
  for (std::size_t i = 0; i < path_count_; ++i) {
    const StorePath& path = store_->path(i);
    const std::uint32_t free = path.segments.count(SegmentState::kFree);
    view_.paths[i] = {.state = store_->path_state(i),
                      .error = path.health.error(),
                      .segment_bytes = path.segments.count() == 0 ? 0 : path.geometry.segment_bytes,
                      .segments = path.segments.count(),
                      .segments_free = free,
                      .used_bytes = (path.segments.count() - free) * path.geometry.segment_bytes,
                      .live_bytes = path.segments.live_bytes()};
  }
  view_.published_ns = now_ns_;
  snapshot_.publish(view_);
  if (options_.counters != nullptr) publish_disk_counters(view_, *options_.counters);
}

std::string_view nvme_tier_state_name(NvmeTierState state) {
  switch (state) {
    case NvmeTierState::kWaiting:
      return "waiting";
    case NvmeTierState::kRecovering:
      return "recovering";
    case NvmeTierState::kServing:
      return "serving";
    case NvmeTierState::kClosing:
      return "closing";
    case NvmeTierState::kClosed:
      return "closed";
    case NvmeTierState::kRefused:
      return "refused";
  }
  return "unknown";
}

}  // namespace kvtier
