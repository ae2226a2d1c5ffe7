#include "daemon/disk/store_verify.h"

#include <utility>

namespace kvtier {

StoreVerify::StoreVerify(StoreShared& shared, std::span<std::byte> index, std::span<std::byte> batch)
    : shared_(shared),
      footer_(shared, index),
      pieces_(shared.io, kBatch * (3 + shared.options.block_bytes_max / kIoBytesMax)),
      buffer_(batch) {}

void StoreVerify::begin(std::uint64_t tag) {
  if (is_closed_) return refuse(tag);
  if (is_idle()) return start(tag);
  next_tag_ = tag;
  is_stopping_ = true;
}

void StoreVerify::stop(std::uint64_t tag) {
  if (tag == next_tag_) next_tag_ = 0;
  if (tag == report_.tag) is_stopping_ = !is_idle();
}

void StoreVerify::stop_all() {
  is_closed_ = true;
  next_tag_ = 0;
  is_stopping_ = !is_idle();
}

void StoreVerify::start(std::uint64_t tag) {
  report_ = {.tag = tag, .state = VerifyState::kRunning};
  for (const Path& each : paths_) report_.segments += each.path->segments.count();
  path_ = 0;
  segment_ = 0;
  generation_ = 0;
  is_stopping_ = false;
  step_ = Step::kSeek;
}

void StoreVerify::end(VerifyState state) {
  report_.state = state;
  is_stopping_ = false;
  step_ = Step::kIdle;
  if (next_tag_ != 0) start(std::exchange(next_tag_, 0));
}

TimeNs StoreVerify::next_deadline_ns() const {
  if (step_ != Step::kRest) return kNever;
  return rest_until_ns_ > now_ns_ ? rest_until_ns_ : patience_until_ns_;
}

bool StoreVerify::is_rested(TimeNs now_ns, bool is_busy) const {
  return now_ns >= rest_until_ns_ && (!is_busy || now_ns >= patience_until_ns_);
}

void StoreVerify::step(TimeNs now_ns, bool is_busy) {
  now_ns_ = now_ns;
  if (step_ == Step::kLoad) {
    footer_.step();
    if (footer_.is_done()) after_load();
  }
  if (step_ == Step::kRead) {
    pieces_.step();
    if (pieces_.is_released()) after_reads(now_ns);
  }
  if (is_idle() || is_holding()) return;
  if (is_stopping_) return end(VerifyState::kStopped);
  if (step_ == Step::kRest && is_rested(now_ns, is_busy)) step_ = Step::kSeek;
  if (step_ == Step::kSeek) seek();
  if (step_ == Step::kGather) gather(now_ns);
}

void StoreVerify::next_segment() {
  ++report_.segments_done;
  ++segment_;
  generation_ = 0;
  if (segment_ < path().segments.count()) return;
  segment_ = 0;
  ++path_;
}

void StoreVerify::skip(std::uint64_t& why) {
  ++why;
  next_segment();
}

// To the next segment with something in it, a bounded number of them a round: its records follow, or its footer first.
void StoreVerify::seek() {
  constexpr std::size_t kSegmentsARound = 256;
  for (std::size_t i = 0; i < kSegmentsARound && path_ < paths_.size(); ++i) {
    const SegmentState state = row().state;
    if (state == SegmentState::kSealing) return;  // it ends soon
    const bool is_used = state == SegmentState::kOpen || state == SegmentState::kSealed;
    const bool is_other = generation_ != 0 && row().generation != generation_;
    if (!is_used || row().is_void || is_other) {
      next_segment();
    } else if (!path().health.is_serving()) {
      skip(report_.segments_unreachable);
    } else if (state == SegmentState::kSealed && row().index_bytes == 0) {
      skip(report_.segments_unindexed);
    } else {
      if (generation_ == 0) {
        generation_ = row().generation;
        end_ = state == SegmentState::kOpen ? paths_[path_].writer->settled_end(segment_) : kNever;
        next_sector_ = 0;
        has_footer_ = false;
      }
      step_ = Step::kGather;
      return;
    }
  }
  if (path_ >= paths_.size()) return end(VerifyState::kDone);
  ++shared_.io.changes();  // the rest of them in the next round
}

// Damaged, or the device failed: its blocks can be read all the same, by locator; the next start scans it.
void StoreVerify::after_load() {
  has_footer_ = footer_.is_ok();
  step_ = has_footer_ ? Step::kGather : Step::kSeek;
  if (has_footer_) return;
  const DiskFault fault =
      footer_.trailer_fault() != DiskFault::kNone ? footer_.trailer_fault() : footer_.index_fault();
  shared_.stats.count(fault);
  ++report_.faults[static_cast<std::size_t>(fault)];
  skip(report_.segments_unindexed);
}

}  // namespace kvtier
