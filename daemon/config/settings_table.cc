#include "daemon/config/settings_table.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

template <class Field>
void assign(Field& field, const SettingValue& value) {
  if constexpr (std::is_same_v<Field, std::string>) {
    field = value.text;
  } else if constexpr (std::is_same_v<Field, std::vector<std::uint32_t>>) {
    field = value.ids;
  } else {
    field = static_cast<Field>(value.number);
  }
}

constexpr std::uint64_t kTiB = 1024 * kGiB;
constexpr std::uint64_t kSocketPathMax = 107;  // sun_path less its terminator
constexpr std::uint64_t kPathMax = 255;
constexpr std::string_view kNeed = "off|try|require";

using enum SettingType;
using enum Reload;

// clang-format off
#define INTO(member) [](auto& target, const SettingValue& value) { assign(target.member, value); }
#define NO_CHOICE ""

// path, type, default, min, max, choices, reload, unit, effect, member
constexpr auto kSettings = std::to_array<Setting<Config>>({
  {{"instance", kName, "kvtierd", 1, 63, NO_CHOICE, kRestart, "",
    "Name of this daemon in logs, metrics and kvctl; instances of one host need different names."},
   INTO(instance)},
  {{"runtime_dir", kPath, "/run/kvtier", 1, kPathMax, NO_CHOICE, kRestart, "",
    "Directory of the sockets and the counters file; created at start if its parent exists."},
   INTO(runtime_dir)},
  {{"socket", kPath, "/run/kvtier/kvtierd.sock", 1, kSocketPathMax, NO_CHOICE, kRestart, "",
    "Socket on which engines connect."},
   INTO(socket)},
  {{"admin_socket", kPath, "/run/kvtier/kvtierd-admin.sock", 1, kSocketPathMax, NO_CHOICE, kRestart, "",
    "Socket on which kvctl connects."},
   INTO(admin_socket)},
  {{"socket_group", kText, "", 0, 63, NO_CHOICE, kRestart, "",
    "Group whose members may connect (the socket has mode 0660); \"\" is the daemon's own group."},
   INTO(socket_group)},
  {{"admin_group", kText, "", 0, 63, NO_CHOICE, kRestart, "",
    "Group whose members may flush, evict and kick; \"\" leaves that to root and the daemon's own user."},
   INTO(admin_group)},

  {{"host.bytes", kSize, "1GiB", 16 * kMiB, 64 * kTiB, NO_CHOICE, kRestart, "",
    "Host memory for blocks, all clients together, reserved at start and never exceeded. GiB is 2^30, GB is 10^9. "
    "A change drops the cached blocks at the next start."},
   INTO(host.bytes)},
  {{"host.slab_bytes", kSize, "0", 0, 16 * kGiB, NO_CHOICE, kRestart, "",
    "Unit in which host memory moves between spaces; 0 lets the daemon choose from host.bytes. A change drops the "
    "cached blocks at the next start."},
   INTO(host.slab_bytes)},
  {{"host.huge_pages", kChoice, "try", 0, 2, kNeed, kRestart, "",
    "2 MiB pages for slabs: off; try (those set aside where they are enough, else what the kernel finds; shown in "
    "status); require (those set aside, or refuse to start)."},
   INTO(host.huge_pages)},
  {{"host.lock", kChoice, "off", 0, 2, kNeed, kRestart, "",
    "Lock slabs in memory, so that blocks never reach swap: off, try (shown in status), require (refuse to start). "
    "Each start, a warm one too, touches every page of the tier: seconds a GiB."},
   INTO(host.lock)},
  {{"host.low_water_blocks", kCount, "64", 0, 64, NO_CHOICE, kLive, "blocks",
    "Free slots that a background pass keeps ready in each space; 0 evicts only when a slot is asked for."},
   INTO(host.low_water_blocks)},
  {{"host.headroom", kSize, "256MiB", 0, 64 * kTiB, NO_CHOICE, kRestart, "",
    "Memory that must stay available to others after the host tier is reserved; start is refused otherwise."},
   INTO(host.headroom_bytes)},

  {{"nvme.backend", kChoice, "auto", 0, 2, "auto|uring|posix", kRestart, "",
    "How the tier reads and writes: uring, posix (threads), or auto, which takes posix where io_uring is denied and says "
    "so in status."},
   INTO(nvme.backend)},
  {{"nvme.direct", kChoice, "auto", 0, 2, "auto|on|off", kRestart, "",
    "O_DIRECT, past the page cache: auto uses it where a probe found it to work; on leaves a path out that cannot."},
   INTO(nvme.direct)},
  {{"nvme.write_policy", kChoice, "back", 0, 1, "back|through", kRestart, "",
    "When blocks are written: back, as they are about to leave memory; through, soon after their commit. With back a "
    "stop of the daemon, a clean one too, loses what is in memory alone, unless kvtier-keeper or systemd's descriptor store keeps it. Either way a "
    "power cut costs what was written in the last second or two, and never brings back wrong bytes."},
   INTO(nvme.write_policy)},
  {{"nvme.write_budget_bytes_per_day", kSize, "0", 0, 1024 * kTiB, NO_CHOICE, kRestart, "",
    "What may be written in a day, all paths together: flash wears out. It fills evenly over the day, beginning with an "
    "hour's worth, the most that goes at once; a quarter is for moving what is worth keeping. While less than a quarter of "
    "an hour's worth is left, only blocks that somebody used are written. 0 is no limit."},
   INTO(nvme.write_budget_bytes_per_day)},
  {{"nvme.blocks_max", kCount, "0", 0, 1ULL << 32, NO_CHOICE, kRestart, "blocks",
    "Blocks on disk alone that index and directories have room for, beside those of host memory; 0 lets the daemon "
    "choose. A change drops the blocks in host memory at the next start."},
   INTO(nvme.blocks_max)},
  {{"nvme.recover", kChoice, "before_ready", 0, 1, "before_ready|behind", kRestart, "",
    "Whether clients are answered once what is on disk is known, or at once, and find it little by little."},
   INTO(nvme.recover)},
  {{"nvme.segment_bytes", kSize, "256MiB", 4 * kMiB, 64 * kGiB, NO_CHOICE, kRestart, "",
    "Unit in which a path is filled and emptied, of a store that is made; one that is there keeps its own."},
   INTO(nvme.segment_bytes)},
  {{"nvme.headroom", kSize, "0", 0, 1024 * kTiB, NO_CHOICE, kRestart, "",
    "Room that stays free for others on the file system of each path: its file is made so much smaller. 0 is the larger of "
    "1GiB and 5% of that file system, but a quarter of it at most."},
   INTO(nvme.headroom_bytes)},
  {{"nvme.io_deadline_ms", kCount, "5000", 1, 600000, NO_CHOICE, kRestart, "ms",
    "A request that the device has not answered by then counts as failed; a path with several is left alone for a while."},
   [](Config& config, const SettingValue& value) { config.nvme.io_deadline_ns = value.number * kNsPerMs; }},
  {{"nvme.home", kChoice, "refuse", 0, 2, "refuse|moved|fresh", kRestart, "",
    "What to do with a file that lies elsewhere than where its store was made: refuse it (it may be a copy of one in use), "
    "take it as moved, or empty it and begin afresh there, with a file that may be smaller. A store that lies where it was made "
    "is kept."},
   INTO(nvme.home)},
  {{"nvme.missing", kChoice, "keep", 0, 1, "keep|give_up", kRestart, "",
    "What to do about a path that the store had and that no nvme.paths names: keep its place, as it may come back, or give "
    "it up, if it is gone for good: should it come back, it is refused. Nothing is given up while a path that is named "
    "does not open."},
   INTO(nvme.missing)},

  {{"index.blocks_max", kCount, "0", 0, 1ULL << 32, NO_CHOICE, kRestart, "blocks",
    "Blocks that index and directories are sized for; 0 is as many as the tiers can hold. A change drops the cached "
    "blocks at the next start."},
   INTO(index.blocks_max)},

  {{"limits.clients_max", kCount, "256", 1, 4096, NO_CHOICE, kRestart, "clients",
    "Connected clients; one more is refused. A change drops the cached blocks at the next start."},
   INTO(limits.clients_max)},
  {{"limits.namespaces_max", kCount, "64", 1, 1024, NO_CHOICE, kRestart, "namespaces",
    "Namespaces of this daemon. A change drops the cached blocks at the next start."},
   INTO(limits.namespaces_max)},
  {{"limits.spaces_max", kCount, "256", 1, 65536, NO_CHOICE, kRestart, "spaces",
    "Registered specs, all namespaces together. A change drops the cached blocks at the next start."},
   INTO(limits.spaces_max)},
  {{"limits.pinned_fraction_client", kPercent, "50%", 1, 100, NO_CHOICE, kLive, "",
    "Share of a namespace's host memory that one client may lease and pin; beyond it health is degraded."},
   INTO(limits.pinned_percent_client)},
  {{"limits.pinned_fraction_namespace", kPercent, "80%", 1, 100, NO_CHOICE, kLive, "",
    "Share of a namespace's host memory that its clients may pin together; pins beyond it are refused. Leases do not count."},
   INTO(limits.pinned_percent_namespace)},

  {{"conductor.spin_us", kCount, "20", 0, 10000, NO_CHOICE, kLive, "us",
    "Time that the conductor polls after its last work before it sleeps, for as long as work comes that fast; 0 sleeps at once."},
   [](Config& config, const SettingValue& value) { config.conductor.spin_ns = value.number * kNsPerUs; }},

  {{"log.level", kChoice, "info", 0, 5, "trace|debug|info|warn|error|off", kLive, "",
    "Least severe message that is written."},
   INTO(log.level)},
  {{"log.target", kChoice, "stderr", 0, 1, "stderr|journal", kRestart, "",
    "Where messages go; journal keeps their fields."},
   INTO(log.target)},
  {{"log.json", kBool, "false", 0, 1, NO_CHOICE, kRestart, "",
    "One JSON object a line on stderr instead of text."},
   INTO(log.is_json)},
});

constexpr auto kNamespaceSettings = std::to_array<Setting<NamespaceConfig>>({
  {{"name", kName, "default", 1, 63, NO_CHOICE, kRestart, "",
    "Name that clients ask for."},
   INTO(name)},
  {{"owners", kUserList, "", 0, 64, NO_CHOICE, kLive, "",
    "Users (names or uids) who read and write; without owners, groups and readers: the daemon's own user and root."},
   INTO(owner_uids)},
  {{"groups", kGroupList, "", 0, 64, NO_CHOICE, kLive, "",
    "Groups (names or gids) whose members read and write."},
   INTO(group_gids)},
  {{"readers", kUserList, "", 0, 64, NO_CHOICE, kLive, "",
    "Users (names or uids) who only read."},
   INTO(reader_uids)},
  {{"host_bytes_max", kSize, "0", 0, 64 * kTiB, NO_CHOICE, kLive, "",
    "Most host memory that this namespace may hold; 0 is no limit of its own."},
   INTO(host_bytes_max)},
});

constexpr auto kNvmePathSettings = std::to_array<Setting<NvmePathConfig>>({
  {{"dir", kPath, "/var/lib/kvtier/nvme", 1, kPathMax, NO_CHOICE, kRestart, "",
    "Folder of this path; it must be there, and be this daemon's alone."},
   INTO(dir)},
  {{"bytes", kSize, "100GiB", 16 * kMiB, 1024 * kTiB, NO_CHOICE, kRestart, "",
    "Size of its file, allocated at start; where the disk has less, as much as there is."},
   INTO(bytes)},
});
// clang-format on

template <class Target, std::size_t N>
const Setting<Target>* find_in(const std::array<Setting<Target>, N>& table, std::string_view path) {
  const auto row = std::ranges::find(table, path, [](const auto& each) { return each.info.path; });
  return row == table.end() ? nullptr : &*row;
}

}  // namespace

std::span<const Setting<Config>> settings_table() {
  return kSettings;
}

std::span<const Setting<NamespaceConfig>> namespace_table() {
  return kNamespaceSettings;
}

const Setting<Config>* find_setting(std::string_view path) {
  return find_in(kSettings, path);
}

std::span<const Setting<NvmePathConfig>> nvme_path_table() {
  return kNvmePathSettings;
}

const Setting<NvmePathConfig>* find_nvme_path_setting(std::string_view path) {
  return find_in(kNvmePathSettings, path);
}

const Setting<NamespaceConfig>* find_namespace_setting(std::string_view path) {
  return find_in(kNamespaceSettings, path);
}

}  // namespace kvtier
