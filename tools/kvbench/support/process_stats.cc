#include "tools/kvbench/support/process_stats.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {
namespace {

namespace fs = std::filesystem;

// The number after `name` in a file of "name: number unit" lines; 0 when it is not there.
std::uint64_t field_of(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(name, 0) == 0) return std::stoull(line.substr(name.size()));
  }
  return 0;
}

fs::path proc(pid_t pid) {
  return "/proc/" + std::to_string(pid);
}

}  // namespace

ProcessActivity process_activity(pid_t pid) {
  ProcessActivity sum;
  for (const fs::directory_entry& thread : fs::directory_iterator(proc(pid) / "task")) {
    std::uint64_t cpu_ns = 0;
    std::ifstream(thread.path() / "schedstat") >> cpu_ns;
    sum.cpu_ns += cpu_ns;
    sum.wakeups += field_of(thread.path() / "status", "voluntary_ctxt_switches:");
  }
  return sum;
}

ProcessMemory process_memory(pid_t pid) {
  const fs::path rollup = proc(pid) / "smaps_rollup";
  const std::uint64_t pss = field_of(rollup, "Pss:");
  need(pss > 0, "no PSS in " + rollup.string());
  return {pss * 1024, (field_of(rollup, "Pss_Anon:") + field_of(rollup, "Pss_File:")) * 1024};
}

std::uint64_t process_written_bytes(pid_t pid) {
  return field_of(proc(pid) / "io", "write_bytes:");
}

std::uint64_t memfd_bytes(pid_t pid) {
  std::set<std::uint64_t> seen;
  std::uint64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(proc(pid) / "fd")) {
    std::error_code error;
    if (fs::read_symlink(entry.path(), error).string().rfind("/memfd:", 0) != 0) continue;
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) != 0 || !seen.insert(info.st_ino).second) continue;
    bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  return bytes;
}

}  // namespace kvtier::bench
