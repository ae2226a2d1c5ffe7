#include "daemon/tier/disk_opening.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <span>

#include "daemon/config/tier_limits.h"
#include "libkvclient/base/counted.h"
#include "libkvclient/base/digest.h"
#include "libkvclient/base/entropy.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kDepth = 64;

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

bool is_empty_or_absent(const std::string& file) {
  struct stat facts {};
  return ::stat(file.c_str(), &facts) != 0 || facts.st_size == 0;
}

IoEngineOptions engine_options(const NvmeTierOptions& options) {
  return {.engine = options.engine,
          .depth = kDepth,
          .files_max = static_cast<std::uint32_t>(options.paths.size()),
          .regions_max = options.slabs_max + 1};
}

DiskAgentOptions agent_options(const NvmeTierOptions& options) {
  const BudgetShares shares = share_budget(options.write_budget_bytes_per_day);
  DiskAgentOptions result{
      .slabs_max = options.slabs_max, .budget = shares.puts, .counters = options.counters};
  DiskStoreOptions& store = result.store;
  store.block_bytes_max = nvme_block_bytes_max(options.slab_bytes, options.segment_bytes);
  store.segment_bytes = options.segment_bytes;
  store.io_deadline_ns = options.io_deadline_ns;
  store.wall_minus_monotonic_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  store.budget = shares.moves;
  store.home = options.home;
  store.missing = options.missing;
  store.fresh_store = {{entropy64(), entropy64() | 1}};
  return result;
}

}  // namespace

// An hour's worth may go at once.
BudgetShares share_budget(std::uint64_t bytes_per_day) {
  if (bytes_per_day == 0) return {};
  const std::uint64_t moves = nvme_moves_bytes_per_day(bytes_per_day);
  const std::uint64_t puts = bytes_per_day - moves;
  constexpr std::uint64_t kHours = 24;
  return {{.bytes_per_day = puts, .burst_bytes = puts / kHours},
          {.bytes_per_day = moves, .burst_bytes = moves / kHours}};
}

std::string damage_text(const NvmeTierFacts& facts, const DiskSnapshot& view) {
  const DiskDamage& damage = view.damage;
  if (damage.count == damage.answered) return {};
  const bool is_known = damage.path < facts.opened.size();
  const std::string folder = is_known ? facts.paths[facts.opened[damage.path]].folder : std::string("?");
  return counted(damage.count - damage.answered, "damaged copy", "damaged copies") +
         " on NVMe, the last one in " + folder + " at offset " + std::to_string(damage.offset) + " (" +
         std::string(disk_fault_name(damage.fault)) + "): block " + to_hex(damage.key) + " of space " +
         to_hex(damage.space) +
         ". They are misses and are computed anew; look at the device (smartctl, the kernel's log), then run "
         "kvctl "
         "verify: one that finds all good ends this";
}

std::string damaged_spaces_text(const std::string& file) {
  return file +
         " is empty or damaged: blocks on disk of the spaces that it named are given up; put a good copy "
         "back while "
         "the daemon is stopped, or restart it to go on without them";
}

std::string unknown_spaces_text(const NvmeTierFacts& facts, const DiskSnapshot& now) {
  if (now.unknown_entries == 0) return {};
  std::string kept;
  for (const std::string& file : facts.spaces_kept)
    kept += (kept.empty() ? " (what was damaged is kept: " : ", ") + file;
  return counted(now.unknown_entries, "block") + " on disk, " + format_size(now.unknown_bytes) +
         ", cannot be used: no " + kSpacesFileName +
         " names their spaces, or there was no place for these; new blocks take their room. To have them "
         "back, put a good copy of the file into each path's folder while kvtierd is stopped" +
         kept + (kept.empty() ? "" : ")");
}

std::string missing_path_text(const NvmeTierFacts& facts, const DiskSnapshot& now) {
  const auto paths = std::span(now.paths).first(now.path_count);
  const bool is_left_out =
      facts.opened.size() < facts.paths.size() ||
      std::ranges::any_of(paths, [](const DiskPathSnapshot& each) { return each.segment_bytes == 0; });
  if (!now.is_path_missing || is_left_out) return {};
  return "the NVMe tier's store has a path that nvme.paths does not name: its blocks are misses, and what "
         "was "
         "invalidated is noted for it for ever; name its folder too and restart kvtierd. If it is gone for "
         "good, set nvme.missing to give_up and restart kvtierd: it is struck off";
}

std::string unread_segments_text(const DiskSnapshot& now) {
  if (now.stats.recovered_unread == 0) return {};
  const std::uint64_t withheld = now.stats.recovered_withheld;
  const std::string not_used =
      withheld == 0
          ? "what was not read is not used until then"
          : counted(withheld, "block") + " on disk wait for it too, since what invalidated them may be there";
  return "the device could not read all of " + counted(now.stats.recovered_unread, "segment") +
         " of the NVMe tier when it opened: they are as they were, and the next start reads them again; " +
         not_used +
         ". Look at the kernel's log and the device, then restart kvtierd; if it never reads them, move the "
         "path's "
         "file away while kvtierd is stopped, which gives up all of it";
}

NvmeTier::NvmeTier(const DiskAgentOptions& options, DiskAgentParts parts, std::unique_ptr<RingWaiter> waiter)
    : waiter_(std::move(waiter)),
      channel_(*waiter_, conductor_),
      port_(channel_),
      known_(parts.catalog.spaces()),
      agent_(std::make_unique<DiskAgent>(options, std::move(parts), channel_)) {}

bool NvmeTier::end() {
  if (agent_->has_held_requests()) return (void)agent_.release(), false;
  agent_.reset();
  return true;
}

// Every path that is left has been sized. One whose file of spaces cannot be kept is left out all the same.
void DiskOpening::open_catalog(PathSet& paths, SpaceCatalog& catalog) {
  for (std::size_t i = 0; i < paths.all().size();) {
    const PathSet::Each& each = paths.all()[i];
    const std::string file = facts.paths[each.place].folder + "/" + kSpacesFileName;
    const std::uint64_t corrupt_before = catalog.corrupt_count();
    const bool is_missing = is_empty_or_absent(file);
    const bool has_lost_spaces = each.owned.bytes_found != 0 && is_missing;
    const Status spaces = catalog.add_folder(facts.paths[each.place].folder);
    if (!spaces.is_ok()) {
      if (is_missing) (void)::unlink(file.c_str());
      paths.leave_out(i, spaces);
      continue;
    }
    if (has_lost_spaces || catalog.corrupt_count() > corrupt_before) facts.spaces_damaged.push_back(file);
    ++i;
  }
  catalog.complete();
  facts.spaces_known = catalog.spaces().size();
  facts.spaces_kept = catalog.kept_aside();
  facts.spaces_corrupt = catalog.corrupt_count();
  // What another path still had is whole again.
  if (facts.spaces_corrupt == 0 && facts.spaces_known > 0) facts.spaces_damaged.clear();
}

// The status says why the store is not to be opened.
Status DiskOpening::open_paths(PathSet& paths, const NvmeTierOptions& options, DiskAgentParts& parts) {
  paths.own(options.paths);
  Status refusal = paths.look();
  if (refusal.is_ok()) {
    paths.settle();
    open_catalog(paths, parts.catalog);
  } else {
    paths.disown();
  }
  parts.files = paths.files();
  for (PathSet::Each& each : paths.all()) {
    facts.opened.push_back(each.place);
    parts.owned.push_back(std::move(each.owned));
  }
  return refusal;
}

Status DiskOpening::open_agent(const DiskAgentOptions& options, const IoEngineOptions& engine,
                               DiskAgentParts parts) {
  Result<std::unique_ptr<IoBackend>> backend = open_io_engine(engine);
  if (!backend.is_ok()) return backend.status();
  const IoFacts ring = backend.value()->facts();
  facts.engine = ring.engine;
  facts.depth = ring.depth;
  parts.ring = std::make_unique<IoRing>(
      std::move(backend).value(),
      IoRingOptions{.files_max = engine.files_max, .regions_max = engine.regions_max});
  for (std::size_t i = 0; i < parts.files.size(); ++i) {
    const std::uint32_t alignment = facts.paths[facts.opened[i]].alignment;
    KV_RETURN_IF_ERROR(parts.ring->set_file(parts.files[i].file, parts.owned[i].data.get(), alignment));
  }
  Result<std::unique_ptr<RingWaiter>> waiter = RingWaiter::create(*parts.ring);
  if (!waiter.is_ok()) return waiter.status();
  tier.reset(new NvmeTier(options, std::move(parts), std::move(waiter).value()));
  return Status::ok();
}

DiskOpening DiskOpening::open(const NvmeTierOptions& options) {
  DiskOpening opening;
  const IoEngineOptions engine = engine_options(options);
  const PathOpeningOptions path_options{.direct = options.direct,
                                        .segment_bytes = options.segment_bytes,
                                        .headroom_bytes = options.headroom_bytes,
                                        .instance = options.instance,
                                        .engine = engine};
  DiskAgentOptions agent = agent_options(options);
  DiskAgentParts parts;
  PathSet paths(path_options, agent.store, opening.facts.paths);
  agent.store.refusal = opening.open_paths(paths, options, parts);
  // A path that is left out is not gone: nothing is struck off without it.
  if (parts.files.size() < options.paths.size()) agent.store.missing = MissingPolicy::kKeep;
  agent.store.is_path_left_out = paths.is_path_left_out();
  if (parts.files.empty()) {
    opening.status = {Code::kUnavailable, opening.facts.paths.empty() ? "no path is configured"
                                                                      : opening.facts.paths.front().cause};
  } else {
    opening.status = opening.open_agent(agent, engine, std::move(parts));
  }
  return opening;
}

}  // namespace kvtier
