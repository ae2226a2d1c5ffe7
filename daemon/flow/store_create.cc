// How a store starts: warm, over the memory of an earlier instance, or cold.
#include <algorithm>

#include "daemon/flow/admin.h"
#include "daemon/flow/adopt.h"
#include "daemon/flow/disk_open.h"
#include "daemon/flow/doubts.h"
#include "daemon/flow/evict.h"
#include "daemon/flow/slabs.h"
#include "daemon/flow/state.h"
#include "daemon/flow/store.h"
#include "daemon/flow/sync.h"
#include "libkvclient/base/entropy.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/limits.h"

namespace kvtier {
namespace {

std::uint32_t blocks_max(const StoreOptions& options) {
  if (options.blocks_max != 0) return options.blocks_max;
  constexpr std::uint64_t kBesideDisk = 4;  // most of them on disk only
  const std::uint64_t slots = options.host_bytes / kSlotAlignment;
  const std::uint64_t blocks = options.disk == nullptr ? slots : kBesideDisk * slots;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, 1U << 30));
}

RestartSizes restart_sizes(const StoreOptions& options, std::uint32_t slabs) {
  constexpr std::uint64_t kSpecBytesAll = 4 * kMiB;
  return {.tenants_max = options.namespaces_max,
          .spaces_max = options.spaces_max,
          .slabs = slabs,
          .sessions_max = options.sessions_max,
          .spec_bytes_max = kSpecBytesAll};
}

std::uint32_t slab_count(const HostMemoryOptions& options) {
  const std::uint64_t each =
      options.slab_bytes != 0 ? options.slab_bytes : HostMemory::default_slab_bytes(options.bytes);
  return each == 0 ? 0 : static_cast<std::uint32_t>((options.bytes + each - 1) / each);
}

Result<std::unique_ptr<StoreState>> make_state(const StoreOptions& options, const Clock& clock,
                                               FdStore& fds) {
  auto state = std::make_unique<StoreState>();
  state->options = options;
  state->clock = &clock;
  state->fds = &fds;
  state->chance = Prng(options.seed != 0 ? options.seed : entropy64());
  state->index = std::make_unique<KeyIndex>(state->chance.next());
  state->waits = WaitTable(options.sessions_max * kCompletionEntries);
  state->doubts.reserve(kDoubtsWaitingMax);
  state->syncs.reserve(kSyncsMax);
  state->deferred.reserve(options.sessions_max);
  state->stats.host_bytes = options.host_bytes;
  KV_RETURN_IF_ERROR(disk_create(*state, blocks_max(options)));
  state->evict_scratch.victims.reserve(kRequestKeysMax);
  state->evict_scratch.unsaved.reserve(kUnsavedMax);
  state->evict_scratch.passed_over.reserve(std::size_t{kEvictScanMax} * kEvictPassedOverFactor);
  return state;
}

Status start_cold(StoreState& state, const HostMemoryOptions& memory_options, const RestartSizes& sizes) {
  state.instance = {state.chance.next(), state.chance.next()};
  Result<HostMemory> memory = HostMemory::create(memory_options, *state.fds);
  if (!memory.is_ok()) return memory.status();
  state.memory = std::move(memory).value();
  Result<BlockTable> blocks = BlockTable::create(blocks_max(state.options), *state.fds);
  if (!blocks.is_ok()) return blocks.status();
  state.blocks = std::move(blocks).value();
  order_create(state);
  state.pins_stride = slabs_pins_stride(state.memory);
  Result<RestartState> restart = RestartState::create(sizes, *state.fds);
  if (!restart.is_ok()) return restart.status();
  state.restart = std::move(restart).value();
  RestartHeader& header = state.restart.header();
  header.host_bytes = state.options.host_bytes;
  header.slab_bytes = state.memory.slab_bytes();
  header.blocks_max = blocks_max(state.options);
  header.instance[0] = state.instance[0];
  header.instance[1] = state.instance[1];
  header.next_session_id = state.next_session_id;
  return Status::ok();
}

StoredFds take_stored(FdStore& fds) {
  StoredFds stored;
  for (StoredFd& each : fds.take_all()) stored[each.name] = std::move(each.fd);
  return stored;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::create(const StoreOptions& options, const Clock& clock, FdStore& fds) {
  const HostMemoryOptions memory{.bytes = options.host_bytes,
                                 .slab_bytes = options.slab_bytes,
                                 .pages = options.pages,
                                 .lock = options.lock,
                                 .slab_done = options.slab_done,
                                 .available = options.memory_available};
  const RestartSizes sizes = restart_sizes(options, slab_count(memory));
  StoredFds stored = take_stored(fds);
  std::vector<std::string> names;
  for (const auto& [name, fd] : stored) names.push_back(name);
  Result<std::unique_ptr<State>> made = make_state(options, clock, fds);
  if (!made.is_ok()) return made.status();
  std::unique_ptr<State> state = std::move(made).value();
  if (!stored.empty()) {
    const Adoption adopted = adopt_all(*state, memory, sizes, blocks_max(options), std::move(stored));
    if (adopted.is_refused) return adopted.status;
    if (!adopted.status.is_ok()) {
      const std::string reason = adopted.status.to_string();
      if (options.on_cold) options.on_cold(reason);
      // The memory of the earlier instance goes first: the tier is never held twice by us.
      state.reset();
      made = make_state(options, clock, fds);
      if (!made.is_ok()) return made.status();
      state = std::move(made).value();
      state->cold_reason = reason;
      for (const std::string& name : names) fds.remove(name);
      KV_RETURN_IF_ERROR(start_cold(*state, memory, sizes));
    }
  } else {
    KV_RETURN_IF_ERROR(start_cold(*state, memory, sizes));
  }
  state->stats.slabs_total = state->memory.slab_count();
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

}  // namespace kvtier
