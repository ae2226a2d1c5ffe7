// kvbench share: what publishing to and reading from another process costs, beside plain memory copies.

#include "tools/kvbench/share.h"
#include "libkvclient/base/units.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/resident_blocks.h"
#include "tools/kvbench/support/statistics.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kPoolTurns =
    5;  // the pool holds the blocks of that many turns; older ones are evicted

struct Turn {
  double reference_ns, publish_ns, publish_block_ns, read_ns, read_reference_ns, in_place_ns,
      in_place_reference_ns, lease_only_ns;
};

class Share {
 public:
  Share(const ShareOptions& options, const Common& common)
      : options_(options),
        common_(common),
        pool_blocks_(kPoolTurns * options.blocks),
        daemon_({common.socket, pool_bytes(pool_blocks_, options.block_bytes)}),
        reader_([this] { share_reader_run(options_, daemon_.socket(), link_); }),
        publisher_(options_, daemon_.socket(), link_) {}

  Report run() {
    link_.go.post();  // the reader connects only now: the daemon was there before both
    link_.done.wait();
    publisher_.warm(common_.is_quick ? 0 : pool_blocks_);
    link_.board->retries.store(0);
    for (unsigned i = 0; i < common_.repeats; ++i) turns_.push_back(take_turn());
    const double single_us = measure_single();
    link_.board->task.store(ShareTask::kEnd);
    link_.go.post();
    reader_.join();
    return report(single_us);
  }

 private:
  Turn take_turn() {
    Turn turn{};
    turn.reference_ns = static_cast<double>(publisher_.copy_reference());
    turn.publish_ns = static_cast<double>(publisher_.publish(options_.blocks));
    turn.publish_block_ns = publisher_.typical_block_ns();
    publisher_.let_read();
    const ShareBoard& board = *link_.board;
    turn.read_ns = static_cast<double>(board.read_ns.load());
    turn.read_reference_ns = static_cast<double>(board.read_reference_ns.load());
    turn.in_place_ns = static_cast<double>(board.in_place_ns.load());
    turn.in_place_reference_ns = static_cast<double>(board.in_place_reference_ns.load());
    turn.lease_only_ns = static_cast<double>(board.lease_only_ns.load());
    return turn;
  }

  double measure_single() {
    std::vector<double> samples;
    for (unsigned i = 0; i < (common_.is_quick ? 3 : options_.singles); ++i) {
      samples.push_back(static_cast<double>(publisher_.publish(1)) / 1000);
    }
    return median(samples);
  }

  [[nodiscard]] double median_of(double Turn::*field) const {
    std::vector<double> values;
    for (const Turn& turn : turns_) values.push_back(turn.*field);
    return median(values);
  }

  // Of the ratios of each turn: what slowed the machine in one turn slowed both.
  [[nodiscard]] double ratio_of(double Turn::*reference, double Turn::*subject) const {
    std::vector<double> values;
    for (const Turn& turn : turns_) values.push_back(turn.*reference / turn.*subject);
    return median(values);
  }

  [[nodiscard]] Report report(double single_us) const {
    const double bytes = static_cast<double>(options_.blocks * options_.block_bytes);
    const auto blocks = static_cast<double>(options_.blocks);
    Report report("share");
    report.count_errors(link_.board->wrong.load());
    report.add("block_bytes", std::uint64_t{options_.block_bytes});
    report.add("blocks", std::uint64_t{options_.blocks});
    report.add("buffers", std::uint64_t{buffers_count(options_)});
    report.add("publish_ratio", ratio_of(&Turn::reference_ns, &Turn::publish_ns));
    report.add("read_ratio", ratio_of(&Turn::read_reference_ns, &Turn::read_ns));
    report.add("in_place_read", ratio_of(&Turn::in_place_reference_ns, &Turn::in_place_ns));
    report.add("single_block_us", single_us);
    report.add("publish_us_per_block", median_of(&Turn::publish_ns) / blocks / 1000);
    report.add("publish_us_p50", median_of(&Turn::publish_block_ns) / 1000);
    report.add("read_us_per_block", median_of(&Turn::read_ns) / blocks / 1000);
    report.add("in_place_us_per_block", median_of(&Turn::lease_only_ns) / blocks / 1000);
    report.add("publish_gb_per_s", bytes / median_of(&Turn::publish_ns));
    report.add("read_gb_per_s", bytes / median_of(&Turn::read_ns));
    report.add("retries", link_.board->retries.load());
    report.add("copy", std::string_view(options_.is_memcpy ? "memcpy" : "kvc_copy"));
    report.add("reference",
               std::string_view("memcpy between private buffers of small pages, same process, same turn"));
    report.add("reference_publisher_gb_per_s", bytes / median_of(&Turn::reference_ns));
    report.add("reference_reader_gb_per_s", bytes / median_of(&Turn::read_reference_ns));
    return report;
  }

  const ShareOptions options_;
  const Common& common_;
  const std::uint64_t pool_blocks_;
  DaemonProcess daemon_;
  ShareLink link_;
  Child reader_;  // forks: before the publisher's client
  SharePublisher publisher_;
  std::vector<Turn> turns_;
};

}  // namespace

Report run_share(const ShareOptions& options, const Common& common) {
  return Share(options, common).run();
}

}  // namespace kvtier::bench
