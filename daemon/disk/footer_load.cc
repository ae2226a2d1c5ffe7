#include "daemon/disk/footer_load.h"

namespace kvtier {

void FooterLoad::start(StorePath& path, std::uint32_t segment, std::uint32_t index_bytes, TimeNs now_ns) {
  KV_CHECK(is_done_, "one footer at a time");
  path_ = &path;
  segment_ = segment;
  const SegmentGeometry& geometry = path.geometry;
  bytes_ = round_up(index_bytes, geometry.alignment) + geometry.alignment;
  if (index_bytes > kIndexBytesMax || bytes_ > geometry.segment_bytes)
    return finish(DiskFault::kNone, DiskFault::kIndexDamaged);
  is_done_ = false;
  const std::uint64_t offset = segment_file_offset(geometry, segment) + geometry.segment_bytes - bytes_;
  add_range(pieces_,
            {.request = scratch_request(shared_, IoKind::kRead, path, offset, buffer_.first(bytes_), now_ns)},
            bytes_);
  pieces_.step();
}

void FooterLoad::finish(DiskFault trailer, DiskFault index) {
  trailer_fault_ = trailer;
  index_fault_ = index;
  is_done_ = true;
}

void FooterLoad::step() {
  if (is_done_) return;
  pieces_.step();
  if (pieces_.is_released()) check();
}

void FooterLoad::check() {
  std::uint64_t read = 0;
  for (const IoPiece& piece : pieces_.pieces())
    read += piece.state == IoPiece::State::kDone ? piece.bytes : 0;
  pieces_.clear();
  if (read < bytes_) return finish(DiskFault::kTruncated, DiskFault::kNone);
  const std::uint32_t unit = path_->geometry.alignment;
  const SegmentContext place{{.store = path_->store, .path = path_->number, .segment = segment_},
                             path_->geometry};
  const DiskFault fault = verify_trailer(place, buffer_.subspan(bytes_ - unit, unit), trailer_);
  if (fault != DiskFault::kNone) return finish(fault, DiskFault::kNone);
  const bool is_as_said = round_up(trailer_.index_bytes, unit) + unit == bytes_;
  finish(DiskFault::kNone, is_as_said ? verify_index(trailer_, index()) : DiskFault::kIndexDamaged);
}

}  // namespace kvtier
