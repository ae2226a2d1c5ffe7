#pragma once
// Blocks that lie close together on one path, read in few large requests: their headers in one, their payloads in one
// where the slots lie side by side as well. Each is checked by the one function and answered as soon as it is there, while
// the device reads on. A request for several that fails is tried again block by block.

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
  /// The device has nothing of it any more.
  [[nodiscard]] bool is_released() const { return pieces_.is_released(); }
  /// All of its gets have their answer.
  [[nodiscard]] bool is_answered() const { return answered_ == gets_.size(); }
  /// The next one, in order, has all of its bytes, or will not get them.
  [[nodiscard]] bool is_next_settled() const;
  /// Its answer. After is_next_settled(). Checks the bytes.
  DiskEvent answer_next();
  /// The device had the memory of this one still when it was answered.
  [[nodiscard]] bool was_held(std::size_t at) const { return (held_ >> at & 1) != 0; }
  [[nodiscard]] std::span<const DiskGet> gets() const { return gets_; }
  [[nodiscard]] StorePath& path() const { return *path_; }
  void free();

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
  [[nodiscard]] bool is_memory_held(std::size_t at) const;
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
  std::size_t answered_ = 0;
  std::uint64_t held_ = 0;  ///< by get
};

}  // namespace kvtier
