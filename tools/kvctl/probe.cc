// kvctl probe: what this machine's disks and memory do, and a configuration from it.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "libkvclient/base/units.h"
#include "tools/kvctl/command_line.h"
#include "tools/kvctl/disk_probe.h"
#include "tools/kvctl/memory_probe.h"
#include "tools/kvctl/probe_config.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

constexpr TimeNs kCopyNs = kNsPerSecond / 2;
constexpr const char* kNoGpu = "no GPU: this version has no GPU tier, so nothing of one is measured";

struct ProbeOptions {
  std::vector<std::string> folders;
  std::uint32_t seconds = 6;  ///< a folder
};

std::string rate_text(std::uint64_t bytes_per_second) {
  return format_size(bytes_per_second) + "/s";
}

const char* kind_name(IoKind kind) {
  return kind == IoKind::kRead ? "read" : "write";
}

Json fact_json(const IoFactRow& row) {
  return {{"value", row.value}, {"reason", row.reason}};
}

Json disk_json(const DiskProbe& probe) {
  Json json;
  for (const IoFactRow& row : probe_rows(probe.path)) json[row.name] = fact_json(row);
  json["dir"] = probe.path.folder;
  json["depth"] = probe.depth_max;
  json["bytes_free"] = probe.free_bytes;
  json["bytes_store"] = probe.store_bytes;
  json["bytes_tried"] = probe.trial_bytes;
  json["rates"] = Json::array();
  for (const DiskRate& rate : probe.rates) {
    json["rates"].push_back({{"kind", kind_name(rate.kind)},
                             {"block_bytes", rate.block_bytes},
                             {"depth", rate.depth},
                             {"bytes_per_second", rate.bytes_per_second}});
  }
  return json;
}

Json pin_json(const PinRate& rate) {
  return {{"bytes", rate.bytes}, {"bytes_per_second", rate.bytes_per_second}, {"reason", rate.reason}};
}

void print_as_json(const MemoryProbe& memory, const std::vector<DiskProbe>& disks) {
  Json paths = Json::array();
  for (const DiskProbe& disk : disks) paths.push_back(disk_json(disk));
  print_json({{"memory",
               {{"copy_bytes_per_second", memory.copy_bytes_per_second},
                {"lock", pin_json(memory.lock)},
                {"registration", pin_json(memory.registration)},
                {"lock_limit", memory.lock_limit}}},
              {"gpu", {{"present", false}, {"reason", kNoGpu}}},
              {"paths", std::move(paths)},
              {"config", nvme_config(disks)}});
}

// All that is no setting is a comment: what is printed is a configuration.
void print_note(const std::string& text) {
  std::printf("# %s\n", printable(text).c_str());
}

std::string pin_text(const PinRate& rate) {
  const std::string done = rate.bytes_per_second == 0
                               ? "none"
                               : format_size(rate.bytes) + " at " + rate_text(rate.bytes_per_second);
  return done + (rate.reason.empty() ? "" : " (" + rate.reason + ")");
}

void print_memory(const MemoryProbe& memory) {
  print_note("memory: copied at " + rate_text(memory.copy_bytes_per_second) + " by one thread");
  print_note("  locked " + pin_text(memory.lock));
  print_note("  registered with the ring " + pin_text(memory.registration));
  print_note("  " + memory.lock_limit);
  print_note(kNoGpu);
}

void print_rates(const DiskProbe& probe) {
  Table table({{"#"}, {"block", true}, {"in flight", true}, {"write", true}, {"read", true}});
  for (const DiskRate& write : probe.rates) {
    if (write.kind != IoKind::kWrite) continue;
    for (const DiskRate& read : probe.rates) {
      if (read.kind == IoKind::kRead && read.block_bytes == write.block_bytes && read.depth == write.depth)
        table.add({"#", format_size(write.block_bytes), std::to_string(write.depth),
                   rate_text(write.bytes_per_second), rate_text(read.bytes_per_second)});
    }
  }
  std::fputs(table.text().c_str(), stdout);
}

void print_disk(const DiskProbe& probe) {
  std::puts("#");
  print_note(probe.path.folder + ": " + format_size(probe.free_bytes) + " free" +
             (probe.store_bytes == 0 ? "" : " beside a store of " + format_size(probe.store_bytes)));
  for (const IoFactRow& row : probe_rows(probe.path)) {
    if (row.name != "path")
      print_note("  " + row.name + " " + row.value + (row.reason.empty() ? "" : " (" + row.reason + ")"));
  }
  if (probe.path.file_system == "tmpfs")
    print_note(
        "  memory, not a disk: what lies there is lost at a reboot, and takes room from everything else");
  if (!probe.is_direct)
    print_note("  without O_DIRECT the page cache takes part: reads are as fast as memory");
  print_rates(probe);
  const DiskRate& read = best_rate(probe, IoKind::kRead);
  print_note("  reads are fastest with " + std::to_string(read.depth) + " of " +
             format_size(read.block_bytes) + " in flight; kvtierd has up to " +
             std::to_string(probe.depth_max));
}

void print_as_yaml(const MemoryProbe& memory, const std::vector<DiskProbe>& disks) {
  print_memory(memory);
  for (const DiskProbe& disk : disks) print_disk(disk);
  for (const PathShare& share : share_space(disks)) {
    if (share.bytes == 0) print_note(share.folder + " is left out: it has too little room");
  }
  std::puts("#");
  std::fputs(nvme_config(disks).c_str(), stdout);
}

// As settings have them: absolute, and each once.
std::vector<std::string> absolute(const std::vector<std::string>& folders) {
  std::vector<std::string> all;
  std::set<std::string> known;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::weakly_canonical(folder, error);
    if (error) path = std::filesystem::absolute(folder);
    if (known.insert(path.string()).second) all.push_back(path.string());
  }
  return all;
}

int run_probe(const Globals& globals, const ProbeOptions& options) {
  std::vector<DiskProbe> disks;
  for (const std::string& folder : absolute(options.folders))
    disks.push_back(probe_disk(folder, options.seconds * kNsPerSecond));
  const MemoryProbe memory = probe_memory(kCopyNs);
  (globals.is_json ? print_as_json : print_as_yaml)(memory, disks);
  return kExitOk;
}

}  // namespace

void add_probe(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<ProbeOptions>();
  CLI::App* command =
      app.add_subcommand("probe", "measures disks, memory and pinning, and prints a configuration");
  command->add_option("-p,--path", options->folders, "folder of a path to be; several times")
      ->allow_extra_args(false);
  command->add_option("--seconds", options->seconds, "about so long for each folder")
      ->check(whole_number(1, 3600))
      ->capture_default_str();
  command->footer(
      "What is printed is YAML, the measurements in comments: kvctl config check takes it. Each folder is "
      "written and\n"
      "read in a file without a name, of half its free space and 4 GiB at most, which is gone when this "
      "program is.");
  command->callback(
      [&line, options] { line.run = [&line, options] { return run_probe(line.globals, *options); }; });
}

}  // namespace kvtier::ctl
