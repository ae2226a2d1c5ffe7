#include "daemon/tier/space_table.h"

#include "daemon/disk/format_parts.h"
#include "daemon/disk/format_seal.h"
#include "daemon/tier/space_format.h"
#include "libkvclient/wire/spec.h"

namespace kvtier {
namespace {

std::uint64_t ids_of(NamespaceId tenant, SpaceId space) {
  return std::uint64_t{index_of(tenant)} << 32 | index_of(space);
}

}  // namespace

Status SpaceTable::describe(const std::shared_ptr<const DiskSpace>& space, bool is_kept) {
  const SpaceEntry* before = find(space->tenant, space->space);
  if (before != nullptr && before->described->digest == space->digest &&
      before->described->namespace_name == space->namespace_name)
    return Status::ok();
  const Result<Spec> spec = decode_spec(space->encoding);
  if (!spec.is_ok()) return spec.status().while_doing("describing a space to the NVMe tier");
  auto entry = std::make_unique<SpaceEntry>();
  KV_RETURN_IF_ERROR(plan_raw_parts(spec.value(), entry->shape));
  entry->described = space;
  entry->tenant = namespace_digest(space->namespace_name);
  entry->record = encode_space_record(*space);
  entry->is_kept = is_kept;
  tenants_[index_of(space->tenant)] = entry->tenant;
  by_digests_[{entry->tenant, space->digest}] = entry.get();
  by_ids_[ids_of(space->tenant, space->space)] = entry.get();
  entries_.push_back(std::move(entry));
  return Status::ok();
}

SpaceEntry* SpaceTable::find(NamespaceId tenant, SpaceId space) {
  const auto found = by_ids_.find(ids_of(tenant, space));
  return found == by_ids_.end() ? nullptr : found->second;
}

const SpaceEntry* SpaceTable::find(const Digest& tenant, const Digest& space) const {
  const auto found = by_digests_.find({tenant, space});
  return found == by_digests_.end() ? nullptr : found->second;
}

Digest SpaceTable::tenant_digest(NamespaceId tenant) const {
  const auto found = tenants_.find(index_of(tenant));
  return found == tenants_.end() ? Digest{} : found->second;
}

}  // namespace kvtier
