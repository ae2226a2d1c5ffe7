#include "daemon/disk/segment_survey.h"

#include <algorithm>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/format_segment.h"

namespace kvtier {

void SegmentSurvey::start(const SegmentGeometry& geometry, const StoreId& store, std::uint32_t path,
                          std::uint32_t segment_count) {
  place_ = {{.store = store, .path = path}, geometry};
  found_.assign(segment_count, {});
  next_ = 0;
}

std::span<std::byte> SegmentSurvey::unit(std::size_t i) const {
  return path_.footer_scratch.subspan(i * place_.geometry.alignment, place_.geometry.alignment);
}

void SegmentSurvey::step(TimeNs now_ns) {
  if (!pieces_.is_empty()) {
    pieces_.step();
    if (!pieces_.is_released()) return;
    end_batch();
  }
  if (next_ < found_.size()) begin_batch(now_ns);
}

void SegmentSurvey::begin_batch(TimeNs now_ns) {
  const std::size_t count = std::min(kBatch, found_.size() - next_);
  for (std::size_t i = 0; i < count; ++i) {
    const auto segment = static_cast<std::uint32_t>(next_ + i);
    const std::uint64_t begin = segment_file_offset(place_.geometry, segment);
    pieces_.add({.request = scratch_request(shared_, IoKind::kRead, path_, begin, unit(2 * i), now_ns)});
    pieces_.add(
        {.request = scratch_request(shared_, IoKind::kRead, path_, begin + trailer_offset(place_.geometry),
                                    unit(2 * i + 1), now_ns)});
  }
  pieces_.step();
}

// What could not be read counts as missing: truncated.
void SegmentSurvey::end_batch() {
  const std::span<const IoPiece> pieces = std::as_const(pieces_).pieces();
  for (std::size_t i = 0; i + 1 < pieces.size(); i += 2) {
    found_[next_ + i / 2].is_header_unread = pieces[i].state != IoPiece::State::kDone;
    look(static_cast<std::uint32_t>(next_ + i / 2), unit(i).first(pieces[i].bytes),
         unit(i + 1).first(pieces[i + 1].bytes));
  }
  next_ += pieces.size() / 2;
  pieces_.clear();
}

void SegmentSurvey::note(const SegmentIdentity& identity) {
  epoch_max_ = std::max(epoch_max_, identity.epoch);
  generation_max_ = std::max(generation_max_, identity.generation);
}

void SegmentSurvey::look(std::uint32_t segment, std::span<const std::byte> head,
                         std::span<const std::byte> tail) {
  Found& found = found_[segment];
  SegmentContext place = place_;
  place.identity.segment = segment;
  SegmentHeader header{};
  SegmentTrailer trailer{};
  found.findings.header = verify_segment_header(place, head, header);
  found.findings.trailer = verify_trailer(place, tail, trailer);
  if (found.findings.header == DiskFault::kNone) note(found.findings.header_identity = header.identity);
  if (found.findings.trailer == DiskFault::kNone) {
    note(found.findings.trailer_identity = trailer.identity);
    found.index_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(trailer.index_bytes, ~0U));
  }
  for (const DiskFault fault : {found.findings.header, found.findings.trailer}) {
    has_content_ = has_content_ || (fault != DiskFault::kEmpty && fault != DiskFault::kTruncated);
  }
  const bool has_header = found.findings.header == DiskFault::kNone;
  has_other_version_ = has_other_version_ || found.findings.header == DiskFault::kVersion ||
                       (found.findings.trailer == DiskFault::kVersion && !has_header);
}

}  // namespace kvtier
