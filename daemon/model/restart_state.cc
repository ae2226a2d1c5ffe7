#include "daemon/model/restart_state.h"

#include <atomic>
#include <cstring>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kMagic = 0x5452415453455254ULL;

// The compiler must not move a record's fields behind the store that publishes it; the processor's order does
// not matter to a process that starts after this one has ended.
void publish_barrier() {
  std::atomic_signal_fence(std::memory_order_release);
}

}  // namespace

void RestartState::lay_out(const RestartSizes& sizes) {
  sizes_ = sizes;
  tenants_at_ = 4096;
  spaces_at_ = tenants_at_ + round_up(sizes.tenants_max * sizeof(RestartTenant), 64);
  slabs_at_ = spaces_at_ + round_up(sizes.spaces_max * sizeof(RestartSpace), 64);
  sessions_at_ = slabs_at_ + round_up(sizes.slabs * sizeof(RestartSlab), 64);
  specs_at_ = round_up(sessions_at_ + sizes.sessions_max * sizeof(RestartSession), 4096);
  bytes_ = round_up(specs_at_ + sizes.spec_bytes_max, 4096);
}

Result<RestartState> RestartState::create(const RestartSizes& sizes, FdStore& fds) {
  RestartState state;
  state.lay_out(sizes);
  Result<UniqueFd> fd = shm_create("kvtier-state", state.bytes_, {.reserve_pages = false});
  if (!fd.is_ok()) return fd.status().while_doing("creating the restart state");
  KV_RETURN_IF_ERROR(
      shm_reserve(fd.value().get(), 0, state.specs_at_).while_doing("creating the restart state"));
  Result<ShmMapping> mapping = ShmMapping::map(fd.value().get(), state.bytes_, ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status();
  KV_RETURN_IF_ERROR(fds.put("state", fd.value().get()));
  state.fd_ = std::move(fd).value();
  state.mapping_ = std::move(mapping).value();
  state.header().magic = kMagic;
  state.header().layout = kRestartLayout;
  return state;
}

Result<RestartState> RestartState::adopt(UniqueFd fd, const RestartSizes& sizes) {
  RestartState state;
  state.lay_out(sizes);
  const Result<std::uint64_t> size = shm_verify(fd.get(), state.bytes_);
  if (!size.is_ok()) return size.status().while_doing("checking the restart state (were limits changed?)");
  Result<ShmMapping> mapping = ShmMapping::map(fd.get(), state.bytes_, ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status();
  state.fd_ = std::move(fd);
  state.mapping_ = std::move(mapping).value();
  if (state.header().magic != kMagic || state.header().layout != kRestartLayout) {
    return Status(Code::kVersion, "the earlier instance's memory has layout " +
                                      std::to_string(state.header().layout) + ", this one's is " +
                                      std::to_string(kRestartLayout));
  }
  return state;
}

void RestartState::add_tenant(std::string_view name, std::uint64_t bytes_max) {
  RestartTenant& tenant = tenants()[header().tenant_count];
  tenant.bytes_max = bytes_max;
  copy_name(name, tenant.name);
  publish_barrier();
  ++header().tenant_count;
}

Code RestartState::add_space(NamespaceId tenant, std::span<const std::byte> encoding) {
  RestartHeader& all = header();
  if (all.space_count >= sizes_.spaces_max || all.spec_bytes + encoding.size() > sizes_.spec_bytes_max) {
    return Code::kNoSpace;
  }
  // Specs are few, and their area is large for the case that they are not: its pages come with their use.
  const std::uint64_t first_page = (specs_at_ + all.spec_bytes) / kPageBytes * kPageBytes;
  const std::uint64_t end = round_up(specs_at_ + all.spec_bytes + encoding.size(), kPageBytes);
  if (!shm_reserve(fd_.get(), first_page, end - first_page).is_ok()) return Code::kNoSpace;
  std::memcpy(specs().data() + all.spec_bytes, encoding.data(), encoding.size());
  RestartSpace& space = spaces()[all.space_count];
  space = {index_of(tenant), static_cast<std::uint32_t>(encoding.size()), all.spec_bytes};
  all.spec_bytes += encoding.size();
  publish_barrier();
  ++all.space_count;
  return Code::kOk;
}

}  // namespace kvtier
