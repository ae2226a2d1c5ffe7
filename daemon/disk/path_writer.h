#pragma once
// The writer of a path: one open segment at a time, up to two groups on their way to it, and its seal. Records of the
// store itself (marks, moves) go before those of the owner.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/group_write.h"
#include "daemon/disk/open_index.h"
#include "daemon/disk/segment_seal.h"

namespace kvtier {

/// How a record of the store itself ended.
struct OwnWrite {
  PutOrigin origin = PutOrigin::kMove;
  Code code = Code::kOk;
  std::uint64_t tag = 0;
  DiskLocator locator;
};

/// Whether space comes back on this path.
struct ReclaimView {
  bool is_active = false;  ///< a segment of it is being emptied
  bool may_begin = false;  ///< another will be, where there is one to gain
};

class PathWriter {
 public:
  static constexpr std::size_t kGroups = 2;
  static constexpr std::size_t kOwnPutsMax = 128;
  static constexpr std::uint64_t kHeadersBytes = (kGroupRecordsMax + 1) * std::uint64_t{kHeaderBytesMax};

  /// `headers`: kGroups times kHeadersBytes of the store's memory; `unit`: one of the largest alignment.
  PathWriter(StoreShared& shared, StorePath& path, std::span<std::byte> headers, std::span<std::byte> unit);

  [[nodiscard]] bool has_owner_room(std::size_t count) const { return owner_queue_.has_room(count); }
  /// The owner's, with two events reserved for each, and room in the queue.
  void push(std::span<const DiskPut> puts);
  /// A mark or a move. False: the queue is full.
  [[nodiscard]] bool push_own(const DiskPut& put, PutOrigin origin, RecordKind kind);
  [[nodiscard]] bool has_own_room(std::size_t count) const { return own_queue_.has_room(count); }
  /// Whether an empty segment of this path could hold the block.
  [[nodiscard]] bool fits(const DiskRecord& shape) const;

  void step(TimeNs now_ns, const ReclaimView& reclaim);

  /// Every record that was taken before `number` has its result. numbers_taken() is the next number.
  [[nodiscard]] bool is_settled_before(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t numbers_taken() const { return number_; }
  /// The smallest `born` of what waits or is on its way.
  [[nodiscard]] std::uint64_t born_min() const;
  [[nodiscard]] std::uint64_t queued_count() const { return owner_queue_.size() + own_queue_.size(); }
  [[nodiscard]] bool is_waiting_for_segment() const { return is_waiting_; }

  /// Of the open segment, those of groups on their way included; they begin at settled_end() or behind it. Entries
  /// without a scope of the index were dropped.
  [[nodiscard]] const OpenIndex& index() const { return index_; }
  /// In the segment: what lies before it has its result. 0: this writer does not have the segment open.
  [[nodiscard]] std::uint64_t settled_end(std::uint32_t segment) const;

  /// Results of push_own(), in any order.
  [[nodiscard]] bool pop_own(OwnWrite& out);

  /// Recovery: an index to fill by a scan of `segment`, then its seal.
  [[nodiscard]] OpenIndex& index_for_recovery() { return index_; }
  void seal_recovered(std::uint32_t segment, std::uint64_t data_end);
  /// Seals what is open, once nothing waits. is_closed() when there is nothing open.
  void close() { is_closing_ = true; }
  [[nodiscard]] bool is_closed() const {
    return seal_.is_idle() && segment_ == kNoSegment && queued_count() == 0;
  }

 private:
  static constexpr std::uint32_t kNoSegment = ~std::uint32_t{0};

  void report(GroupWrite& group);
  void report_member(GroupWrite& group, std::size_t member);
  void release(GroupWrite& group);
  void answer(const QueuedPut& put, Code code, const DiskLocator& locator, bool is_held);
  void fail_queue(PutQueue& queue, Code code);
  void start_groups(TimeNs now_ns, const ReclaimView& reclaim);
  [[nodiscard]] bool has_segment(PutOrigin origin, TimeNs now_ns, const ReclaimView& reclaim);
  [[nodiscard]] bool may_gain(const ReclaimView& reclaim) const;
  void wait_for_segment(PutOrigin origin, const ReclaimView& reclaim);
  [[nodiscard]] bool start_group(GroupWrite& group, PutQueue& queue, TimeNs now_ns);
  [[nodiscard]] std::size_t gather(const PutQueue& queue);
  [[nodiscard]] bool place(std::size_t count);
  void enter(GroupWrite& group, std::size_t count);
  void prepare(DiskRecord& record, const QueuedPut& put);
  void open_segment(TimeNs now_ns);
  void after_header();
  void begin_seal();
  [[nodiscard]] bool has_groups() const;

  StoreShared& shared_;
  StorePath& path_;
  PutQueue owner_queue_;
  PutQueue own_queue_;
  FixedQueue<OwnWrite> own_done_;
  std::array<GroupWrite, kGroups> groups_;
  std::vector<DiskRecord> records_;  ///< of the group that is being made
  std::vector<QueuedPut> gathered_;  ///< the same
  OpenIndex index_;
  SegmentSeal seal_;
  IoPieces header_;  ///< of the segment that is being opened
  const std::span<std::byte> unit_;
  std::uint32_t segment_ = kNoSegment;  ///< open, or being opened
  std::uint64_t end_ = 0;               ///< of its data
  std::uint64_t number_ = 0;
  bool is_waiting_ = false;
  bool is_closing_ = false;
};

}  // namespace kvtier
