#pragma once
// Reads the superblock copies of a path, and writes them: two, a sync, the other two, a sync (FORMAT.md, "Update").

#include <cstdint>

#include "daemon/disk/format_superblock.h"
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
  [[nodiscard]] Result<SuperblockChoice> choose() const;

 private:
  enum class Step : std::uint8_t { kIdle, kRead, kFirst, kFirstSync, kSecond, kSecondSync };

  void add(IoKind kind, std::uint32_t copy, TimeNs now_ns);
  void write_pair(std::uint32_t first, TimeNs now_ns);
  void after_pieces();
  void after_sync(TimeNs now_ns);
  void fail(Code code, const char* what, int error);
  [[nodiscard]] std::span<std::byte> unit(std::uint32_t copy) const;

  StoreShared& shared_;
  StorePath& path_;
  IoPieces pieces_;
  Step step_ = Step::kIdle;
  bool is_begun_ = false;
  Superblock block_{};
  std::uint64_t ticket_ = 0;
  std::array<std::uint32_t, kSuperblockCopies> bytes_{};  ///< that the last read found
  Status status_;
};

}  // namespace kvtier
