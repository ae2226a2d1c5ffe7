#pragma once
// Blocks that lie close together on one path, read in few large requests: their headers in one, their payloads in one
// where the slots lie side by side as well. Each is then checked by the one function. A request for several that fails
// is tried again block by block.

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/io_pieces.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

/// Of the headers that a run reads in one piece.
inline constexpr std::uint32_t kRunHeaderBytes = 64U << 10;

class ReadRun {
 public:
  /// `headers`: two units of the largest alignment of the store's memory.
  ReadRun(StoreShared& shared, std::span<std::byte> headers);

  /// The first of a run; each names a current segment of that path.
  void begin(StorePath& path, const DiskGet& get);
  /// Takes the get if it belongs to the run.
  [[nodiscard]] bool add(const DiskGet& get);
  void start(TimeNs now_ns);
  void step();

  [[nodiscard]] bool is_free() const { return gets_.empty(); }
  [[nodiscard]] bool is_settled() const { return pieces_.is_settled(); }
  [[nodiscard]] bool is_released() const { return pieces_.is_released(); }
  /// After is_settled(): the answer for one of its gets, but for the fields of memory that is held.
  [[nodiscard]] DiskEvent result(std::size_t at) const;
  [[nodiscard]] std::span<const DiskGet> gets() const { return gets_; }
  [[nodiscard]] StorePath& path() const { return *path_; }
  void free();

  // its reader's notes
  bool is_reported = false;
  bool is_late = false;  ///< reported before the device gave it back

 private:
  void plan_headers();
  void plan_payloads();
  void split(std::size_t at);
  void add_header_piece(std::size_t first, std::size_t count, bool is_retry);
  void add_payload_piece(std::size_t first, std::size_t count, std::uint64_t bytes, bool is_retry);
  [[nodiscard]] IoPiece piece(std::uint64_t offset, std::byte* data, IoRegion region) const;
  [[nodiscard]] std::uint64_t padded(std::size_t at) const;
  [[nodiscard]] std::uint64_t bytes_read(std::size_t at, std::uint64_t offset, std::uint64_t bytes,
                                         bool is_header) const;
  [[nodiscard]] const IoPiece* failed_piece(std::size_t at) const;
  void check(std::size_t at, DiskEvent& event) const;

  StoreShared& shared_;
  const std::span<std::byte> headers_;
  IoPieces pieces_;
  std::vector<DiskGet> gets_;
  StorePath* path_ = nullptr;
  SegmentContext segment_;
  std::uint64_t window_begin_ = 0;  ///< of the headers, in the segment
  std::uint64_t window_end_ = 0;
  TimeNs deadline_ns_ = kNever;
};

}  // namespace kvtier
