#include <cstring>
#include <thread>

#include "tests/support/pattern_block.h"
#include "tools/kvbench/share.h"
#include "tools/kvbench/support/resident_blocks.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kDeadlineNs = 10'000'000'000;

std::uint64_t sum_words(const void* data, std::size_t bytes) {
  const auto* words = static_cast<const std::uint64_t*>(data);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / 8; ++i) sum += words[i];
  return sum;
}

class ShareReader {
 public:
  ShareReader(const ShareOptions& options, const std::string& socket, ShareLink& link)
      : options_(options),
        bytes_(options.block_bytes),
        blocks_(options.blocks),
        board_(*link.board),
        client_(socket, {options.block_bytes}),
        lease_(client_.make_lease(1)),
        source_(options.blocks * options.block_bytes),
        target_(buffers_count(options) * options.block_bytes) {}

  void turn(ShareTask task) {
    keys_ = chain_keys(board_.chain.load(), 1, board_.count.load());
    if (task == ShareTask::kAcquire) {
      acquire_last();
    } else {
      read_all();
    }
  }

 private:
  // The publisher has reserved: the last key is pending until its commit.
  void acquire_last() {
    std::size_t ready = 0;
    need_ok(kvc_wait(client_.space(), as_c(&keys_.back()), 1, kDeadlineNs, nullptr, &ready), "kvc_wait");
    take(keys_.back());
    board_.acquired_ns.store(now_ns());
    kvc_release(lease_.get());
  }

  void read_all() {
    board_.read_reference_ns.store(timed([&](std::size_t i) {
      std::memcpy(target(i), source_.piece(i, bytes_).data(), bytes_);
      keep(target_.data());
    }));
    board_.read_ns.store(timed([&](std::size_t i) {
      copy_block(options_, target(i), take(keys_[i]));
      keep(target_.data());
      kvc_release(lease_.get());
    }));
    check_copies();
    check_in_place();
    board_.in_place_reference_ns.store(
        timed([&](std::size_t i) { keep(sum_words(source_.piece(i, bytes_).data(), bytes_)); }));
    board_.in_place_ns.store(timed([&](std::size_t i) {
      keep(sum_words(take(keys_[i]), bytes_));
      kvc_release(lease_.get());
    }));
    board_.lease_only_ns.store(timed([&](std::size_t i) {
      keep(take(keys_[i]));
      kvc_release(lease_.get());
    }));
    check_in_place();
  }

  template <class Body>
  TimeNs timed(const Body& body) {
    if (!options_.is_one_buffer) flush_caches();
    const TimeNs start = now_ns();
    for (std::size_t i = 0; i < blocks_; ++i) body(i);
    return now_ns() - start;
  }

  [[nodiscard]] std::byte* target(std::size_t i) const {
    return target_.piece(buffer_of(options_, i), bytes_).data();
  }

  // A slab that this client has not mapped yet is a miss: the look-up is repeated, and the time counts.
  const void* take(const Key& key) {
    for (const TimeNs end = now_ns() + kDeadlineNs; true; board_.retries.fetch_add(1)) {
      need_ok(kvc_acquire(client_.space(), as_c(&key), 1, 0, 0, lease_.get()), "kvc_acquire");
      if (kvc_lease_held(lease_.get()) == 1) return kvc_lease_blocks(lease_.get())[0];
      need(now_ns() < end, "a block that was just published is not there");
      std::this_thread::yield();
    }
  }

  // With one buffer all blocks have the first key's bytes, and the last copy stands for all.
  void check_copies() {
    for (std::size_t i = 0; i < buffers_count(options_); ++i) {
      const std::size_t right = test::check_pattern(keys_[i], target_.piece(i, bytes_));
      if (right != bytes_) board_.wrong.fetch_add(1);
    }
  }

  // As an engine reads: the prefix as a whole.
  void check_in_place() {
    std::size_t held = 0;
    std::vector<Key> patterns = keys_;
    for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = keys_[buffer_of(options_, i)];
    board_.wrong.fetch_add(client_.check(keys_, patterns, &held));
    need(held == keys_.size(), "a part of a prefix that was just published is not there");
  }

  const ShareOptions& options_;
  const std::uint64_t bytes_;
  const std::size_t blocks_;
  ShareBoard& board_;
  BenchClient client_;
  Lease lease_;
  PrivateBuffer source_;
  PrivateBuffer target_;
  std::vector<Key> keys_;
};

}  // namespace

void share_reader_run(const ShareOptions& options, const std::string& socket, ShareLink& link) {
  link.go.wait();
  ShareReader reader(options, socket, link);
  link.done.post();
  while (true) {
    link.go.wait();
    const ShareTask task = link.board->task.load();
    if (task != ShareTask::kEnd) reader.turn(task);
    link.done.post();
    if (task == ShareTask::kEnd) return;
  }
}

}  // namespace kvtier::bench
