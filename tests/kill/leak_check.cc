#include "tests/kill/leak_check.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests/kill/worker.h"

namespace kvtier::kill {
namespace {

constexpr TimeNs kSettleNs = kNsPerSecond;
constexpr TimeNs kReserveNs = 5 * kNsPerSecond;
constexpr std::uint64_t kSlabBytes = 4 * 1024 * 1024;
constexpr std::uint64_t kOtherChain = 1'000'000;

// Takes every slot of the pool, in the first space's size; slabs that were cut for the other one follow.
std::uint64_t reserve_all(kvc_space* space, std::uint64_t slots) {
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + kReserveNs;
  const std::vector<kvc_key> keys = keys_at({.space = 0, .chain = kOtherChain, .first = 0, .count = slots});
  std::vector<kvc_slot> taken(slots);
  std::uint64_t granted = 0;
  while (granted < slots && clock.now_ns() < deadline_ns) {
    const std::size_t left = std::min<std::size_t>(slots - granted, 64);
    std::vector<kvc_slot> batch(left);
    kvc_reserve_options options{};
    options.struct_size = sizeof options;
    (void)kvc_reserve(space, keys.data() + granted, left, &options, batch.data());
    for (const kvc_slot& slot : batch) {
      if (slot.code != KVC_OK) break;
      taken[granted++] = slot;
    }
  }
  (void)kvc_abort(space, taken.data(), granted, KVC_WAIT, 0);
  return granted;
}

void take_all(const DaemonHost& daemon, LeakReport& report) {
  const std::string socket = daemon.socket();
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = socket.c_str();
  options.client_name = "leak-check";
  options.flags = KVC_REQUIRE;
  kvc_client* client = nullptr;
  kvc_space* space = nullptr;
  std::uint64_t dropped = 0;
  if (kvc_client_open(&options, &client) != KVC_OK || register_space(client, 0, 0, &space) != KVC_OK ||
      kvc_invalidate_namespace(client, 5 * kNsPerSecond, &dropped) != KVC_OK) {
    report.text += std::string("the checking client fails: ") + kvc_last_error() + "; ";
    ++report.leaked;
  } else {
    CounterValues now = daemon.counters();
    report.slots = now["slabs_total"] * (kSlabBytes / kBlockBytes[0]);
    const std::uint64_t granted = reserve_all(space, report.slots);
    if (granted != report.slots) {
      report.leaked += report.slots - granted;
      report.text +=
          "of " + std::to_string(report.slots) + " slots only " + std::to_string(granted) + " can be had; ";
    }
  }
  kvc_space_close(space);
  kvc_client_close(client);
}

}  // namespace

std::string unsettled(const DaemonHost& daemon, std::uint64_t sessions) {
  CounterValues now = daemon.counters();
  std::string text;
  const auto expect = [&](const char* name, std::uint64_t value) {
    if (now[name] != value) text += std::string(name) + "=" + std::to_string(now[name]) + " ";
  };
  expect("sessions", sessions);
  for (const char* name : {"zombies", "blocks_writing", "slots_quarantined", "blocks_draining"})
    expect(name, 0);
  if (sessions == 0) expect("slots_stocked", 0);
  return text;
}

LeakReport check_leaks(const DaemonHost& daemon) {
  LeakReport report;
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + kSettleNs;
  std::string text = unsettled(daemon, 0);
  while (!text.empty() && clock.now_ns() < deadline_ns) {
    ::usleep(1000);
    text = unsettled(daemon, 0);
  }
  if (!text.empty()) {
    ++report.leaked;
    report.text = "without clients: " + text + "; ";
  }
  take_all(daemon, report);
  return report;
}

}  // namespace kvtier::kill
