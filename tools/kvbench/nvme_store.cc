#include "libkvclient/base/units.h"
#include "tests/support/pattern_block.h"
#include "tools/kvbench/nvme.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/resident_blocks.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kDeadlineNs = 10'000'000'000;
constexpr unsigned kTriesMax = 1000;

// Publishes chains as fast as the daemon takes them: reserve, fill, commit.
class Filler {
 public:
  Filler(const NvmeLayout& layout, const std::string& socket)
      : layout_(layout), client_(socket, {layout.block_bytes}), slots_(layout.chain_blocks) {}

  void publish(std::uint64_t chain) {
    const std::vector<Key> keys = chain_keys(chain, 1, layout_.chain_blocks);
    for (unsigned tries = 0; !publish_once(keys); ++tries) {
      need(tries < kTriesMax, std::string("the pool takes no blocks: ") + kvc_last_error());
    }
  }

 private:
  // False: some found no room yet.
  bool publish_once(const std::vector<Key>& keys) {
    kvc_reserve_options options{};
    options.struct_size = sizeof options;
    options.deadline_ns = kDeadlineNs;
    const int code = kvc_reserve(client_.space(), as_c(keys.data()), keys.size(), &options, slots_.data());
    if (code != KVC_NO_SPACE && code != KVC_EXISTS && code != KVC_DEADLINE) need_ok(code, "kvc_reserve");
    bool is_whole = true;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      is_whole = is_whole && (slots_[i].code == KVC_OK || slots_[i].code == KVC_EXISTS);
      if (slots_[i].code == KVC_OK)
        test::fill_pattern(keys[i], {static_cast<std::byte*>(slots_[i].data), layout_.block_bytes});
    }
    need_ok(kvc_commit(client_.space(), slots_.data(), keys.size(), 0, kDeadlineNs), "kvc_commit");
    return is_whole;
  }

  const NvmeLayout layout_;
  BenchClient client_;
  std::vector<kvc_slot> slots_;
};

}  // namespace

void nvme_store_run(const NvmeLayout& layout, const DaemonProcess& daemon, NvmeBoard& board) {
  Filler filler(layout, daemon.socket());
  for (std::uint64_t chain = 0; chain < layout.chains_warm; ++chain)
    filler.publish(layout.chain_first + chain);
  const DaemonCounters counters = daemon.counters();
  const std::uint64_t stored = counters.value("demoted_bytes");
  const std::uint64_t unsaved = counters.value("evictions_unsaved");
  const std::uint64_t cpu_ns = process_activity(daemon.pid()).cpu_ns;
  const TimeNs start = now_ns();
  for (std::uint64_t chain = layout.chains_warm; chain < layout.chains(); ++chain)
    filler.publish(layout.chain_first + chain);
  board.store_ns.store(now_ns() - start);
  board.stored_bytes.store(counters.value("demoted_bytes") - stored);
  board.published_bytes.store(layout.chains_timed * layout.chain_blocks * layout.block_bytes);
  board.unsaved.store(counters.value("evictions_unsaved") - unsaved);
  board.store_cpu_ns.store(process_activity(daemon.pid()).cpu_ns - cpu_ns);
}

}  // namespace kvtier::bench
