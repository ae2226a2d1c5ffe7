#include "daemon/flow/directory_growth.h"

#include <algorithm>
#include <string>

#include "daemon/flow/cool.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kBlocksMin = 4096;

// Blocks that the namespace has at most, with the slot sizes that it uses now.
std::uint64_t blocks_possible(const StoreState& state, const Tenant& tenant) {
  if (state.disk) return state.blocks.blocks_max();
  std::uint64_t smallest = ~std::uint64_t{0};
  for (const SlotClass& slot_class : tenant.classes) smallest = std::min(smallest, slot_class.slot_bytes);
  return state.memory.bytes() / smallest;
}

std::uint64_t capacity_for(const StoreState& state, const Tenant& tenant, std::uint64_t slots) {
  const std::uint64_t wanted =
      std::max({std::min(2 * slots, blocks_possible(state, tenant)), slots, kBlocksMin});
  return std::min(wanted, kDirectoryCapacityMax);
}

// An eighth is left when it begins: its inserts pay for the growth.
bool is_nearly_full(const Directory& directory, std::uint64_t slots) {
  const std::uint64_t capacity = directory.capacity_to_come();
  return slots > capacity - capacity / 8;
}

// Slots, and cold blocks, which have none.
std::uint64_t slots_of(const Tenant& tenant) {
  std::uint64_t slots = tenant.blocks_cold;
  for (const SlotClass& slot_class : tenant.classes) slots += slot_class.slots;
  return slots;
}

Status begin(StoreState& state, Tenant& tenant, std::uint64_t slots) {
  const std::uint64_t capacity = capacity_for(state, tenant, slots);
  if (tenant.directory.is_growing() || capacity <= tenant.directory.capacity()) return Status::ok();
  KV_RETURN_IF_ERROR(tenant.directory.begin_growth(capacity, state.chance.next())
                         .while_doing("growing the directory of namespace " + tenant.name));
  tenant.growth_owed = 0;
  ++state.directories_growing;
  return Status::ok();
}

std::string fd_name(const Tenant& tenant) {
  return "namespace" + std::to_string(index_of(tenant.id)) + ".directory";
}

// No memory, or nobody to keep the descriptor: the next slab, or the next entry without room, tries again.
void abandon(StoreState& state, Tenant& tenant) {
  tenant.directory.drop_growth();
  --state.directories_growing;
  ++state.stats.directory_grows_failed;
}

void finish(StoreState& state, Tenant& tenant) {
  if (!state.fds->put(fd_name(tenant), tenant.directory.fd()).is_ok()) return abandon(state, tenant);
  tenant.directory.finish_growth();
  --state.directories_growing;
  ++tenant.directory_epoch;
  ++state.stats.directory_grows;
  for (const SessionIndex index : tenant.sessions) {
    if (state.session(index)->life != Session::Life::kAttached) continue;
    state.outbox->push_back({.kind = OutEvent::Kind::kDirectoryMoved,
                             .session = index,
                             .epoch = static_cast<std::uint32_t>(tenant.directory_epoch)});
  }
  // Slabs that came meanwhile may fill this one too.
  if (is_nearly_full(tenant.directory, slots_of(tenant))) (void)begin(state, tenant, slots_of(tenant));
}

void advance(StoreState& state, Tenant& tenant) {
  const Result<bool> is_complete = tenant.directory.grow_some();
  if (!is_complete.is_ok()) return abandon(state, tenant);
  if (is_complete.value()) finish(state, tenant);
}

void complete(StoreState& state, Tenant& tenant) {
  while (tenant.directory.is_growing()) advance(state, tenant);
}

// What is left, spread over the entries that still find room: at the last of them nothing is left. Paid in whole
// steps; by an entry without room, which only the smallest directory ever sees, all of them.
void pay(StoreState& state, Tenant& tenant) {
  Directory& directory = tenant.directory;
  if (directory.room() == 0) return complete(state, tenant);
  const std::uint64_t unpaid =
      directory.growth_left() - std::min(directory.growth_left(), tenant.growth_owed);
  tenant.growth_owed += (unpaid + directory.room() - 1) / directory.room();
  while (directory.is_growing() &&
         tenant.growth_owed >= std::min<std::uint64_t>(Directory::kStepEntries, directory.growth_left())) {
    tenant.growth_owed -= std::min<std::uint64_t>(tenant.growth_owed, Directory::kStepEntries);
    advance(state, tenant);
  }
}

}  // namespace

Residency directory_residency(const BlockRecord& record) {
  Residency at;
  if (record.state != BlockState::kCold) at.host = {record.slot, record.generation};
  if (record.state == BlockState::kWriting || record.state == BlockState::kRestoring)
    at.host_flags = kFlagPending;
  if ((record.flags & kBlockOnDisk) != 0) at.host_flags |= kFlagOnDisk;
  return at;
}

Residency directory_cold() {
  Residency at;
  at.host_flags = kFlagOnDisk;
  return at;
}

Status directory_create(StoreState& state, Tenant& tenant) {
  Result<Directory> directory = Directory::create(kBlocksMin, state.chance.next());
  if (!directory.is_ok())
    return directory.status().while_doing("creating the directory of namespace " + tenant.name);
  KV_RETURN_IF_ERROR(state.fds->put(fd_name(tenant), directory.value().fd()));
  tenant.directory = std::move(directory).value();
  return Status::ok();
}

Status directory_make_room(StoreState& state, Tenant& tenant, std::uint64_t more) {
  const std::uint64_t slots = slots_of(tenant) + more;
  // One without entries has time: clients that begin now would miss blocks until they had the larger one.
  const bool has_entries = tenant.directory.size() > 0;
  if (has_entries ? !is_nearly_full(tenant.directory, slots) : slots <= tenant.directory.capacity())
    return Status::ok();
  const Status begun = begin(state, tenant, slots);
  // Nothing to copy, and nobody reads it: at once, so that the first blocks are not written under two directories.
  if (tenant.directory.size() == 0) complete(state, tenant);
  return slots <= tenant.directory.capacity() ? Status::ok() : begun;
}

Code directory_insert(StoreState& state, Tenant& tenant, const EntryView& entry) {
  Directory& directory = tenant.directory;
  if (directory.is_growing()) pay(state, tenant);
  if (directory.room() == 0 && begin(state, tenant, slots_of(tenant)).is_ok()) complete(state, tenant);
  if (directory.room() == 0 && tenant.blocks_cold > 0) (void)cold_drop_coldest(state, &tenant);
  return directory.insert(entry);
}

std::size_t directory_grow_step(StoreState& state) {
  if (state.directories_growing == 0) return 0;
  for (Tenant& tenant : state.tenants) {
    if (!tenant.directory.is_growing()) continue;
    advance(state, tenant);
    return 1;
  }
  return 0;
}

}  // namespace kvtier
