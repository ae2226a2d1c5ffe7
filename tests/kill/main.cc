// kill_bars clients|daemon|disk: processes that die under load. `worker` is what it starts itself as.

#include <CLI/CLI.hpp>

#include "tests/kill/bars.h"

namespace {

void add_worker(CLI::App& app, kvtier::kill::WorkerOptions& worker) {
  app.add_option("--cells", worker.cells_path)->required();
  app.add_option("--socket", worker.socket_path)->required();
  app.add_option("--index", worker.index)->required();
  app.add_option("--seed", worker.seed);
  app.add_option("--deadline-ms", worker.deadline_ms);
  app.add_option("--hold-ms", worker.hold_ms_max);
  app.add_option("--rounds", worker.rounds_max);
}

void add_bar(CLI::App& app, kvtier::kill::BarOptions& bar) {
  app.add_option("--kills", bar.kills, "Deaths")->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", bar.seed, "Of all chance");
  app.add_option("--bin-dir", bar.bin_dir, "Folder of kvtierd and kvtier-keeper");
  app.add_option("--deadline-ms", bar.deadline_ms, "Of the workers' calls");
  app.add_flag("--any-latency", bar.is_any_latency,
               "Latencies do not decide: for a machine that is busy otherwise");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace kvtier::kill;
  CLI::App app("kill -9 under load: bars of kvtier");
  app.require_subcommand(1);
  BarOptions bar;
  bar.bin_dir = KVTIER_BIN_DIR;
  WorkerOptions worker;
  CLI::App* clients = app.add_subcommand("clients", "Clients die while others work");
  add_bar(*clients, bar);
  clients->add_flag("--faults", bar.uses_faults, "At named points, not at random (needs a fault build)");
  clients->add_option("--point", bar.point, "With --faults: only at this one");
  CLI::App* daemon = app.add_subcommand("daemon", "kvtierd dies under its clients");
  add_bar(*daemon, bar);
  daemon->add_flag("--cold", bar.is_cold, "Without kvtier-keeper");
  daemon->add_option("--kills-per-keeper", bar.kills_per_keeper,
                     "Before a new keeper, whose back-off is short");
  CLI::App* disk = app.add_subcommand("disk", "kvtierd with an NVMe tier dies, at any moment of its life");
  add_bar(*disk, bar);
  CLI::App* work = app.add_subcommand("worker", "One client process")->group("");
  add_worker(*work, worker);
  CLI11_PARSE(app, argc, argv);
  if (work->parsed()) return Worker(worker).run();
#ifndef KVTIER_FAULTS
  if (bar.uses_faults) {
    std::fprintf(stderr, "kill_bars: --faults needs a build with -DKVTIER_FAULTS=ON\n");
    return 2;
  }
#endif
  if (disk->parsed()) return run_disk_bar(bar);
  if (daemon->parsed()) {
    if (daemon->count("--deadline-ms") == 0) bar.deadline_ms = 250;
    return run_daemon_bar(bar);
  }
  return run_clients_bar(bar);
}
