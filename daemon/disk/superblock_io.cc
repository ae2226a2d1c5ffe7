#include "daemon/disk/superblock_io.h"

#include <algorithm>
#include <cstring>

namespace kvtier {

std::span<std::byte> SuperblockIo::unit(std::uint32_t copy) const {
  return path_.superblock_scratch.subspan(std::size_t{copy} * kHeaderBytesMax, kHeaderBytesMax);
}

void SuperblockIo::add(IoKind kind, std::uint32_t copy, TimeNs now_ns) {
  const std::uint64_t offset = copy * kSuperblockStrideBytes;
  pieces_.add({.request = scratch_request(shared_, kind, path_, offset, unit(copy), now_ns),
               .cause = WriteCause::kSuperblocks,
               .first = static_cast<std::uint16_t>(copy)});
}

void SuperblockIo::read(TimeNs now_ns) {
  KV_CHECK(is_done(), "one update of a superblock at a time");
  step_ = Step::kRead;
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) add(IoKind::kRead, copy, now_ns);
  pieces_.step();
}

void SuperblockIo::write(const Superblock& block) {
  KV_CHECK(is_done(), "one update of a superblock at a time");
  block_ = block;
  is_begun_ = false;
  step_ = is_opened_ ? Step::kFirst : Step::kOpeningSync;
  if (!is_opened_) ticket_ = path_.sync.take(SyncCause::kOpening);
}

void SuperblockIo::write_pair(bool is_first, TimeNs now_ns) {
  const std::uint32_t first = is_first ? first_copy_ : (first_copy_ + 2) % kSuperblockCopies;
  for (const std::uint32_t copy : {first, first + 1}) {
    const SuperblockBytes bytes = encode_superblock(block_, copy);
    std::memset(unit(copy).data(), 0, unit(copy).size());
    std::memcpy(unit(copy).data(), bytes.data(), bytes.size());
    add(IoKind::kWrite, copy, now_ns);
  }
  is_begun_ = true;
}

void SuperblockIo::fail(Code code, const char* what, int error) {
  status_ = error != 0
                ? Status::from_errno(what, error)
                : Status(code, std::string(what) + ": the device did not answer within nvme.io_deadline_ms");
  step_ = Step::kIdle;
}

void SuperblockIo::step(TimeNs now_ns) {
  switch (step_) {
    case Step::kIdle:
      return;
    case Step::kFirst:
    case Step::kSecond:
      if (!is_begun_) write_pair(step_ == Step::kFirst, now_ns);
      [[fallthrough]];
    case Step::kRead:
      pieces_.step();
      if (pieces_.is_released()) after_pieces();
      return;
    case Step::kOpeningSync:
    case Step::kFirstSync:
    case Step::kSecondSync:
      return after_sync(now_ns);
  }
}

void SuperblockIo::after_pieces() {
  const IoPiece* failed = pieces_.first_failed();
  const Code code = failed == nullptr ? Code::kOk : io_code(*failed);
  const int error = failed == nullptr ? 0 : failed->error;
  for (const IoPiece& piece : pieces_.pieces()) bytes_[piece.first] = piece.bytes;
  pieces_.clear();
  if (code != Code::kOk)
    return fail(code, step_ == Step::kRead ? "reading a superblock" : "writing a superblock", error);
  status_ = Status::ok();
  if (step_ == Step::kRead) {
    step_ = Step::kIdle;
    return;
  }
  const bool is_first = step_ == Step::kFirst;
  ticket_ = path_.sync.take(is_first ? SyncCause::kSuperblockFirst : SyncCause::kSuperblockSecond);
  step_ = is_first ? Step::kFirstSync : Step::kSecondSync;
}

void SuperblockIo::after_sync(TimeNs) {
  const SyncResult result = path_.sync.result(ticket_);
  if (result == SyncResult::kPending) return;
  if (result == SyncResult::kFailed)
    return fail(Code::kSystem, "fdatasync of a superblock", shared_.io.luck(path_.file.file).error);
  is_opened_ = true;
  if (step_ == Step::kSecondSync) first_copy_ = 0;  // all are equal now
  step_ = step_ == Step::kOpeningSync ? Step::kFirst
          : step_ == Step::kFirstSync ? Step::kSecond
                                      : Step::kIdle;
  is_begun_ = false;
}

bool SuperblockIo::is_upper_pair_worse(const SuperblockCopies& copies, std::uint64_t revision) const {
  std::array<int, 2> good{};
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    Superblock block{};
    const bool is_intact = verify_superblock(copies[copy], copy, block) == DiskFault::kNone;
    if (is_intact && block.revision == revision) ++good[copy / 2];
  }
  return good[1] < good[0];
}

Result<SuperblockChoice> SuperblockIo::choose() {
  SuperblockCopies copies;
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    copies[copy] = unit(copy).first(std::min<std::size_t>(bytes_[copy], kHeaderBytesMax));
  }
  Result<SuperblockChoice> choice = choose_superblock(copies);
  if (choice.is_ok()) first_copy_ = is_upper_pair_worse(copies, choice.value().superblock.revision) ? 2 : 0;
  return choice;
}

}  // namespace kvtier
