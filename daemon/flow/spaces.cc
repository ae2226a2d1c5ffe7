#include <algorithm>

#include "daemon/flow/disk_open.h"
#include "daemon/flow/sessions.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

SpaceGrant grant_of(const Tenant& tenant, std::size_t place) {
  const Space& space = tenant.spaces[place];
  return {SpaceId{static_cast<std::uint32_t>(place + 1)}, space.block_bytes,
          tenant.classes[space.slot_class].slot_bytes, space.digest};
}

std::uint32_t space_class(StoreState& state, Tenant& tenant, std::uint64_t slot_bytes) {
  for (std::uint32_t i = 0; i < tenant.classes.size(); ++i) {
    if (tenant.classes[i].slot_bytes == slot_bytes) return i;
  }
  SlotClass slot_class;
  slot_class.slot_bytes = slot_bytes;
  slot_class.evictor = order_evictor(state);
  tenant.classes.push_back(std::move(slot_class));
  return static_cast<std::uint32_t>(tenant.classes.size() - 1);
}

bool is_known(const Tenant& tenant, const Digest& digest) {
  return std::ranges::any_of(tenant.spaces, [&](const Space& space) { return space.digest == digest; });
}

}  // namespace

void space_add(StoreState& state, Tenant& tenant, const Digest& digest, std::span<const std::byte> encoding,
               Spec spec) {
  Space space;
  space.digest = digest;
  space.encoding.assign(encoding.begin(), encoding.end());
  space.block_bytes = spec.block_bytes();
  space.slot_class = space_class(state, tenant, round_up(space.block_bytes, kSlotAlignment));
  space.spec = std::move(spec);
  tenant.spaces.push_back(std::move(space));
  disk_describe(state, tenant, tenant.spaces.back());
}

Result<SpaceGrant> space_register(StoreState& state, Session& session, std::span<const std::byte> encoding) {
  Tenant& tenant = state.tenant_of(session);
  // Who only reads takes no place that a writer may need: a spec stays until a cold start.
  const bool is_half_used = state.restart.header().space_count >= state.options.spaces_max / 2;
  if (session.request.is_read_only && is_half_used && !is_known(tenant, sha256(encoding))) {
    return Status(Code::kDenied,
                  "half of limits.spaces_max specs are registered, and the rest is for clients that may "
                  "write; let one of them register it first");
  }
  return space_open(state, tenant, encoding);
}

Result<SpaceGrant> space_open(StoreState& state, Tenant& tenant, std::span<const std::byte> encoding) {
  Result<Spec> spec = decode_spec(encoding);
  if (!spec.is_ok()) return spec.status().while_doing("registering a space");
  const Digest digest = sha256(encoding);
  for (std::size_t i = 0; i < tenant.spaces.size(); ++i) {
    if (tenant.spaces[i].digest == digest) return grant_of(tenant, i);
  }
  if (state.restart.header().space_count >= state.options.spaces_max) {
    return Status(Code::kNoSpace,
                  "limits.spaces_max is " + std::to_string(state.options.spaces_max) +
                      " and all namespaces together have that many specs; a spec stays until a "
                      "cold start: raise it");
  }
  const std::uint64_t slot_bytes = round_up(spec.value().block_bytes(), kSlotAlignment);
  if (slot_bytes > state.memory.slab_bytes()) {
    return Status(Code::kInvalid, "a block of this spec takes " + format_size(slot_bytes) +
                                      " and host.slab_bytes is " + format_size(state.memory.slab_bytes()) +
                                      "; raise host.slab_bytes");
  }
  if (state.restart.add_space(tenant.id, encoding) != Code::kOk) {
    return Status(Code::kNoSpace,
                  "the specs of all namespaces together take too much memory; use fewer spaces");
  }
  space_add(state, tenant, digest, encoding, std::move(spec).value());
  return grant_of(tenant, tenant.spaces.size() - 1);
}

}  // namespace kvtier
