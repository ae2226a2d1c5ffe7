#pragma once
// A ring's backend on a simulated disk under simulated time: operations take their time, overlap and overtake.

#include <vector>

#include "daemon/io/io_backend.h"
#include "tests/support/sim_disk.h"

namespace kvtier::test {

struct SimDiskOptions {
  std::uint64_t seed = 1;
  std::uint32_t depth = 32;
  std::uint32_t files_max = 64;
  TimeNs latency_ns = 80 * kNsPerUs;  ///< of an operation alone; each is up to as much again late
  std::uint64_t bytes_per_us = 2000;  ///< of all of them together
};

class SimDiskBackend final : public IoBackend {
 public:
  /// The disk is borrowed and outlives it.
  SimDiskBackend(SimDisk& disk, const SimDiskOptions& options)
      : options_(options),
        disk_(disk),
        life_(disk.life()),
        chance_(options.seed),
        files_(options.files_max, -1) {}

  /// What is under way may be half done: to be called before disk.power_cut().
  void power_fails();

  Status set_file(IoFile file, int fd) override;
  Status set_region(IoRegion, std::span<std::byte>) override { return Status::ok(); }
  bool start(const IoOperation& operation) override;
  void flush(TimeNs now_ns) override;
  std::size_t reap(TimeNs now_ns, std::span<IoCompletion> completions) override;
  void cancel(std::uint32_t) override {}
  [[nodiscard]] int completion_fd() const override { return -1; }
  [[nodiscard]] TimeNs next_deadline_ns() const override;
  [[nodiscard]] std::uint32_t depth() const override { return options_.depth; }
  [[nodiscard]] IoFacts facts() const override {
    return {.engine = {"simulated", {}}, .depth = {depth(), {}}};
  }

 private:
  struct Running {
    IoOperation operation;
    int fd = -1;
    bool is_flushed = false;
    TimeNs due_ns = kNever;
    std::uint64_t sync_start = 0;
  };

  std::int32_t execute(const Running& running);
  [[nodiscard]] bool is_dead() const { return disk_.life() != life_; }

  const SimDiskOptions options_;
  SimDisk& disk_;
  const std::uint64_t life_;
  Prng chance_;
  std::vector<int> files_;
  std::vector<Running> running_;
  TimeNs busy_until_ns_ = 0;  ///< the transfers before have used the bandwidth up to here
};

}  // namespace kvtier::test
