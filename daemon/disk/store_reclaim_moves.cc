#include <algorithm>
#include <cstring>

#include "daemon/disk/store_reclaim.h"

namespace kvtier {

// The next moves of the questions that were answered, or the next questions, or the end.
void StoreReclaim::finish_moves(TimeNs now_ns) {
  moves_count_ = moves_written_ = 0;
  if (has_failed_) return give_up();
  if (next_answer_ < answers_.size()) return begin_moves(now_ns);
  release_events();
  if (next_entry_ < footer_.entry_count()) {
    step_ = Step::kGather;
    return;
  }
  take_tickets();
  step_ = Step::kMovedSync;
}

// On all paths: what was moved, and the newer copies of what is dead here, since those made it dead before a flush did.
void StoreReclaim::take_tickets() {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    StorePath& each = *paths_[i].path;
    tickets_[i] = each.health.is_serving() ? each.sync.take(SyncCause::kMoved) : 0;
  }
}

SyncResult StoreReclaim::synced() const {
  SyncResult all = SyncResult::kDone;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const SyncResult one = paths_[i].path->sync.result(tickets_[i]);
    if (one == SyncResult::kPending) return one;
    if (one == SyncResult::kFailed) all = one;
  }
  return all;
}

void StoreReclaim::begin_moves(TimeNs now_ns) {
  std::size_t used = 0;
  for (; next_answer_ < answers_.size() && moves_count_ < kMovesMax; ++next_answer_) {
    const ReclaimQuestion& question = questions_[next_answer_];
    if (answers_[next_answer_] == ReclaimAnswer::kDead) ++shared_.stats.blocks_dead;
    if (answers_[next_answer_] == ReclaimAnswer::kDrop) ++shared_.stats.blocks_dropped;
    if (answers_[next_answer_] == ReclaimAnswer::kKeep && !plan_move(question, used, now_ns)) break;
  }
  step_ = Step::kRead;
  pieces_.step();
}

// False: there is no memory for it beside the moves before it. Budget and share of the segment may drop it instead.
bool StoreReclaim::plan_move(const ReclaimQuestion& question, std::size_t& used, TimeNs now_ns) {
  const SegmentGeometry& geometry = path().path->geometry;
  const DiskLocator& locator = question.locator;
  const std::uint64_t begin = locator.header_offset() & ~(std::uint64_t{geometry.alignment} - 1);
  const std::uint64_t header =
      round_up(locator.header_offset() + locator.header_bytes(), geometry.alignment) - begin;
  const std::uint64_t payload = round_up(locator.payload_bytes, geometry.alignment);
  if (header + payload > move_buffer_.size()) {
    drop(question);
    return true;
  }
  if (used + header + payload > move_buffer_.size()) return false;
  const std::uint64_t bytes = header + payload;
  if (kept_bytes_ + bytes > kept_bytes_max_ || !shared_.budget.take(bytes, now_ns)) {
    drop(question);
    return true;
  }
  kept_bytes_ += bytes;
  Move& move = moves_[moves_count_];
  move = {.question = question,
          .header = move_buffer_.subspan(used, header),
          .payload = move_buffer_.subspan(used + header, payload),
          .record = {}};
  used += bytes;
  const std::uint64_t segment = segment_file_offset(geometry, segment_);
  IoPiece piece{.first = static_cast<std::uint16_t>(moves_count_), .count = 1};
  piece.request = scratch_request(shared_, IoKind::kRead, *path().path, segment + begin, move.header, now_ns);
  pieces_.add(piece);
  piece.request = scratch_request(shared_, IoKind::kRead, *path().path, segment + locator.payload_offset(),
                                  move.payload, now_ns);
  add_range(pieces_, piece, payload);
  ++moves_count_;
  return true;
}

void StoreReclaim::drop(const ReclaimQuestion& question, DiskFault fault) {
  ++shared_.stats.blocks_dropped;
  tell({.kind = DiskEventKind::kDropped,
        .code = fault == DiskFault::kNone ? Code::kOk : Code::kCorrupt,
        .fault = fault,
        .path = static_cast<std::uint8_t>(path().path->number),
        .old = question.locator,
        .key = question.key});
}

// What fails the check of every reader is not moved, but dropped with its cause.
void StoreReclaim::after_reads() {
  for (const IoPiece& piece : pieces_.pieces()) {
    const bool is_whole = piece.state == IoPiece::State::kDone && piece.bytes == piece.request.bytes;
    if (!is_whole) moves_[piece.first].is_done = true;
    has_failed_ = has_failed_ || piece.outcome == IoOutcome::kDeadline;
  }
  pieces_.clear();
  step_ = Step::kWrite;
  if (has_failed_ || !path().path->health.is_serving()) {
    has_failed_ = true;
    moves_count_ = 0;
    return;
  }
  const SegmentContext segment = path().path->context(segment_);
  for (std::size_t i = 0; i < moves_count_; ++i) {
    Move& move = moves_[i];
    DiskFault fault = DiskFault::kNone;
    const ReclaimQuestion& question = move.question;
    if (!move.is_done) {
      const std::uint64_t at = question.locator.header_offset() % segment.geometry.alignment;
      const DiskVerdict verdict = verify_record(
          segment, expect(question.locator, question.key, question.block_bytes), move.header.subspan(at),
          move.payload.first(question.locator.payload_bytes), move.record);
      if (verdict.is_ok()) continue;
      fault = verdict.fault;
      shared_.stats.count(fault);
    }
    move.is_done = true;
    drop(question, fault);
  }
}

void StoreReclaim::write_moves() {
  for (; moves_written_ < moves_count_; ++moves_written_) {
    const Move& move = moves_[moves_written_];
    if (move.is_done) continue;
    const DiskPut put{.key = move.question.key,
                      .parent = move.question.parent,
                      .born = move.question.born,
                      .created_ns = move.record.header.created_ns,
                      .shape = &move.record,
                      .memory = {shared_.options.scratch_region, move.payload.data(), move.payload.size()},
                      .tag = moves_written_};
    if (!path().writer->push_own(put, PutOrigin::kMove, RecordKind::kBlock)) return;
    ++writes_open_;
  }
}

void StoreReclaim::on_write(const OwnWrite& write) {
  --writes_open_;
  if (write.tag == kMovesMax) {
    has_failed_ = has_failed_ || write.code != Code::kOk;
    return;
  }
  Move& move = moves_[write.tag];
  move.is_done = true;
  if (write.code == Code::kUnavailable || write.code == Code::kDeadline) {
    has_failed_ = true;  // the copy stays where it is, and so does its segment
    return;
  }
  if (write.code != Code::kOk) return drop(move.question);
  ++shared_.stats.blocks_moved;
  tell({.kind = DiskEventKind::kMoved,
        .locator = write.locator,
        .old = move.question.locator,
        .key = move.question.key,
        .parent = move.question.parent,
        .born = move.question.born,
        .block_bytes = move.question.block_bytes});
}

// Zeros in the first and the last unit: neither header nor trailer leads anywhere any more.
void StoreReclaim::erase(TimeNs now_ns) {
  const SegmentGeometry& geometry = path().path->geometry;
  const std::span<std::byte> zeros = move_buffer_.first(geometry.alignment);
  std::memset(zeros.data(), 0, zeros.size());
  const std::uint64_t begin = segment_file_offset(geometry, segment_);
  for (const std::uint64_t offset : {std::uint64_t{0}, trailer_offset(geometry)}) {
    pieces_.add(
        {.request = scratch_request(shared_, IoKind::kWrite, *path().path, begin + offset, zeros, now_ns),
         .cause = WriteCause::kErasures});
  }
  pieces_.step();
  step_ = Step::kErase;
}

}  // namespace kvtier
