#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/support/pattern_block.h"
#include "tools/kvbench/lookup.h"

namespace kvtier::bench {
namespace {

constexpr TimeNs kTickNs = 5 * kNsPerMs;
constexpr TimeNs kBacklogNs = 500 * kNsPerMs;
constexpr std::uint64_t kFirstChain = std::uint64_t{1} << 40;  // far from the resident chains
constexpr std::uint64_t kSlack = 60'000;  // slabs that two writers cannot share, and time

void sleep_until(TimeNs when) {
  const TimeNs now = now_ns();
  if (when > now) std::this_thread::sleep_for(std::chrono::nanoseconds(when - now));
}

}  // namespace

std::uint64_t LookupBackground::blocks_needed(const LookupOptions& options, const Common& common) {
  const std::uint64_t seconds = common.is_quick ? 2 : 3 + 2 * common.repeats;
  return seconds * options.commits_per_s +
         std::min<std::uint64_t>(kSlack, 1000 + options.resident / 8 + options.commits_per_s);
}

LookupBackground::LookupBackground(const LookupOptions& options, const std::string& socket,
                                   std::uint64_t blocks_max) {
  if (options.commits_per_s == 0) return;
  child_ = std::make_unique<Child>([&] { body(socket, options.commits_per_s, blocks_max); });
}

void LookupBackground::body(const std::string& socket, unsigned commits_per_s, std::uint64_t blocks_max) {
  start_.wait();
  BenchClient client(socket, {kLookupBlockBytes});
  const std::size_t batch = std::max<std::size_t>(1, commits_per_s * kTickNs / kNsPerSecond);
  std::vector<Key> keys(batch);
  TimeNs next = now_ns();
  for (std::uint64_t chain = kFirstChain; !state_->is_over.load(); ++chain) {
    for (std::size_t i = 0; i < batch; ++i) keys[i] = test::pattern_key(chain, i);
    const bool has_room = state_->committed.load() + batch < blocks_max;
    if (has_room) state_->committed.fetch_add(client.put(keys));
    state_->is_out_of_room.store(!has_room);
    // A short delay is made up for, a machine that cannot keep up is not given a backlog.
    next = std::max(next + kTickNs, now_ns() - kBacklogNs);
    sleep_until(next);
  }
}

void LookupBackground::begin() {
  if (child_ == nullptr) return;
  start_.post();
  while (state_->committed.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  began_ns_ = now_ns();
  committed_before_ = state_->committed.load();
}

double LookupBackground::end() {
  if (child_ == nullptr) return 0;
  const double seconds = static_cast<double>(now_ns() - began_ns_) / 1e9;
  const auto committed = static_cast<double>(state_->committed.load() - committed_before_);
  need(!state_->is_out_of_room.load(), "the committing process ran out of room: fewer --repeats");
  state_->is_over.store(true);
  child_->join();
  return committed / seconds;
}

}  // namespace kvtier::bench
