#pragma once
// A device that answers what the test says, in the order of asking, and writes down what it was asked.

#include <algorithm>
#include <deque>
#include <vector>

#include "daemon/io/io_backend.h"

namespace kvtier::test {

class ScriptedBackend final : public IoBackend {
 public:
  explicit ScriptedBackend(std::uint32_t depth) : depth_(depth) {}

  /// For the next operation that is reaped; without one it stays in the device.
  void answer(std::int32_t result) { answers_.push_back(result); }
  /// Takes no operation until told otherwise: a submission ring that is full.
  void set_full(bool is_full) { is_full_ = is_full; }

  Status set_file(IoFile, int) override { return Status::ok(); }
  Status set_region(IoRegion, std::span<std::byte>) override { return Status::ok(); }
  bool start(const IoOperation& operation) override {
    if (is_full_) return false;
    asked.push_back(operation);
    running_.push_back(operation.slot);
    return true;
  }
  void flush(TimeNs) override { ++flushes; }
  std::size_t reap(TimeNs, std::span<IoCompletion> completions) override {
    std::size_t count = 0;
    for (; count < completions.size() && !answers_.empty() && !running_.empty(); ++count) {
      completions[count] = {running_.front(), answers_.front()};
      running_.pop_front();
      answers_.pop_front();
    }
    return count;
  }
  void cancel(std::uint32_t slot) override { cancelled.push_back(slot); }
  [[nodiscard]] int completion_fd() const override { return -1; }
  [[nodiscard]] std::uint32_t depth() const override { return depth_; }
  [[nodiscard]] IoFacts facts() const override { return {}; }

  std::vector<IoOperation> asked;
  std::vector<std::uint32_t> cancelled;
  std::size_t flushes = 0;

 private:
  const std::uint32_t depth_;
  std::deque<std::int32_t> answers_;
  std::deque<std::uint32_t> running_;
  bool is_full_ = false;
};

}  // namespace kvtier::test
