#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/support/pattern_block.h"
#include "tools/kvbench/share.h"
#include "tools/kvbench/support/resident_blocks.h"
#include "tools/kvbench/support/statistics.h"

namespace kvtier::bench {

SharePublisher::SharePublisher(const ShareOptions& options, const std::string& socket, ShareLink& link)
    : options_(options),
      link_(link),
      client_(socket, {options.block_bytes}),
      source_(buffers_count(options) * options.block_bytes),
      target_(options.blocks * options.block_bytes),
      slots_(options.blocks) {}

void SharePublisher::warm(std::uint64_t pool_blocks) {
  for (std::uint64_t done = 0; done < pool_blocks + 2 * options_.blocks; done += options_.blocks) {
    (void)publish(options_.blocks);
    let_read();
  }
}

void SharePublisher::fill_source(std::size_t count) {
  keys_ = chain_keys(++chain_, 1, count);
  for (std::size_t i = 0; i < std::min(count, buffers_count(options_)); ++i) {
    test::fill_pattern(keys_[i], source_.piece(i, options_.block_bytes));
  }
  if (!options_.is_one_buffer) flush_caches();
}

TimeNs SharePublisher::copy_reference() {
  fill_source(options_.blocks);
  const TimeNs start = now_ns();
  for (std::size_t i = 0; i < options_.blocks; ++i) {
    std::memcpy(target(i), source(i), options_.block_bytes);
    keep(target_.data());
  }
  return now_ns() - start;
}

TimeNs SharePublisher::publish(std::size_t count) {
  fill_source(count);
  const TimeNs start = now_ns();
  need_ok(kvc_reserve(client_.space(), as_c(keys_.data()), count, nullptr, slots_.data()), "kvc_reserve");
  hand_over(ShareTask::kAcquire, count);
  block_ns_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const TimeNs begun = now_ns();
    need(slots_[i].code == KVC_OK, std::string("a block was refused: ") + kvc_code_name(slots_[i].code) +
                                       ", " + kvc_cause_name(slots_[i].cause));
    copy_block(options_, slots_[i].data, source(i));
    need_ok(kvc_commit(client_.space(), &slots_[i], 1, 0, 0), "kvc_commit");
    block_ns_.push_back(static_cast<double>(now_ns() - begun));
  }
  link_.done.wait();
  last_publish_ns_ = link_.board->acquired_ns.load() - start;
  return last_publish_ns_;
}

double SharePublisher::typical_block_ns() const {
  const double all = std::accumulate(block_ns_.begin(), block_ns_.end(), 0.0);
  return median(block_ns_) +
         (static_cast<double>(last_publish_ns_) - all) / static_cast<double>(block_ns_.size());
}

void SharePublisher::let_read() {
  hand_over(ShareTask::kRead, options_.blocks);
  link_.done.wait();
}

void SharePublisher::hand_over(ShareTask task, std::size_t count) {
  link_.board->task.store(task);
  link_.board->chain.store(chain_);
  link_.board->count.store(count);
  link_.go.post();
}

}  // namespace kvtier::bench
