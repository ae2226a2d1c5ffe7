#include "tests/kill/disk_books.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace kvtier::kill {
namespace {

// Sums over all daemons; the faults say what recovery and reads refused.
constexpr const char* kSums[] = {"nvme_puts",
                                 "nvme_gets_ok",
                                 "nvme_flushes",
                                 "nvme_marks",
                                 "nvme_segments_sealed",
                                 "nvme_segments_reclaimed",
                                 "nvme_blocks_moved",
                                 "nvme_blocks_dropped",
                                 "nvme_recovered_blocks",
                                 "nvme_recovered_footers",
                                 "nvme_recovered_scans",
                                 "nvme_recovered_void",
                                 "nvme_recovered_dropped",
                                 "nvme_fault_header_damaged",
                                 "nvme_fault_payload_damaged",
                                 "nvme_fault_stale",
                                 "nvme_fault_index_damaged",
                                 "disk_lost",
                                 "evictions_unsaved"};
// The file system keeps the map of a file's blocks in blocks of its own, which st_blocks counts.
constexpr std::uint64_t kMapBytes = 64 * 1024;
// Copies that reclaim or a full index gave up, or that found no record, would be missed as if they were lost.
constexpr const char* kNoneWhereStrict[] = {"nvme_blocks_dropped", "cold_dropped", "disk_refused",
                                            "nvme_recovered_unknown", "disk_lost"};

}  // namespace

void DiskBooks::fail(const std::string& why) {
  ++errors;
  if (notes.size() < 2000) notes += why + "; ";
}

void DiskBooks::add(const DiskWriterFigures& f) {
  writers.blocks_committed += f.blocks_committed;
  writers.blocks_seen_on_disk += f.blocks_seen_on_disk;
  writers.blocks_synced += f.blocks_synced;
  writers.blocks_checked += f.blocks_checked;
  writers.must_checked += f.must_checked;
  writers.found_again += f.found_again;
  writers.void_checked += f.void_checked;
  writers.invalidations += f.invalidations;
  writers.wrong += f.wrong;
  writers.lost += f.lost;
  writers.came_back += f.came_back;
  writers.unexpected += f.unexpected;
  if (!f.first_error.empty() && notes.size() < 2000) notes += f.first_error + "; ";
}

void DiskBooks::add(const CounterValues& now, bool is_strict) {
  const auto value = [&](const char* name) {
    const auto found = now.find(name);
    return found == now.end() ? std::uint64_t{0} : found->second;
  };
  for (const char* name : kSums) counters[name] += value(name);
  if (value("checksum_failures") > 0) fail("checksum failures");
  if (value("protocol_errors") > 0) fail("protocol errors");
  for (const char* name : kNoneWhereStrict) {
    if (is_strict && value(name) > 0) fail(std::string(name) + " where the bound is not reached");
  }
}

void DiskBooks::measure(const std::string& folder, std::uint64_t bound) {
  std::uint64_t beside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    struct stat facts {};
    if (::stat(entry.path().c_str(), &facts) != 0) continue;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    const std::uint64_t taken = static_cast<std::uint64_t>(facts.st_blocks) * 512;
    if (entry.path().filename() != "kvtier.data") {
      beside += taken;
      continue;
    }
    file_bytes_max = std::max({file_bytes_max, size, taken});
    if (size > bound || taken > bound + kMapBytes) ++over_bound;
  }
  beside_bytes_max = std::max(beside_bytes_max, beside);
}

int DiskBooks::finish() const {
  nlohmann::ordered_json json;
  json["bench"] = "kill_disk";
  json["kills"] = kills;
  json["errors"] = errors + writers.unexpected;
  json["wrong_blocks"] = writers.wrong;
  json["lost_blocks"] = writers.lost;
  json["came_back"] = writers.came_back;
  json["over_bound"] = over_bound;
  json["must_checked"] = writers.must_checked;
  json["void_checked"] = writers.void_checked;
  json["found_again"] = writers.found_again;
  json["blocks_checked"] = writers.blocks_checked;
  json["blocks_committed"] = writers.blocks_committed;
  json["blocks_synced"] = writers.blocks_synced;
  json["blocks_seen_on_disk"] = writers.blocks_seen_on_disk;
  json["invalidations"] = writers.invalidations;
  json["clean_ends"] = clean_ends;
  json["up_ms_max"] = up_max_ns / kNsPerMs;
  json["file_bytes_max"] = file_bytes_max;
  json["beside_bytes_max"] = beside_bytes_max;
  for (const auto& [name, count] : phases) json["kills_" + name] = count;
  for (const auto& [name, value] : counters) json[name] = value;
  json["notes"] = notes;
  const bool is_ok =
      errors + writers.unexpected + writers.wrong + writers.lost + writers.came_back + over_bound == 0;
  json["ok"] = is_ok;
  std::printf("%s\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  return is_ok ? 0 : 1;
}

}  // namespace kvtier::kill
