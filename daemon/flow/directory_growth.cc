#include "daemon/flow/directory_growth.h"

#include <algorithm>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kBlocksMin = 4096;

Result<Directory> make_directory(StoreState& state, const Tenant& tenant, std::uint64_t blocks) {
  const std::uint64_t capacity = std::min(std::max(blocks, kBlocksMin), kDirectoryCapacityMax);
  const std::uint64_t bytes = round_up(DirectoryLayout::bytes_for(capacity), kPageBytes);
  Result<UniqueFd> fd = shm_create("kvtier-directory", bytes, {});
  if (!fd.is_ok()) return fd.status().while_doing("creating the directory of namespace " + tenant.name);
  Result<UniqueFd> read_fd = shm_reopen_read_only(fd.value().get());
  if (!read_fd.is_ok()) return read_fd.status();
  Result<ShmMapping> mapping = ShmMapping::map(fd.value().get(), bytes, ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status();
  Result<DirectoryWriter> writer =
      DirectoryWriter::create(mapping.value().bytes(), capacity, state.chance.next());
  if (!writer.is_ok()) return writer.status();
  KV_RETURN_IF_ERROR(
      state.fds->put("namespace" + std::to_string(index_of(tenant.id)) + ".directory", fd.value().get()));
  return Directory{std::move(fd).value(), std::move(read_fd).value(), std::move(mapping).value(),
                   writer.value()};
}

void fill(StoreState& state, const Tenant& tenant, DirectoryWriter& writer) {
  for (std::uint32_t i = 0; i < state.blocks.limit(); ++i) {
    const BlockRecord& record = state.blocks[BlockId{i}];
    if (record.tenant != index_of(tenant.id)) continue;
    if (record.state != BlockState::kReady && record.state != BlockState::kWriting) continue;
    (void)writer.insert({record.space, record.key, directory_residency(record)});
  }
}

}  // namespace

Residency directory_residency(const BlockRecord& record) {
  Residency at;
  at.host = {record.slot, record.generation};
  if (record.state == BlockState::kWriting) at.host_flags = kFlagPending;
  return at;
}

Status directory_create(StoreState& state, Tenant& tenant, std::uint64_t blocks) {
  Result<Directory> directory = make_directory(state, tenant, blocks);
  if (!directory.is_ok()) return directory.status();
  tenant.directory = std::move(directory).value();
  return Status::ok();
}

namespace {

// Blocks that the namespace could ever have with the slot sizes that it uses now.
std::uint64_t blocks_possible(StoreState& state, const Tenant& tenant) {
  std::uint64_t smallest = ~0ULL;
  for (const SlotClass& slot_class : tenant.classes) smallest = std::min(smallest, slot_class.slot_bytes);
  return state.memory.bytes() / smallest;
}

}  // namespace

Status directory_make_room(StoreState& state, Tenant& tenant, std::uint64_t more) {
  std::uint64_t blocks = more;
  for (const SlotClass& slot_class : tenant.classes) blocks += slot_class.slots;
  if (blocks <= tenant.directory.writer.capacity()) return Status::ok();
  Result<Directory> larger =
      make_directory(state, tenant, std::max(blocks, std::min(2 * blocks, blocks_possible(state, tenant))));
  if (!larger.is_ok()) return larger.status();
  fill(state, tenant, larger.value().writer);
  tenant.directory.writer.mark_moved();
  tenant.directory = std::move(larger).value();
  ++tenant.directory_epoch;
  ++state.stats.directory_grows;
  for (const SessionIndex index : tenant.sessions) {
    if (state.session(index)->life != Session::Life::kAttached) continue;
    state.outbox->push_back({.kind = OutEvent::Kind::kDirectoryMoved,
                             .session = index,
                             .epoch = static_cast<std::uint32_t>(tenant.directory_epoch)});
  }
  return Status::ok();
}

}  // namespace kvtier
