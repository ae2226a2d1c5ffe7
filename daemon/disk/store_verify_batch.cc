// A batch of the scrub: records that are chosen, read, and judged.
#include <algorithm>

#include "daemon/disk/store_verify.h"

namespace kvtier {

void StoreVerify::gather(TimeNs now_ns) {
  const bool is_open = row().state == SegmentState::kOpen;
  if (!is_open && !has_footer_) {
    begun_ns_ = now_ns;
    footer_.start(path(), segment_, row().index_bytes, now_ns);
    step_ = Step::kLoad;
    return;
  }
  // Each may turn out bad, and is told then.
  if (!shared_.events.has_room(kBatch + 1)) {
    step_ = Step::kSeek;
    return;
  }
  std::size_t used = 0;
  check_count_ = 0;
  if (is_open) {
    plan_open(used, now_ns);
  } else {
    plan_sealed(used, now_ns);
  }
  if (check_count_ == 0) {
    next_segment();
    step_ = Step::kSeek;
    ++shared_.io.changes();
    return;
  }
  KV_CHECK(shared_.events.reserve(check_count_), "there was room a moment ago");
  begun_ns_ = now_ns;
  pieces_.step();
  step_ = Step::kRead;
}

void StoreVerify::plan_open(std::size_t& used, TimeNs now_ns) {
  const OpenIndex& index = paths_[path_].writer->index();
  for (const IndexEntry& entry : index.entries()) {
    if (entry.header_sector < next_sector_ || entry.scope >= index.scopes().size()) continue;
    if (!plan(entry, index.scopes()[entry.scope], used, now_ns)) return;
  }
}

void StoreVerify::plan_sealed(std::size_t& used, TimeNs now_ns) {
  for (std::uint32_t i = 0; i < footer_.entry_count(); ++i) {
    const IndexEntry entry = footer_.entry(i);
    if (entry.header_sector < next_sector_) continue;
    if (!plan(entry, footer_.scope(entry), used, now_ns)) return;
  }
}

// False: the batch is full, or the rest was written later. One that no batch holds is counted: no slot would take it.
bool StoreVerify::plan(const IndexEntry& entry, const IndexScope& scope, std::size_t& used, TimeNs now_ns) {
  const SegmentGeometry& geometry = path().geometry;
  const std::uint64_t offset = std::uint64_t{entry.header_sector} * kSectorBytes;
  const std::uint64_t begin = offset & ~(std::uint64_t{geometry.alignment} - 1);
  const std::uint64_t header = round_up(offset + entry.header_bytes, geometry.alignment) - begin;
  const std::uint64_t payload = round_up(std::uint64_t{entry.payload_bytes}, geometry.alignment);
  if (offset >= end_) return false;
  const bool fits_any = header + payload <= buffer_.size();
  if (fits_any && (check_count_ == kBatch || used + header + payload > buffer_.size())) return false;
  next_sector_ = entry.header_sector + 1;
  if (!fits_any) {
    ++report_.too_large;
    return true;
  }
  checks_[check_count_] = {.entry = entry,
                           .scope = scope,
                           .header = buffer_.subspan(used, header),
                           .payload = buffer_.subspan(used + header, payload)};
  const std::uint64_t segment = segment_file_offset(geometry, segment_);
  IoPiece piece{.first = static_cast<std::uint16_t>(check_count_)};
  piece.request =
      scratch_request(shared_, IoKind::kRead, path(), segment + begin, checks_[check_count_].header, now_ns);
  pieces_.add(piece);
  piece.count = 1;  // of a payload
  piece.request = scratch_request(shared_, IoKind::kRead, path(),
                                  segment + std::uint64_t{entry.payload_sector} * kSectorBytes,
                                  checks_[check_count_].payload, now_ns);
  if (payload != 0) add_range(pieces_, piece, payload);
  used += header + payload;
  ++check_count_;
  return true;
}

void StoreVerify::note(const IoPiece& piece) {
  Check& check = checks_[piece.first];
  report_.bytes += piece.bytes;
  if (piece.state != IoPiece::State::kDone) {
    check.outcome = piece.outcome;
  } else if (piece.count == 0) {
    check.header_bytes = piece.bytes;
  } else {
    check.payload_bytes += piece.bytes;
  }
}

void StoreVerify::after_reads(TimeNs now_ns) {
  for (const IoPiece& piece : pieces_.pieces()) note(piece);
  pieces_.clear();
  for (std::size_t i = 0; i < check_count_; ++i) judge(checks_[i]);
  const TimeNs took_ns = now_ns - begun_ns_;
  rest_until_ns_ = now_ns + took_ns;
  patience_until_ns_ = now_ns + std::max(took_ns, kPatienceNs);
  step_ = Step::kRest;
}

// As a read is judged: what is late may be right.
void StoreVerify::judge(const Check& check) {
  if (check.outcome == IoOutcome::kDeadline || check.outcome == IoOutcome::kCancelled) {
    ++report_.late;
    shared_.events.release(1);
    return;
  }
  if (check.outcome == IoOutcome::kFailed) return judge_bad(check, DiskFault::kNone);
  const SegmentGeometry& geometry = path().geometry;
  const SegmentContext segment = path().context(segment_);
  const ExpectedRecord expected = expect(check.entry, check.scope);
  const std::uint64_t at = expected.offset % geometry.alignment;
  const std::span<const std::byte> header =
      check.header.first(check.header_bytes).subspan(std::min(at, check.header_bytes));
  const bool is_block = check.entry.kind == RecordKind::kBlock;
  const std::uint64_t payload = std::min<std::uint64_t>(check.entry.payload_bytes, check.payload_bytes);
  const DiskFault fault =
      is_block ? verify_record(segment, expected, header, check.payload.first(payload), record_).fault
               : verify_header(segment, expected, header, record_);
  if (fault != DiskFault::kNone) return judge_bad(check, fault);
  ++(is_block ? report_.blocks_good : report_.marks_good);
  shared_.events.release(1);
}

// `fault` kNone: the device failed.
void StoreVerify::judge_bad(const Check& check, DiskFault fault) {
  if (fault == DiskFault::kNone) {
    ++report_.unreadable;
  } else {
    ++report_.faults[static_cast<std::size_t>(fault)];
    shared_.stats.count(fault);
  }
  if (check.entry.kind != RecordKind::kBlock) {
    ++report_.marks_bad;
    return shared_.events.release(1);
  }
  ++report_.blocks_bad;
  shared_.events.push_reserved({.kind = DiskEventKind::kDropped,
                                .code = fault == DiskFault::kNone ? Code::kSystem : Code::kCorrupt,
                                .fault = fault,
                                .path = static_cast<std::uint8_t>(path().number),
                                .old = make_locator(path().context(segment_).identity, check.entry),
                                .key = {check.scope.tenant, check.scope.space, check.entry.key}});
}

}  // namespace kvtier
