#include "daemon/tier/disk_agent.h"

#include <algorithm>

#include "daemon/disk/put_cost.h"

namespace kvtier {
namespace {

constexpr IoRegion kScratchRegion{0};

DiskStoreOptions with_scratch(DiskStoreOptions options) {
  options.scratch_region = kScratchRegion;
  return options;
}

}  // namespace

DiskAgent::DiskAgent(const DiskAgentOptions& options, DiskAgentParts parts, DiskChannel& channel)
    : options_(options),
      channel_(channel),
      owned_(std::move(parts.owned)),
      path_count_(parts.files.size()),
      catalog_(std::move(parts.catalog)),
      slabs_(options.slabs_max),
      budget_(options.budget),
      puts_(2 * kDiskCommandsMax),
      gets_(kDiskCommandsMax),
      outbox_(kOutboxNews),
      ring_(std::move(parts.ring)) {
  store_ = std::make_unique<DiskStore>(with_scratch(options.store), *ring_, parts.files);
  publish(true);
}

DiskAgent::~DiskAgent() {
  // Before the store, whose memory the device may still have.
  ring_.reset();
}

std::size_t DiskAgent::do_work(TimeNs now_ns) {
  now_ns_ = now_ns;
  std::size_t work = deliver();
  if (is_open_) work += store_->do_work(now_ns);
  work += take_forgets();
  work += take_events();
  work += take_commands();
  work += hand_puts() + hand_gets();
  work += end_removals() + flush_own() + begin_close();
  work += deliver();
  settle_budget();
  look_at_budget();
  publish(work == 0 || now_ns >= publish_at_ns_);
  if (work > 0) {
    quiet_rounds_ = 0;
    return work;
  }
  // The store's jobs hand on to each other without an event of the device between: they get a round each.
  return is_open_ && quiet_rounds_++ < kQuietRounds ? 1 : 0;
}

TimeNs DiskAgent::next_deadline_ns() const {
  const TimeNs store_ns = is_open_ ? store_->next_deadline_ns() : kNever;
  const TimeNs own_ns = is_flushing_ ? store_ns : std::min(store_ns, flush_at_ns_);
  return has_next_news_ ? std::min(own_ns, now_ns_ + kBlockedNs) : own_ns;
}

// Of the paths that were opened: which of them takes a group is the store's to choose.
std::uint32_t DiskAgent::alignment_max() const {
  std::uint32_t alignment = kAlignmentMin;
  for (std::size_t i = 0; i < path_count_; ++i)
    alignment = std::max(alignment, store_->path(i).geometry.alignment);
  return alignment;
}

// A group over the budget is refused whole: it would be half a prefix.
Code DiskAgent::hand(std::span<const DiskPut> puts, bool& is_over_budget) {
  const std::uint64_t bytes = put_cost_bytes(puts, alignment_max());
  is_over_budget = budget_.level_bytes(now_ns_) < bytes;
  if (is_over_budget) {
    view_.puts_over_budget += puts.size();
    return Code::kNoSpace;
  }
  const Code code = store_->put(puts);
  if (code != Code::kOk) return code;
  KV_CHECK(budget_.take(bytes, now_ns_), "the budget had room a moment ago");
  budget_settled_bytes_ += bytes;
  return code;
}

// What no put has paid for (segments, marks, superblocks, second tries) is a debt of the puts to come. Moves have a
// budget of their own.
void DiskAgent::settle_budget() {
  const DiskStats& stats = store_->stats();
  const std::uint64_t moves = stats.bytes_written[static_cast<std::size_t>(WriteCause::kMoves)];
  const std::uint64_t written = stats.bytes_written_total() - moves;
  if (written <= budget_settled_bytes_) return;
  budget_.charge(written - budget_settled_bytes_, now_ns_);
  budget_settled_bytes_ = written;
}

std::size_t DiskAgent::hand_puts() {
  std::size_t handed = 0;
  while (has_outbox_room()) {
    const std::span<const DiskPut> group = puts_.group();
    if (group.empty()) break;
    bool is_over_budget = false;
    const Code code = hand(group, is_over_budget);
    if (code == Code::kBusy) break;
    if (code != Code::kOk) {
      for (const DiskPut& put : group) {
        tell({.kind = DiskNewsKind::kPut, .code = code, .is_over_budget = is_over_budget, .tag = put.tag});
      }
    }
    handed += group.size();
    puts_.pop_group();
  }
  return handed;
}

std::size_t DiskAgent::hand_gets() {
  std::size_t handed = 0;
  while (has_outbox_room()) {
    const std::span<const DiskGet> group = gets_.group();
    if (group.empty()) break;
    const Code code = store_->get(group);
    if (code == Code::kBusy) break;
    if (code != Code::kOk) {
      for (const DiskGet& get : group) tell({.kind = DiskNewsKind::kGet, .code = code, .tag = get.tag});
    }
    handed += group.size();
    gets_.pop_group();
  }
  return handed;
}

// The device may have memory of the slab although everything was answered: then the ring is asked again.
std::size_t DiskAgent::end_removals() {
  std::size_t ended = 0;
  for (std::uint32_t i = 0; slabs_leaving_ > 0 && i < slabs_.size() && has_outbox_room(); ++i) {
    if (!slabs_[i].is_leaving || !ring_->set_region(IoRegion{i + 1}, {}).is_ok()) continue;
    tell({.kind = DiskNewsKind::kSlabRemoved, .tag = slabs_[i].tag});
    slabs_[i] = {};
    --slabs_leaving_;
    ++ended;
  }
  return ended;
}

// A power cut costs what was put in the last second, or as long as a flush takes.
std::size_t DiskAgent::flush_own() {
  const std::uint64_t puts = store_->stats().puts;
  if (is_flushing_ || puts == puts_flushed_ || !store_->is_ready()) return 0;
  if (flush_at_ns_ == kNever) flush_at_ns_ = now_ns_ + kFlushNs;
  if (now_ns_ < flush_at_ns_) return 0;
  flush_at_ns_ = now_ns_ + kFlushNs;
  is_flushing_ = store_->flush(kOwnTag) == Code::kOk;
  if (!is_flushing_) return 0;
  puts_flushed_ = puts;
  flush_at_ns_ = kNever;
  return 1;
}

// What was sent before goes first. A store that does not serve has nothing to close.
std::size_t DiskAgent::begin_close() {
  const bool is_due = is_closing_ && !is_close_taken_ && !kept_.has_value();
  if (!is_due || puts_.size() + gets_.size() > 0) return 0;
  if (store_->is_ready()) {
    store_->close(close_tag_);
    is_close_taken_ = !store_->is_ready();  // else its events had no room: in a later round
    return is_close_taken_ ? 1 : 0;
  }
  is_close_taken_ = true;
  end_close({.kind = DiskNewsKind::kClosed, .code = Code::kUnavailable, .tag = close_tag_});
  return 1;
}

void DiskAgent::end_close(const DiskNews& news) {
  is_closed_ = true;
  view_.close_code = news.code;
  tell(news);
}

void DiskAgent::tell(const DiskNews& news) {
  outbox_.push(news);
}

std::size_t DiskAgent::deliver() {
  std::size_t delivered = 0;
  while (has_next_news_ || !outbox_.is_empty()) {
    if (!has_next_news_) next_news_ = outbox_.pop();
    has_next_news_ = !channel_.news.push(next_news_);
    if (has_next_news_) break;
    ++delivered;
  }
  return delivered;
}

}  // namespace kvtier
