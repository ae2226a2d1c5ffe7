#include "daemon/model/restart_state.h"

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
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

Status changed(std::string_view setting, const std::string& before, const std::string& now) {
  return {Code::kVersion, std::string(setting) + " was " + before +
                              " when the earlier instance started and is " + now +
                              " now: with the old value the start is warm"};
}

Status check_sizes(const RestartSizes& before, const RestartSizes& now) {
  KV_RETURN_IF_ERROR(setting_unchanged("limits.namespaces_max", before.tenants_max, now.tenants_max));
  KV_RETURN_IF_ERROR(setting_unchanged("limits.spaces_max", before.spaces_max, now.spaces_max));
  KV_RETURN_IF_ERROR(setting_unchanged("limits.clients_max", before.sessions_max, now.sessions_max));
  KV_RETURN_IF_ERROR(setting_unchanged("host.bytes / host.slab_bytes", before.slabs, now.slabs));
  return setting_unchanged("memory for specs", before.spec_bytes_max, now.spec_bytes_max);
}

Result<std::uint64_t> size_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Status::from_errno("fstat", errno);
  return shm_verify(fd, static_cast<std::uint64_t>(info.st_size));
}

}  // namespace

Status setting_unchanged(std::string_view setting, std::uint64_t before, std::uint64_t now) {
  if (before == now) return Status::ok();
  return changed(setting, std::to_string(before), std::to_string(now));
}

Status size_unchanged(std::string_view setting, std::uint64_t before, std::uint64_t now) {
  if (before == now) return Status::ok();
  const bool looks_same = format_size(before) == format_size(now);  // rounded
  return looks_same ? changed(setting, std::to_string(before) + " B", std::to_string(now) + " B")
                    : changed(setting, format_size(before), format_size(now));
}

Status RestartState::map(UniqueFd fd, const RestartSizes& sizes) {
  const Result<std::uint64_t> size = size_of(fd.get());
  if (!size.is_ok()) return size.status();
  if (size.value() < kPageBytes) return {Code::kInvalid, "it is too small"};
  Result<ShmMapping> mapping = ShmMapping::map(fd.get(), size.value(), ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status();
  sizes_ = sizes;
  at_ = RestartAreas::of(sizes);
  fd_ = std::move(fd);
  mapping_ = std::move(mapping).value();
  return Status::ok();
}

Result<RestartState> RestartState::create(const RestartSizes& sizes, FdStore& fds) {
  const RestartAreas at = RestartAreas::of(sizes);
  Result<UniqueFd> fd = shm_create("kvtier-state", at.bytes, {.reserve_pages = false});
  if (!fd.is_ok()) return fd.status().while_doing("creating the restart state");
  KV_RETURN_IF_ERROR(shm_reserve(fd.value().get(), 0, at.specs).while_doing("creating the restart state"));
  KV_RETURN_IF_ERROR(fds.put("state", fd.value().get()));
  RestartState state;
  KV_RETURN_IF_ERROR(state.map(std::move(fd).value(), sizes));
  state.header().magic = kMagic;
  state.header().layout = restart_layout();
  state.header().sizes = sizes;
  return state;
}

Result<RestartState> RestartState::adopt(UniqueFd fd, const RestartSizes& sizes, const HeaderCheck& check) {
  RestartState state;
  KV_RETURN_IF_ERROR(state.map(std::move(fd), sizes).while_doing("checking the restart state"));
  const RestartHeader& header = state.header();
  if (header.magic != kMagic || header.layout != restart_layout()) {
    return Status(Code::kVersion, "the earlier instance's memory has layout " +
                                      std::to_string(header.layout) + ", this one's is " +
                                      std::to_string(restart_layout()));
  }
  if (check) KV_RETURN_IF_ERROR(check(header));
  KV_RETURN_IF_ERROR(check_sizes(header.sizes, sizes));
  if (state.mapping_.size() != state.at_.bytes)
    return Status(Code::kCorrupt, "the restart state has another length than its sizes say");
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
  const std::uint64_t first_page = (at_.specs + all.spec_bytes) / kPageBytes * kPageBytes;
  const std::uint64_t end = round_up(at_.specs + all.spec_bytes + encoding.size(), kPageBytes);
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
