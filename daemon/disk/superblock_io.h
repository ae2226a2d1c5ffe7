#pragma once
// Reads the superblock copies of a path, and writes them: two, a sync, the other two, a sync (FORMAT.md, "Update"). The
// pair that was found damaged or older goes first, so that a cut never meets the only good one.

#include <cstdint>

#include "daemon/disk/format_superblock.h"
#include "daemon/disk/job_step.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

class SuperblockIo {
 public:
  SuperblockIo(StoreShared& shared, StorePath& path)
      : shared_(shared), path_(path), pieces_(shared.io, kSuperblockCopies) {}

  void read(TimeNs now_ns);
  void write(const Superblock& block);
  void step(TimeNs now_ns);

  [[nodiscard]] bool is_done() const { return step_ == Step::kIdle; }
  /// Of the last read or write. kSystem, kDeadline: the device failed.
  [[nodiscard]] const Status& status() const { return status_; }
  /// After a read.
  [[nodiscard]] Result<SuperblockChoice> choose();

 private:
  enum class Step : std::uint8_t { kIdle, kRead, kOpeningSync, kFirst, kFirstSync, kSecond, kSecondSync };

  void add(IoKind kind, std::uint32_t copy, TimeNs now_ns);
  void write_pair(bool is_first, TimeNs now_ns);
  [[nodiscard]] bool is_upper_pair_worse(const SuperblockCopies& copies, std::uint64_t revision) const;
  void after_pieces();
  void after_sync(TimeNs now_ns);
  void fail(Code code, const char* what, int error);
  [[nodiscard]] std::span<std::byte> unit(std::uint32_t copy) const;

  StoreShared& shared_;
  StorePath& path_;
  IoPieces pieces_;
  JobStep<Step> step_{shared_.io.changes(), Step::kIdle};
  bool is_begun_ = false;
  bool is_opened_ = false;        ///< what was read is durable
  std::uint32_t first_copy_ = 0;  ///< of the pair that is written first
  Superblock block_{};
  std::uint64_t ticket_ = 0;
  std::array<std::uint32_t, kSuperblockCopies> bytes_{};  ///< that the last read found
  Status status_;
};

}  // namespace kvtier
