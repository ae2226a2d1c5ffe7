#pragma once
// Reads of all paths: a queue, and the runs that are made of what lies together in it. Any fault is a miss with its
// cause, and the owner is told to forget the copy, so that nobody comes back to it (C-06, C-08, R-06).

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/read_run.h"

namespace kvtier {

class BlockReader {
 public:
  static constexpr std::size_t kRuns = 16;
  /// Checked in a step, the last block whole: what the device has finished meanwhile makes room for more, and waits for it.
  static constexpr std::uint64_t kCheckBytesStep = 1ULL << 20;
  static constexpr std::uint64_t kHeadersBytes = std::uint64_t{2} * kAlignmentMax;

  /// `paths` by number; nullptr: that path is not there. Borrowed, complete before the first get.
  /// `headers`: kRuns times kHeadersBytes of the store's memory.
  BlockReader(StoreShared& shared, const std::vector<StorePath*>& paths, std::span<std::byte> headers);

  [[nodiscard]] bool has_room(std::size_t count) const {
    return queue_.size() - head_ + count <= shared_.options.gets_max;
  }
  /// With two events reserved for each, and room in the queue.
  void push(std::span<const DiskGet> gets);
  void step(TimeNs now_ns);
  [[nodiscard]] bool is_idle() const { return queue_.empty() && running_count_ == 0; }

 private:
  [[nodiscard]] StorePath* path_of(const DiskLocator& locator) const;
  [[nodiscard]] Code refusal(const DiskGet& get, TimeNs now_ns) const;
  void refuse(const DiskGet& get, Code code);
  void start_runs(TimeNs now_ns);
  [[nodiscard]] std::size_t gather(ReadRun& run, TimeNs now_ns);
  void answer(ReadRun& run, std::uint64_t& bytes_left);
  void release(ReadRun& run);
  void finish(const DiskEvent& event);

  StoreShared& shared_;
  const std::vector<StorePath*>& paths_;
  std::vector<std::unique_ptr<ReadRun>> runs_;
  std::vector<DiskGet> queue_;  ///< from head_ on; closed up when a run was taken
  std::size_t head_ = 0;
  std::size_t running_count_ = 0;
};

}  // namespace kvtier
