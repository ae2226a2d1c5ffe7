#pragma once
// Recovery of a segment without footer: goes through its units, looks at all headers of each group that it finds, and
// checks every payload. What is right goes into an index, of which the segment's footer is made.

#include <cstdint>
#include <span>

#include "daemon/disk/format_scan.h"
#include "daemon/disk/job_step.h"
#include "daemon/disk/open_index.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

class SegmentScan {
 public:
  static constexpr std::uint64_t kHeadersBytes = (kGroupRecordsMax + 1) * std::uint64_t{kHeaderBytesMax};

  /// `buffer`: kHeadersBytes, then what the largest payload takes, 256 KiB at least.
  SegmentScan(StoreShared& shared, std::span<std::byte> buffer);

  /// `segment` says its generation and epoch. `index` is filled, in the order of offsets.
  void start(StorePath& path, const SegmentContext& segment, OpenIndex& index, TimeNs now_ns);
  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return step_ == Step::kDone; }
  /// Where the last group ends.
  [[nodiscard]] std::uint64_t data_end() const { return data_end_; }
  /// Each part of it could be read; else its index tells less than there is.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  /// Units that could not be read, in which records may begin.
  [[nodiscard]] std::uint64_t units_unread() const { return units_unread_; }
  /// Of blocks that are right.
  [[nodiscard]] std::uint64_t born_min() const { return born_min_; }

 private:
  enum class Step : std::uint8_t { kSeek, kHeaders, kPayloads, kDone };
  static constexpr std::uint32_t kChunkBytes = 256U << 10;

  void read(std::uint64_t offset, std::uint64_t bytes, std::span<std::byte> into, TimeNs now_ns);
  void next_read(TimeNs now_ns);
  void look(std::uint64_t bytes);
  void begin_group(const ScanStep& found);
  void after_headers(std::uint64_t bytes);
  [[nodiscard]] bool plan_payloads(std::uint64_t& offset, std::uint64_t& bytes);
  void after_payloads(std::uint64_t bytes);
  void skip_unreadable();
  void lose_units(std::uint64_t units);
  [[nodiscard]] DiskFault header(std::uint32_t i, DiskRecord& out) const;
  void enter(const DiskRecord& record);

  StoreShared& shared_;
  IoPieces pieces_;
  const std::span<std::byte> headers_;
  const std::span<std::byte> payloads_;
  StorePath* path_ = nullptr;
  OpenIndex* index_ = nullptr;
  SegmentContext segment_;
  JobStep<Step> step_{shared_.io.changes(), Step::kDone};
  std::uint64_t at_ = 0;  ///< next offset to look at
  std::uint64_t chunk_ = kChunkBytes;
  ScanStep group_;
  std::uint64_t header_bytes_ = 0;  ///< of the group's headers, that were read
  std::uint32_t record_ = 0;        ///< of the group: next one
  std::uint32_t run_end_ = 0;       ///< of those whose payloads are being read
  std::uint64_t run_offset_ = 0;
  bool is_single_ = false;  ///< payloads one by one, since a read of several failed
  bool is_whole_ = true;
  std::uint64_t units_unread_ = 0;
  std::uint64_t data_end_ = 0;
  std::uint64_t born_min_ = kNobodyBorn;
  DiskRecord record_buffer_{};
};

}  // namespace kvtier
