// The only user of CLI11.

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/kvbench/options.h"

namespace kvtier::bench {
namespace {

struct AllOptions {
  Common common;
  LookupOptions lookup;
  ShareOptions share;
  ChurnOptions churn;
  ClientsOptions clients;
  IdleOptions idle;
  MemoryOptions memory;
  NvmeOptions nvme;
  RestartOptions restart;
  LoadOptions load;
  TraceOptions trace;
};

using CLI::Range;
constexpr std::uint64_t kMiB = 1 << 20;

void common_add(CLI::App& app, Common& to) {
  app.add_option("--socket", to.socket, "use the daemon that listens there, instead of starting one");
  app.add_flag("--json", to.is_json, "print one JSON object");
  app.add_flag("--quick", to.is_quick, "short phases: checks the benchmark, measures nothing");
  app.add_option("--repeats", to.repeats, "how often subject and reference alternate; medians are reported")
      ->check(Range(1, 1000));
}

CLI::App* lookup_add(CLI::App& app, LookupOptions& to) {
  CLI::App* command =
      app.add_subcommand("lookup", "match, acquire and release many keys, without a round trip");
  command->add_option("--resident", to.resident, "resident blocks of 4 KiB")->check(Range(200, 4'000'000));
  command->add_option("--keys", to.keys, "keys a call")->check(Range(1, 4096));
  command->add_option("--threads", to.threads, "threads of the one client")->check(Range(1, 64));
  command->add_flag("--unordered", to.is_unordered, "acquire with KVC_UNORDERED");
  command->add_option("--commits", to.commits_per_s, "blocks a second that another process commits")
      ->check(Range(0, 100'000));
  command->add_option("--python", to.python, "an interpreter that has kvclient: measures the package too");
  return command;
}

CLI::App* share_add(CLI::App& app, ShareOptions& to) {
  CLI::App* command =
      app.add_subcommand("share", "publish to and read from another process, beside memory copies");
  command->add_option("--block-bytes", to.block_bytes, "bytes of a block")
      ->check(Range(std::uint64_t{64}, 64 * kMiB));
  command->add_option("--blocks", to.blocks, "blocks a turn, pipelined")->check(Range(1, 1024));
  command->add_option("--singles", to.singles, "rounds of one block")->check(Range(1, 100'000));
  command->add_flag("--one-buffer", to.is_one_buffer,
                    "publish from one buffer, read into one, as the benchmarks of peers do");
  command->add_flag("--memcpy", to.is_memcpy,
                    "copy with memcpy instead of kvc_copy: what else it costs shows");
  return command;
}

CLI::App* churn_add(CLI::App& app, ChurnOptions& to) {
  CLI::App* command = app.add_subcommand("churn", "reserve 64 blocks in a full pool");
  command->add_option("--resident", to.resident, "blocks of 4 KiB that fill the pool")
      ->check(Range(4096, 4'000'000));
  command->add_option("--clients", to.clients, "attached idle clients")->check(Range(0, 250));
  command->add_option("--rounds", to.rounds, "reserves a repeat")->check(Range(100, 1'000'000));
  return command;
}

CLI::App* clients_add(CLI::App& app, ClientsOptions& to) {
  CLI::App* command =
      app.add_subcommand("clients", "1 to 64 processes that look blocks up and copy them out");
  command->add_option("--clients-max", to.clients_max, "the largest count; doubled from 1")
      ->check(Range(1U, kClientsMax));
  return command;
}

CLI::App* idle_add(CLI::App& app, IdleOptions& to) {
  CLI::App* command = app.add_subcommand("idle", "CPU time and wake-ups of a daemon without work");
  command->add_option("--seconds", to.seconds, "how long to watch")->check(Range(1, 50));
  command->add_option("--clients", to.clients, "attached clients that do nothing")->check(Range(0, 250));
  return command;
}

CLI::App* memory_add(CLI::App& app, MemoryOptions& to) {
  CLI::App* command = app.add_subcommand("memory", "memory used, against payload and stated overhead");
  command->add_option("--bytes", to.bytes, "payload of the pool")->check(Range(16 * kMiB, kMiB * kMiB));
  command->add_option("--block-bytes", to.block_bytes, "bytes of a block")
      ->check(Range(std::uint64_t{4096}, 64 * kMiB));
  command->add_option("--clients", to.clients, "clients that read all of it")->check(Range(1, 250));
  return command;
}

CLI::App* nvme_add(CLI::App& app, NvmeOptions& to) {
  CLI::App* command =
      app.add_subcommand("nvme", "store under eviction and restore after a restart, beside fio (needs fio)");
  command->add_option("--folder", to.folder, "a folder on the disk to be measured")
      ->check(CLI::ExistingDirectory);
  command->add_option("--block-bytes", to.block_bytes, "bytes of a block")
      ->check(Range(std::uint64_t{4096}, 32 * kMiB));
  command->add_option("--bytes", to.bytes, "data a turn")->check(Range(128 * kMiB, kMiB * kMiB));
  command->add_option("--host-bytes", to.host_bytes, "the pool in memory")
      ->check(Range(64 * kMiB, kMiB * kMiB));
  command->add_option("--threads", to.threads, "threads of the client that restores")->check(Range(1, 64));
  command->add_flag("--fio-huge-pages", to.is_fio_huge, "fio with its buffers in huge pages");
  command->add_option("--backend", to.backend, "as the setting nvme.backend")
      ->check(CLI::IsMember({"auto", "uring", "posix"}));
  return command;
}

CLI::App* restart_add(CLI::App& app, RestartOptions& to) {
  CLI::App* command = app.add_subcommand("restart", "time until a daemon serves what lies on its disk");
  command->add_option("--folder", to.folder, "a folder on the disk")->check(CLI::ExistingDirectory);
  command->add_option("--blocks", to.blocks, "blocks on disk")->check(Range(1'000, 16'000'000));
  command->add_option("--block-bytes", to.block_bytes, "bytes of a block")
      ->check(Range(std::uint64_t{4096}, 32 * kMiB));
  command->add_option("--host-bytes", to.host_bytes, "the pool in memory")
      ->check(Range(64 * kMiB, kMiB * kMiB));
  return command;
}

CLI::App* load_add(CLI::App& app, LoadOptions& to) {
  CLI::App* command = app.add_subcommand("load", "one call that brings a prefix back from disk");
  command->add_option("--folder", to.folder, "a folder on the disk")->check(CLI::ExistingDirectory);
  command->add_option("--block-bytes", to.block_bytes, "bytes of a block")
      ->check(Range(std::uint64_t{4096}, 32 * kMiB));
  command->add_option("--blocks", to.blocks, "blocks a load; --repeats is how many loads")
      ->check(Range(1, 4096));
  return command;
}

CLI::App* trace_add(CLI::App& app, TraceOptions& to) {
  CLI::App* command =
      app.add_subcommand("trace", "replay prefix block hashes: hits, bytes written, budget, room on disk");
  command
      ->add_option("FILE", to.trace,
                   "JSON lines with hash_ids; .zst is unpacked by zstd; - is standard input")
      ->required();
  command->add_option("--folder", to.folder, "a folder on the disk")->check(CLI::ExistingDirectory);
  command->add_option("--block-bytes", to.block_bytes, "bytes of a block")
      ->check(Range(std::uint64_t{64}, 32 * kMiB));
  command->add_option("--host-blocks", to.host_blocks, "blocks that memory holds")
      ->check(Range(1'000, 16'000'000));
  command->add_option("--disk-bytes", to.disk_bytes, "bound of what the tier takes on disk; 0: no such tier")
      ->check(Range(64 * kMiB, kMiB * kMiB) | Range(0, 0));
  command->add_option("--budget-bytes-per-day", to.budget_bytes_per_day, "write budget; 0 is no limit")
      ->check(Range(std::uint64_t{0}, kMiB * kMiB));
  command->add_option("--requests", to.requests, "of the trace, from its beginning; 0 is all of them");
  command->add_option("--clients", to.clients, "clients that take the requests in turn")->check(Range(1, 16));
  command->add_option("--interval-ms", to.interval_ms, "between requests; 0 is as fast as they go")
      ->check(Range(0.0, 1e6));
  return command;
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CLI::App app("Measures kvtier beside a reference in the same run; checks every byte that it reads.",
               "kvbench");
  const auto options = std::make_shared<AllOptions>();
  CommandLine line;
  const auto on = [&](CLI::App* command, auto run, const auto& chosen) {
    command->callback([&line, options, run, &chosen] {
      line.run = [options, run, &chosen] { return run(chosen, options->common); };
    });
  };
  app.set_version_flag("--version", KVTIER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  common_add(app, options->common);
  on(lookup_add(app, options->lookup), run_lookup, options->lookup);
  on(share_add(app, options->share), run_share, options->share);
  on(churn_add(app, options->churn), run_churn, options->churn);
  on(clients_add(app, options->clients), run_clients, options->clients);
  on(idle_add(app, options->idle), run_idle, options->idle);
  on(memory_add(app, options->memory), run_memory, options->memory);
  on(nvme_add(app, options->nvme), run_nvme, options->nvme);
  on(restart_add(app, options->restart), run_restart, options->restart);
  on(load_add(app, options->load), run_load, options->load);
  on(trace_add(app, options->trace), run_trace, options->trace);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.exit_status = app.exit(error) == 0 ? 0 : 2;
  }
  line.common = options->common;
  return line;
}

}  // namespace kvtier::bench
