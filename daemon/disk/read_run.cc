#include "daemon/disk/read_run.h"

#include <algorithm>

namespace kvtier {
namespace {

std::size_t pieces_max(const DiskStoreOptions& options) {
  const std::uint64_t cuts = options.block_bytes_max / kIoBytesMax + 2;
  return 1 + kGroupRecordsMax + kGroupRecordsMax * cuts + kGroupRecordsMax;
}

bool covers(const IoPiece& piece, std::size_t at) {
  return at >= piece.first && at < std::size_t{piece.first} + piece.count;
}

std::uint64_t round_down(std::uint64_t value, std::uint64_t unit) {
  return value & ~(unit - 1);
}

}  // namespace

ReadRun::ReadRun(StoreShared& shared, std::span<std::byte> headers)
    : shared_(shared), headers_(headers), pieces_(shared.io, pieces_max(shared.options)) {
  gets_.reserve(kGroupRecordsMax);
}

void ReadRun::free() {
  pieces_.clear();
  gets_.clear();
}

void ReadRun::begin(StorePath& path, const DiskGet& get) {
  path_ = &path;
  segment_ = path.context(get.locator.segment);
  const std::uint64_t unit = segment_.geometry.alignment;
  window_begin_ = round_down(get.locator.header_offset(), unit);
  window_end_ = round_up(get.locator.header_offset() + get.locator.header_bytes(), unit);
  deadline_ns_ = get.deadline_ns;
  answered_ = 0;
  held_ = 0;
  gets_.push_back(get);
}

// A run is worth it where one request brings all headers; what lies between them is read along.
bool ReadRun::add(const DiskGet& get) {
  const DiskLocator& first = gets_.front().locator;
  const bool is_here = get.locator.segment == first.segment && get.locator.use >> 16 == first.use >> 16 &&
                       get.locator.path() == first.path();
  if (!is_here || get.deadline_ns != deadline_ns_ || gets_.size() == kGroupRecordsMax) return false;
  const std::uint64_t unit = segment_.geometry.alignment;
  const std::uint64_t begin = std::min(window_begin_, round_down(get.locator.header_offset(), unit));
  const std::uint64_t end =
      std::max(window_end_, round_up(get.locator.header_offset() + get.locator.header_bytes(), unit));
  if (end - begin > kRunHeaderBytes) return false;
  window_begin_ = begin;
  window_end_ = end;
  gets_.push_back(get);
  return true;
}

void ReadRun::start(TimeNs now_ns) {
  deadline_ns_ = std::min(deadline_ns_, now_ns + shared_.options.io_deadline_ns);
  add_header_piece(0, gets_.size(), false);
  plan_payloads();
  pieces_.step();
}

std::uint64_t ReadRun::padded(std::size_t at) const {
  return round_up(gets_[at].locator.payload_bytes, segment_.geometry.alignment);
}

IoPiece ReadRun::piece(std::uint64_t offset, std::byte* data, IoRegion region) const {
  return {.request = {.kind = IoKind::kRead,
                      .file = path_->file.file,
                      .region = region,
                      .offset = segment_file_offset(segment_.geometry, segment_.identity.segment) + offset,
                      .data = data,
                      .deadline_ns = deadline_ns_}};
}

// All of the window, or on a second try the units of one header.
void ReadRun::add_header_piece(std::size_t first, std::size_t count, bool is_retry) {
  std::uint64_t begin = window_begin_;
  std::uint64_t end = window_end_;
  if (is_retry) {
    const DiskLocator& locator = gets_[first].locator;
    begin = round_down(locator.header_offset(), segment_.geometry.alignment);
    end = round_up(locator.header_offset() + locator.header_bytes(), segment_.geometry.alignment);
  }
  IoPiece one = piece(begin, headers_.data() + (begin - window_begin_), shared_.options.scratch_region);
  one.request.bytes = static_cast<std::uint32_t>(end - begin);
  one.first = static_cast<std::uint16_t>(first);
  one.count = static_cast<std::uint16_t>(count);
  one.is_retry = is_retry;
  pieces_.add(one);
}

void ReadRun::add_payload_piece(std::size_t first, std::size_t count, std::uint64_t bytes, bool is_retry) {
  const DiskGet& get = gets_[first];
  IoPiece run = piece(get.locator.payload_offset(), get.memory.data, get.memory.region);
  run.first = static_cast<std::uint16_t>(first);
  run.count = static_cast<std::uint16_t>(count);
  run.is_retry = is_retry;
  add_range(pieces_, run, bytes);
}

void ReadRun::plan_payloads() {
  for (std::size_t i = 0; i < gets_.size();) {
    const DiskMemory& memory = gets_[i].memory;
    const std::uint64_t offset = gets_[i].locator.payload_offset();
    std::uint64_t bytes = padded(i);
    std::size_t next = i + 1;
    for (; next < gets_.size() && bytes + padded(next) <= kIoBytesMax; ++next) {
      const DiskMemory& other = gets_[next].memory;
      if (gets_[next].locator.payload_offset() != offset + bytes) break;
      if (other.region != memory.region || other.data != memory.data + bytes) break;
      bytes += padded(next);
    }
    add_payload_piece(i, next - i, bytes, false);
    i = next;
  }
}

void ReadRun::step() {
  const std::size_t count = pieces_.pieces().size();
  for (std::size_t i = 0; i < count; ++i) {
    const IoPiece& piece = pieces_.pieces()[i];
    if (piece.state == IoPiece::State::kFailed && piece.outcome == IoOutcome::kFailed && piece.count > 1 &&
        !piece.is_retry)
      split(i);
  }
  pieces_.step();
}

void ReadRun::split(std::size_t at) {
  pieces_.pieces()[at].state = IoPiece::State::kSplit;
  const IoPiece failed = pieces_.pieces()[at];
  ++shared_.stats.io_split;
  const bool is_header = failed.request.data == headers_.data();
  for (std::size_t i = failed.first; i < std::size_t{failed.first} + failed.count; ++i) {
    if (is_header) {
      add_header_piece(i, 1, true);
    } else {
      add_payload_piece(i, 1, padded(i), true);
    }
  }
}

const IoPiece* ReadRun::failed_piece(std::size_t at) const {
  for (const IoPiece& piece : pieces_.pieces()) {
    const bool is_bad = piece.state == IoPiece::State::kFailed || piece.state == IoPiece::State::kHeld;
    if (is_bad && covers(piece, at)) return &piece;
  }
  return nullptr;
}

// How many of the bytes from `offset` in the segment the device delivered: the file may end early.
std::uint64_t ReadRun::bytes_read(std::size_t at, std::uint64_t offset, std::uint64_t bytes,
                                  bool is_header) const {
  const std::uint64_t begin = segment_file_offset(segment_.geometry, segment_.identity.segment) + offset;
  std::uint64_t end = begin;
  for (const IoPiece& piece : pieces_.pieces()) {
    const bool is_headers = piece.request.region == shared_.options.scratch_region;
    if (!covers(piece, at) || is_headers != is_header || piece.state != IoPiece::State::kDone) continue;
    if (piece.request.offset <= end) end = std::max(end, piece.request.offset + piece.bytes);
  }
  return std::min(bytes, end - begin);
}

void ReadRun::check(std::size_t at, DiskEvent& event) const {
  const DiskGet& get = gets_[at];
  const std::uint64_t offset = get.locator.header_offset();
  const std::span<const std::byte> header = headers_.subspan(offset - window_begin_);
  const std::uint64_t header_bytes = bytes_read(at, offset, get.locator.header_bytes(), true);
  const std::uint64_t payload_bytes =
      bytes_read(at, get.locator.payload_offset(), get.locator.payload_bytes, false);
  DiskRecord record;
  const DiskVerdict verdict =
      verify_record(segment_, expect(get.locator, get.key, get.block_bytes), header.first(header_bytes),
                    {get.memory.data, payload_bytes}, record);
  event.fault = verdict.fault;
  event.code = verdict.is_ok() ? Code::kOk : Code::kCorrupt;
  if (!verdict.is_ok()) return;
  event.parent = record.header.parent;
  event.born = record.header.born;
  event.created_ns = record.header.created_ns;
}

bool ReadRun::is_next_settled() const {
  return std::none_of(pieces_.pieces().begin(), pieces_.pieces().end(), [&](const IoPiece& piece) {
    const bool is_open = piece.state == IoPiece::State::kWaiting || piece.state == IoPiece::State::kRunning;
    return is_open && covers(piece, answered_);
  });
}

bool ReadRun::is_memory_held(std::size_t at) const {
  return std::any_of(pieces_.pieces().begin(), pieces_.pieces().end(), [&](const IoPiece& piece) {
    return piece.state == IoPiece::State::kHeld && covers(piece, at) &&
           piece.request.region != shared_.options.scratch_region;
  });
}

DiskEvent ReadRun::answer_next() {
  const std::size_t at = answered_++;
  const DiskGet& get = gets_[at];
  DiskEvent event{.kind = DiskEventKind::kGet,
                  .is_held = is_memory_held(at),
                  .path = static_cast<std::uint8_t>(path_->number),
                  .tag = get.tag,
                  .locator = get.locator,
                  .key = get.key,
                  .block_bytes = get.block_bytes};
  if (event.is_held) held_ |= std::uint64_t{1} << at;
  if (const IoPiece* failed = failed_piece(at); failed != nullptr) {
    event.code = io_code(*failed);
  } else {
    check(at, event);
  }
  // A copy that is not what it should be will not get better; one that is late, or that the device could not read, may.
  event.is_dropped = event.code == Code::kCorrupt;
  return event;
}

}  // namespace kvtier
