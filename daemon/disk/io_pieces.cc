#include "daemon/disk/io_pieces.h"

#include <algorithm>

#include "libkvclient/base/check.h"

namespace kvtier {

IoPieces::IoPieces(DiskIo& io, std::size_t pieces_max)
    : io_(io), client_(io.attach(*this)), pieces_max_(pieces_max) {
  pieces_.reserve(pieces_max);
}

void IoPieces::clear() {
  KV_CHECK(is_released(), "pieces are forgotten when the device has given them back");
  pieces_.clear();
  next_ = 0;
}

void IoPieces::add(const IoPiece& piece) {
  KV_CHECK(pieces_.size() < pieces_max_, "a job is planned for the pieces that it can have");
  pieces_.push_back(piece);
  ++open_count_;
}

void IoPieces::step() {
  for (; next_ < pieces_.size(); ++next_) {
    IoPiece& piece = pieces_[next_];
    if (!io_.submit(client_, static_cast<std::uint32_t>(next_), piece.request, piece.cause)) return;
    piece.state = IoPiece::State::kRunning;
  }
}

void IoPieces::on_io(std::uint32_t at, const IoEvent& event) {
  IoPiece& piece = pieces_[at];
  if (event.outcome == IoOutcome::kReleased) {
    --held_count_;
    piece.state = IoPiece::State::kFailed;
    return;
  }
  --open_count_;
  piece.outcome = event.outcome;
  piece.error = event.error;
  piece.bytes = event.bytes;
  const bool is_done = event.outcome == IoOutcome::kDone || event.outcome == IoOutcome::kEndOfFile;
  piece.state = is_done ? IoPiece::State::kDone : IoPiece::State::kFailed;
  if (!event.is_held) return;
  piece.state = IoPiece::State::kHeld;
  ++held_count_;
}

const IoPiece* IoPieces::first_failed() const {
  const auto found = std::find_if(pieces_.begin(), pieces_.end(), [](const IoPiece& piece) {
    return piece.state == IoPiece::State::kFailed || piece.state == IoPiece::State::kHeld;
  });
  return found == pieces_.end() ? nullptr : &*found;
}

void add_range(IoPieces& pieces, IoPiece piece, std::uint64_t bytes) {
  const IoRequest whole = piece.request;
  for (std::uint64_t at = 0; at < bytes; at += piece.request.bytes) {
    piece.request.offset = whole.offset + at;
    piece.request.data = whole.data + at;
    piece.request.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(kIoBytesMax, bytes - at));
    pieces.add(piece);
  }
}

Code io_code(const IoPiece& piece) {
  if (piece.outcome == IoOutcome::kDeadline) return Code::kDeadline;
  return piece.outcome == IoOutcome::kCancelled ? Code::kUnavailable : Code::kSystem;
}

}  // namespace kvtier
