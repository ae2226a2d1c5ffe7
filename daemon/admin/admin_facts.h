#pragma once
// What the daemon says about itself without asking the conductor: constant after start.

#include <string>
#include <vector>

#include "daemon/config/describe.h"
#include "daemon/tier/disk_opening.h"
#include "libkvclient/base/clock.h"

namespace kvtier {

struct AdminFacts {
  std::string version;
  std::string instance;
  std::string runtime_dir;
  std::string counters_path;
  std::string socket;                          ///< of the engines
  std::string config_json = "[]";              ///< render_config_rows()
  std::string fd_store;                        ///< "systemd", "keeper", "none"
  std::string cold_reason;                     ///< Store::cold_reason()
  bool is_warm = false;                        ///< memory of an earlier instance was taken over
  std::vector<std::string> complaints;         ///< found at start, true until the end: health is degraded
  TimeNs started_ns = 0;                       ///< CLOCK_MONOTONIC
  NvmeTierFacts nvme;                          ///< without paths: none is configured
  const DiskSnapshotCell* nvme_now = nullptr;  ///< null: no path opened. Outlives the server
};

/// What is wrong now with what the process stands on: descriptors that run out, a socket's file that was deleted.
std::vector<std::string> place_complaints(const AdminFacts& facts);

/// A JSON array of objects: path, value, unit, source, reload, effect.
std::string render_config_rows(const std::vector<ConfigRow>& rows);

}  // namespace kvtier
