#include "daemon/config/cross_checks.h"

#include <algorithm>
#include <bit>
#include <string>

#include "daemon/config/blame.h"
#include "daemon/config/nvme_checks.h"
#include "daemon/config/slab_size.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/types.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kHugePageBytes = 2 * kMiB;
// Index, directory, tree and block record of one block (`kvbench memory` measured 269), what the eviction policy knows of
// it and of one that left (88), the blocks that a tier
// holds where index.blocks_max does not say, and what is there before the first block: specs, restart state.
constexpr std::uint64_t kTableBytesPerBlock = 360;
constexpr std::uint64_t kBlockBytesAssumed = 64 * kKiB;
constexpr std::uint64_t kTableBytesFixed = 8 * kMiB;
constexpr std::uint64_t kPagesAssumed = kBlockBytesAssumed / kPageBytes;
// Of the NVMe tier: buffers of a path or two, mailboxes, indexes while it recovers.
constexpr std::uint64_t kNvmeBytesFixed = 64 * kMiB;

std::uint64_t slab_bytes(const Config& config) {
  return config.host.slab_bytes != 0 ? config.host.slab_bytes : default_slab_bytes(config.host.bytes);
}

std::string slab_origin(const Config& config) {
  return config.host.slab_bytes != 0 ? "host.slab_bytes" : "host.slab_bytes, chosen from host.bytes,";
}

// A locator has so many bits for a slab.
void check_slab_count(const Config& config, std::vector<Complaint>& errors) {
  const HostConfig& host = config.host;
  const std::uint64_t count = host.slab_bytes == 0 ? 0 : host.bytes / host.slab_bytes;
  if (count <= SlotRef::kSlabsMax) return;
  const std::uint64_t least = std::bit_ceil((host.bytes + SlotRef::kSlabsMax - 1) / SlotRef::kSlabsMax);
  errors.push_back(about(config, "host.slab_bytes",
                         format_size(host.slab_bytes) + " makes " + std::to_string(count) +
                             " slabs of host.bytes, " + format_size(host.bytes) + "; at most " +
                             std::to_string(SlotRef::kSlabsMax),
                         "write " + exact_size(least)));
}

void check_slabs(const Config& config, std::vector<Complaint>& errors) {
  const HostConfig& host = config.host;
  if (host.slab_bytes == 0) return;
  const std::uint64_t page = host.huge_pages == Need::kOff ? kPageBytes : kHugePageBytes;
  if (host.slab_bytes > host.bytes) {
    errors.push_back(
        about(config, "host.slab_bytes",
              format_size(host.slab_bytes) + " is more than host.bytes, " + format_size(host.bytes),
              "lower host.slab_bytes, or raise host.bytes"));
  } else if (host.slab_bytes % page == 0 && host.bytes % host.slab_bytes != 0) {  // one mistake, one proposal
    errors.push_back(
        about(config, "host.bytes",
              format_size(host.bytes) + " is no multiple of host.slab_bytes, " + format_size(host.slab_bytes),
              "write " + exact_size(host.bytes / host.slab_bytes * host.slab_bytes)));
  }
  if (host.slab_bytes % page != 0) {
    errors.push_back(
        about(config, "host.slab_bytes",
              format_size(host.slab_bytes) + " is no multiple of the page size, " + format_size(page),
              "write " + exact_size(round_up(host.slab_bytes, page))));
  }
}

// A space begins with one whole slab, whose slots each have a place in the index, be they of one page.
std::uint64_t blocks_least(const Config& config) {
  return std::min<std::uint64_t>(slab_bytes(config) / kSlotAlignment, SlotRef::kSlotsMax);
}

void check_index(const Config& config, std::vector<Complaint>& errors) {
  const std::uint64_t slab = slab_bytes(config);
  const std::uint64_t slots = blocks_least(config);
  if (config.index.blocks_max == 0 || config.index.blocks_max >= slots) return;
  errors.push_back(about(config, "index.blocks_max",
                         std::to_string(config.index.blocks_max) + " is less than the " +
                             std::to_string(slots) + " blocks that one slab may hold (" +
                             slab_origin(config) + " is " + format_size(slab) + ", the smallest slot " +
                             format_size(kSlotAlignment) + "): specs of small blocks would store nothing",
                         "write at least " + std::to_string(slots) + ", or 0, or lower host.slab_bytes"));
}

// Memory comes to a namespace in slabs: below one it never stores anything.
void check_quota(const Config& config, const NamespaceConfig& each, std::vector<Complaint>& errors) {
  const std::uint64_t slab = slab_bytes(config);
  if (each.host_bytes_max == 0 || each.host_bytes_max >= slab) return;
  errors.push_back({each.where, 0, "namespaces." + each.name + ".host_bytes_max",
                    format_size(each.host_bytes_max) + " is less than one slab (" + slab_origin(config) +
                        " is " + format_size(slab) + "): the namespace could store nothing",
                    "write at least " + exact_size(slab) + ", or lower host.slab_bytes"});
}

void check_namespaces(const Config& config, std::vector<Complaint>& errors,
                      std::vector<Complaint>& warnings) {
  if (config.namespaces.size() > config.limits.namespaces_max) {
    errors.push_back(about(config, "limits.namespaces_max",
                           std::to_string(config.limits.namespaces_max) +
                               " is less than the namespaces listed, " +
                               std::to_string(config.namespaces.size()),
                           "raise limits.namespaces_max"));
  }
  for (const NamespaceConfig& each : config.namespaces) {
    check_quota(config, each, errors);
    if (each.host_bytes_max <= config.host.bytes) continue;
    warnings.push_back(about(config, "host.bytes",
                             format_size(config.host.bytes) + " is less than host_bytes_max of namespace " +
                                 each.name + ", " + format_size(each.host_bytes_max),
                             "the namespace can never use that much"));
  }
}

void check_sockets(const Config& config, std::vector<Complaint>& errors, std::vector<Complaint>& warnings) {
  if (config.socket == config.admin_socket)
    errors.push_back(about(config, "admin_socket", "is the same path as socket", "give each its own"));
  // The sockets do not follow runtime_dir.
  if (!is_set(config, "runtime_dir")) return;
  for (const std::string_view path : {"socket", "admin_socket"}) {
    if (is_set(config, path)) continue;
    const std::string& where = path == "socket" ? config.socket : config.admin_socket;
    warnings.push_back(about(config, "runtime_dir",
                             "does not move " + std::string(path) + ", which stays " + where,
                             "set " + std::string(path) + " too if it is to move"));
  }
}

void check_group(const Config& config, std::string_view path, const std::string& name,
                 const IdentityLookup& identities, std::vector<Complaint>& errors) {
  const bool is_number = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  if (is_number || identities.gid_of(name).has_value()) return;  // "" is no group
  errors.push_back(
      about(config, path, "\"" + name + "\" is no group of this host", "create it, or name another one"));
}

}  // namespace

void check_groups(const Config& config, const IdentityLookup& identities, std::vector<Complaint>& errors) {
  check_group(config, "socket_group", config.socket_group, identities, errors);
  check_group(config, "admin_group", config.admin_group, identities, errors);
}

std::uint64_t table_bytes(const Config& config) {
  const std::uint64_t blocks =
      config.index.blocks_max != 0 ? config.index.blocks_max : config.host.bytes / kBlockBytesAssumed;
  // As many small slots as memory has make the blocks of the host tier; those on disk alone are as small.
  const std::uint64_t on_disk = config.index.blocks_max != 0 ? 0 : nvme_blocks_max(config) / kPagesAssumed;
  const std::uint64_t nvme = config.nvme.paths.empty() ? 0 : kNvmeBytesFixed;
  return kTableBytesFixed + nvme + (blocks + on_disk) * kTableBytesPerBlock;
}

void check_settings_together(const Config& config, std::vector<Complaint>& errors,
                             std::vector<Complaint>& warnings) {
  check_slabs(config, errors);
  check_slab_count(config, errors);
  check_index(config, errors);
  check_namespaces(config, errors, warnings);
  check_sockets(config, errors, warnings);
  check_nvme(config, errors, warnings);
  if (config.limits.pinned_percent_client > config.limits.pinned_percent_namespace) {
    warnings.push_back(about(config, "limits.pinned_fraction_client",
                             "is more than limits.pinned_fraction_namespace",
                             "the namespace's limit is reached first"));
  }
}

namespace {

// The tables of a tier that is far too large may alone be more than there is: those of a smaller one are smaller.
std::uint64_t fitting_with_its_tables(const Config& config, std::uint64_t room) {
  const std::uint64_t beside = kTableBytesFixed + config.host.headroom_bytes;
  if (config.index.blocks_max != 0 || room <= beside) return 0;
  const std::uint64_t blocks = (room - beside) / (kBlockBytesAssumed + kTableBytesPerBlock);
  return blocks * kBlockBytesAssumed / (16 * kMiB) * 16 * kMiB;
}

// The most that index.blocks_max may be beside the tier as it is; 0: it is not what is too large.
std::uint64_t fitting_blocks(const Config& config, std::uint64_t room, std::uint64_t overhead_bytes) {
  const std::uint64_t of_blocks = config.index.blocks_max * kTableBytesPerBlock;
  const std::uint64_t others = overhead_bytes - std::min(overhead_bytes, of_blocks);
  const std::uint64_t beside = config.host.bytes + config.host.headroom_bytes + others;
  if (config.index.blocks_max == 0 || room <= beside) return 0;
  const std::uint64_t blocks = (room - beside) / kTableBytesPerBlock;
  return blocks < std::max(blocks_least(config), config.host.bytes / kBlockBytesAssumed) ? 0 : blocks;
}

std::string advice(const Config& config, std::uint64_t room, std::uint64_t overhead_bytes) {
  if (const std::uint64_t blocks = fitting_blocks(config, room, overhead_bytes); blocks != 0) {
    return "; lower index.blocks_max, " + std::to_string(config.index.blocks_max) +
           ", whose tables these are, to at most " + std::to_string(blocks);
  }
  const std::uint64_t beside = overhead_bytes + config.host.headroom_bytes;
  const std::uint64_t fitting =
      room > beside ? (room - beside) / (16 * kMiB) * 16 * kMiB : fitting_with_its_tables(config, room);
  return fitting == 0 ? "; no host.bytes fits: free memory, or lower host.headroom"
                      : "; set host.bytes to at most " + exact_size(fitting) + ", or lower host.headroom";
}

}  // namespace

Status check_memory_fits(const Config& config, const MemoryLimits& limits, const MemoryDemand& demand) {
  const HostConfig& host = config.host;
  const std::uint64_t wanted = host.bytes + demand.overhead_bytes + host.headroom_bytes;
  const std::uint64_t needed = wanted - std::min(wanted, demand.held_bytes);
  if (needed <= limits.available_bytes) return Status::ok();
  std::string text = "the host tier does not fit: needed " + format_size(needed) + " (host.bytes " +
                     format_size(host.bytes) + " + tables " + format_size(demand.overhead_bytes) +
                     " + host.headroom " + format_size(host.headroom_bytes);
  if (demand.held_bytes != 0) text += " - already held " + format_size(demand.held_bytes);
  text += "), available " + format_size(limits.available_bytes) + " (" + limits.bound_by + ")";
  text += advice(config, limits.available_bytes + demand.held_bytes, demand.overhead_bytes);
  if (limits.is_cgroup) text += ", or raise the cgroup's memory.max (MemoryMax= of the unit)";
  return {Code::kNoSpace, text};
}

}  // namespace kvtier
