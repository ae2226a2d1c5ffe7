#pragma once
// One group of records on its way to the disk: summed, checked as a reader will check it, written in few large
// requests straight from the slots. A request of several records that fails is tried again record by record, so that
// one bad place costs one record.

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/io_pieces.h"
#include "daemon/disk/put_queue.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

/// A group begins no further record behind so many bytes: sums are made in one go.
inline constexpr std::uint64_t kGroupBytesMax = 16ULL << 20;

class GroupWrite {
 public:
  struct Member {
    QueuedPut put;
    std::uint32_t entry = 0;  ///< position in the open index
    std::uint64_t payload_offset = 0;
    std::uint64_t padded_bytes = 0;
    std::uint32_t header_offset = 0;  ///< in the group
    std::uint32_t header_bytes = 0;
  };

  /// `headers`: kGroupRecordsMax headers of kHeaderBytesMax.
  GroupWrite(StoreShared& shared, std::span<std::byte> headers);

  /// `records` are placed; their sums are made here, but for moves, which keep theirs. kCorrupt: what would be written
  /// is not what a reader would take (a slot changed meanwhile): nothing is written.
  Status start(StorePath& path, const SegmentContext& segment, std::span<DiskRecord> records,
               std::span<const QueuedPut> puts, TimeNs now_ns);
  void set_entry(std::size_t member, std::uint32_t entry) { members_[member].entry = entry; }
  void step();

  [[nodiscard]] bool is_free() const { return members_.empty(); }
  /// Every record has its result.
  [[nodiscard]] bool is_settled() const { return pieces_.is_settled(); }
  [[nodiscard]] bool is_released() const { return pieces_.is_released(); }
  /// kOk, or why that record is not on disk. After is_settled().
  [[nodiscard]] Code result(std::size_t member) const;
  [[nodiscard]] std::span<const Member> members() const { return members_; }
  [[nodiscard]] std::uint32_t segment() const { return segment_.identity.segment; }
  /// Of its first header, in the segment.
  [[nodiscard]] std::uint64_t offset() const { return group_offset_; }
  [[nodiscard]] const SegmentIdentity& identity() const { return segment_.identity; }
  /// After is_released().
  void free();

  // its writer's notes
  bool is_reported = false;
  bool is_late = false;  ///< it was reported before the device gave it back

 private:
  void plan_headers(std::span<const DiskRecord> records);
  void plan_payloads();
  void split(std::size_t at);
  void split_headers(const IoPiece& piece);
  [[nodiscard]] Status verify(std::span<const DiskRecord> records) const;
  [[nodiscard]] IoPiece piece(std::uint64_t offset, std::byte* data, IoRegion region) const;

  StoreShared& shared_;
  const std::span<std::byte> headers_;
  IoPieces pieces_;
  std::vector<Member> members_;
  SegmentContext segment_;
  IoFile file_{};
  std::uint64_t group_offset_ = 0;  ///< in the segment
  std::uint64_t file_offset_ = 0;   ///< of the segment
  TimeNs deadline_ns_ = kNever;
};

}  // namespace kvtier
