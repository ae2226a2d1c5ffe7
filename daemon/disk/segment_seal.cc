#include "daemon/disk/segment_seal.h"

namespace kvtier {

void SegmentSeal::start(std::uint32_t segment, std::uint64_t data_end, bool is_durable) {
  KV_CHECK(is_idle() && path_.segments[segment].state == SegmentState::kSealing, "one seal at a time");
  segment_ = segment;
  data_end_ = data_end;
  index_.compact();
  ticket_ = is_durable ? 0 : path_.sync.take(SyncCause::kSeal);
  step_ = Step::kSync;
}

void SegmentSeal::step(TimeNs now_ns) {
  if (step_ == Step::kSync) {
    const SyncResult result = path_.sync.result(ticket_);
    if (result == SyncResult::kPending) return;
    if (result == SyncResult::kFailed) return finish(0);
    write_footer(now_ns);
    step_ = Step::kFooter;
  }
  if (step_ != Step::kFooter) return;
  pieces_.step();
  if (!pieces_.is_released()) return;
  const bool is_good = pieces_.first_failed() == nullptr;
  pieces_.clear();
  const auto bytes = index_bytes(index_.scopes().size(), index_.entries().size());
  finish(is_good ? static_cast<std::uint32_t>(bytes) : 0);
}

void SegmentSeal::write_footer(TimeNs now_ns) {
  const SegmentContext segment = path_.context(segment_);
  const std::uint64_t bytes = footer_bytes(segment.geometry, index_.scopes().size(), index_.entries().size());
  const std::span<std::byte> out = path_.footer_scratch.first(bytes);
  encode_footer(segment,
                {index_.scopes(), index_.entries(), data_end_, shared_.epoch,
                 now_ns + shared_.options.wall_minus_monotonic_ns},
                out);
  const std::uint64_t offset =
      segment_file_offset(segment.geometry, segment_) + segment.geometry.segment_bytes - bytes;
  IoPiece piece{.request = scratch_request(shared_, IoKind::kWrite, path_, offset, out, now_ns),
                .cause = WriteCause::kFooters};
  add_range(pieces_, piece, bytes);
}

void SegmentSeal::finish(std::uint32_t bytes) {
  SegmentRow& row = path_.segments[segment_];
  row.index_bytes = bytes;
  row.is_void = index_.entries().empty();
  path_.segments.set_state(segment_, SegmentState::kSealed);
  if (bytes != 0) ++shared_.stats.segments_sealed;
  index_.clear();
  step_ = Step::kIdle;
}

}  // namespace kvtier
