#include "daemon/config/memory_limits.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The number after a word: "MemAvailable: 123 kB", "inactive_file 456".
std::optional<std::uint64_t> number_after(const std::string& text, const std::string& word) {
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t number = 0;
    if (words >> name >> number && name == word) return number;
  }
  return std::nullopt;
}

// A file with one number; "max" and everything else set no bound.
std::optional<std::uint64_t> number_in(const std::string& path) {
  const std::optional<std::string> text = read_text(path);
  if (!text.has_value() || text->empty() || (*text)[0] < '0' || (*text)[0] > '9') return std::nullopt;
  std::istringstream words(*text);
  std::uint64_t number = 0;
  if (!(words >> number)) return std::nullopt;
  return number;
}

// "0::/system.slice/kvtierd.service" to the part after "0::". cgroup v1 hierarchies have other numbers.
std::string cgroup_path(const std::string& root) {
  std::istringstream lines(read_text(root + "/proc/self/cgroup").value_or(""));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return "/";
}

// Page cache that the kernel gives up first does not count as used.
std::uint64_t used_bytes(const std::string& folder) {
  const std::uint64_t current = number_in(folder + "/memory.current").value_or(0);
  const std::string stat = read_text(folder + "/memory.stat").value_or("");
  return current - std::min(current, number_after(stat, "inactive_file").value_or(0));
}

void apply_cgroup(const std::string& folder, const std::string& name, MemoryLimits& limits) {
  const std::optional<std::uint64_t> max = number_in(folder + "/memory.max");
  if (!max.has_value()) return;
  const std::uint64_t used = used_bytes(folder);
  const std::uint64_t available = *max - std::min(*max, used);
  limits.total_bytes = std::min(limits.total_bytes, *max);
  if (available >= limits.available_bytes) return;
  limits.available_bytes = available;
  limits.is_cgroup = true;
  limits.bound_by = "cgroup " + name + ": memory.max " + format_size(*max) + ", used " + format_size(used);
}

}  // namespace

Result<MemoryLimits> read_memory_limits(const std::string& root) {
  const std::optional<std::string> meminfo = read_text(root + "/proc/meminfo");
  const std::string text = meminfo.value_or("");
  const std::optional<std::uint64_t> available = number_after(text, "MemAvailable:");
  const std::optional<std::uint64_t> total = number_after(text, "MemTotal:");
  if (!available.has_value() || !total.has_value())
    return Status(Code::kSystem, root + "/proc/meminfo has no MemTotal and MemAvailable; is /proc mounted?");
  MemoryLimits limits;
  limits.total_bytes = *total * kKiB;
  limits.available_bytes = *available * kKiB;
  limits.bound_by = "MemAvailable of the host, of " + format_size(limits.total_bytes) + " in all";
  limits.huge_pages_free_bytes = number_after(text, "HugePages_Free:").value_or(0) *
                                 number_after(text, "Hugepagesize:").value_or(0) * kKiB;
  for (std::string path = cgroup_path(root);; path.resize(path.rfind('/'))) {
    const std::string name = path.empty() ? "/" : path;
    apply_cgroup(root + "/sys/fs/cgroup" + (path == "/" ? "" : path), name, limits);
    if (path.empty() || path == "/") break;
  }
  return limits;
}

}  // namespace kvtier
