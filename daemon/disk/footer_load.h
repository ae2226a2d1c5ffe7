#pragma once
// Reads the footer of one sealed segment, and checks it.

#include <cstdint>
#include <span>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

class FooterLoad {
 public:
  /// `buffer`: kIndexBytesMax and a unit of the store's memory, this one's while it is busy.
  FooterLoad(StoreShared& shared, std::span<std::byte> buffer)
      : shared_(shared), pieces_(shared.io, range_pieces(buffer.size())), buffer_(buffer) {}

  /// `index_bytes`: as its trailer said, or its row says. Longer than the buffer: damaged.
  void start(StorePath& path, std::uint32_t segment, std::uint32_t index_bytes, TimeNs now_ns);
  void step();
  [[nodiscard]] bool is_done() const { return is_done_; }

  /// After is_done(): of the trailer, then of the index. kTruncated where the device failed.
  [[nodiscard]] DiskFault trailer_fault() const { return trailer_fault_; }
  [[nodiscard]] DiskFault index_fault() const { return index_fault_; }
  [[nodiscard]] bool is_ok() const {
    return trailer_fault_ == DiskFault::kNone && index_fault_ == DiskFault::kNone;
  }
  [[nodiscard]] const SegmentTrailer& trailer() const { return trailer_; }
  /// Where is_ok().
  [[nodiscard]] std::uint32_t entry_count() const { return trailer_.entry_count; }
  [[nodiscard]] IndexEntry entry(std::uint32_t i) const { return read_entry(trailer_, index(), i); }
  [[nodiscard]] IndexScope scope(const IndexEntry& entry) const {
    return read_scope(trailer_, index(), entry.scope);
  }

  [[nodiscard]] StorePath& path() const { return *path_; }
  [[nodiscard]] std::uint32_t segment() const { return segment_; }

 private:
  [[nodiscard]] std::span<const std::byte> index() const { return buffer_.first(trailer_.index_bytes); }
  void finish(DiskFault trailer, DiskFault index);
  void check();

  StoreShared& shared_;
  IoPieces pieces_;
  const std::span<std::byte> buffer_;
  StorePath* path_ = nullptr;
  std::uint32_t segment_ = 0;
  std::uint64_t bytes_ = 0;
  bool is_done_ = true;
  DiskFault trailer_fault_ = DiskFault::kNone;
  DiskFault index_fault_ = DiskFault::kNone;
  SegmentTrailer trailer_{};
};

}  // namespace kvtier
