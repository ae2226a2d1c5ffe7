// kvbench nvme: storing under eviction and restoring after a restart, beside the best of a grid of fio on the same file
// system.

#include "tools/kvbench/nvme.h"

#include <filesystem>

#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/fio.h"
#include "tools/kvbench/support/statistics.h"

namespace kvtier::bench {
namespace {

namespace fs = std::filesystem;

struct Turn {
  double fio_write, store, fio_read, restore;  // GB/s
};

double rate(std::uint64_t bytes, TimeNs ns) {
  return ns > 0 ? static_cast<double>(bytes) / static_cast<double>(ns) : 0;
}

class Nvme {
 public:
  Nvme(const NvmeOptions& options, const Common& common)
      : options_(options),
        common_(common),
        layout_(nvme_layout(options.block_bytes, options.bytes, options.host_bytes)),
        place_(options.folder),
        fio_(place_.path(), options.is_fio_huge) {
    need(common.socket.empty(), "nvme restarts the daemon, so it needs one of its own: leave --socket out");
  }

  Report run() {
    const std::vector<FioShape> grid = common_.is_quick ? std::vector<FioShape>{{1 << 20, 8, 1}} : fio_grid();
    write_shape_ = fio_.best(FioKind::kWrite, grid, options_.bytes / 2);
    read_shape_ = fio_.best(FioKind::kRead, grid, options_.bytes / 2);
    for (unsigned i = 0; i < (common_.is_quick ? 1 : common_.repeats); ++i) turns_.push_back(take_turn(i));
    return report();
  }

 private:
  Turn take_turn(unsigned number) {
    const std::string folder = place_.make("store" + std::to_string(number));
    Turn turn{};
    turn.fio_write = fio_.rate(FioKind::kWrite, write_shape_, options_.bytes);
    with_daemon(folder, [&](const DaemonProcess& daemon) { nvme_store_run(layout_, daemon, *board_); });
    turn.store = rate(board_->stored_bytes, board_->store_ns);
    unsaved_ += board_->unsaved;
    turn.fio_read = fio_.rate(FioKind::kRead, read_shape_, options_.bytes);
    with_daemon(folder, [&](const DaemonProcess& daemon) {
      nvme_restore_run(layout_, options_.threads, daemon, *board_);
    });
    turn.restore = rate(board_->restored_bytes, board_->restore_ns);
    fs::remove_all(folder);
    return turn;
  }

  template <class Body>
  void with_daemon(const std::string& folder, const Body& body) {
    const DaemonProcess daemon({.host_bytes = options_.host_bytes, .config = config(folder)});
    Child child([&] { body(daemon); });
    child.join();
  }

  // Twice the data: reclaim has no part in what is measured.
  [[nodiscard]] std::string config(const std::string& folder) const {
    return nvme_config(folder, 2 * (options_.bytes + options_.host_bytes),
                       "  backend: " + options_.backend + "\n");
  }

  [[nodiscard]] double median_of(double Turn::*field) const {
    std::vector<double> values;
    for (const Turn& turn : turns_) values.push_back(turn.*field);
    return median(values);
  }
  [[nodiscard]] double ratio_of(double Turn::*subject, double Turn::*reference) const {
    std::vector<double> values;
    for (const Turn& turn : turns_) values.push_back(turn.*subject / turn.*reference);
    return median(values);
  }

  [[nodiscard]] Report report() const {
    Report report("nvme");
    report.count_errors(board_->wrong);
    report.add("block_bytes", options_.block_bytes);
    report.add("data_bytes", options_.bytes);
    report.add("restore_ratio", ratio_of(&Turn::restore, &Turn::fio_read));
    report.add("store_ratio", ratio_of(&Turn::store, &Turn::fio_write));
    report.add("restore_gb_per_s", median_of(&Turn::restore));
    report.add("store_gb_per_s", median_of(&Turn::store));
    report.add("fio_read_gb_per_s", median_of(&Turn::fio_read));
    report.add("fio_write_gb_per_s", median_of(&Turn::fio_write));
    report.add("reference", std::string_view("best of a fio grid: block x depth x jobs, O_DIRECT, io_uring"));
    report.add("fio_buffers", std::string_view(options_.is_fio_huge ? "huge pages" : "as it comes"));
    report.add("fio_read", std::string_view(read_shape_.name()));
    report.add("fio_write", std::string_view(write_shape_.name()));
    report.add("blocks_checked", board_->checked.load());
    report.add("blocks_missing", board_->missing.load());
    report.add("evictions_unsaved", unsaved_);
    report.add("read_bytes_average",
               board_->reads > 0 ? board_->read_bytes.load() / board_->reads.load() : std::uint64_t{0});
    report.add("store_cpu_s_per_gb",
               rate(board_->store_cpu_ns, static_cast<TimeNs>(board_->stored_bytes.load())));
    report.add("restore_cpu_s_per_gb",
               rate(board_->restore_cpu_ns, static_cast<TimeNs>(board_->restored_bytes.load())));
    std::vector<Report> rows;
    for (const Turn& turn : turns_) {
      Report& row = rows.emplace_back(Report::row());
      row.add("fio_write", turn.fio_write);
      row.add("store", turn.store);
      row.add("fio_read", turn.fio_read);
      row.add("restore", turn.restore);
    }
    report.add("turns_gb_per_s", rows);
    return report;
  }

  const NvmeOptions options_;
  const Common& common_;
  const NvmeLayout layout_;
  const NvmePlace place_;
  const Fio fio_;
  FioShape write_shape_, read_shape_;
  Shared<NvmeBoard> board_;
  std::uint64_t unsaved_ = 0;
  std::vector<Turn> turns_;
};

}  // namespace

Report run_nvme(const NvmeOptions& options, const Common& common) {
  return Nvme(options, common).run();
}

}  // namespace kvtier::bench
