#include "daemon/memory/host_memory.h"

#include <algorithm>
#include <string>

#include "daemon/config/slab_size.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Status check_sizes(std::uint64_t bytes, std::uint64_t slab_bytes) {
  if (bytes % kPageBytes != 0 || bytes == 0) {
    return {Code::kInvalid,
            "host.bytes is " + std::to_string(bytes) + "; it must be a multiple of 4 KiB above 0"};
  }
  if (slab_bytes % kPageBytes != 0 || slab_bytes > bytes) {
    return {Code::kInvalid, "host.slab_bytes is " + format_size(slab_bytes) +
                                "; it must be a multiple of 4 KiB and at most host.bytes (" +
                                format_size(bytes) + ")"};
  }
  const std::uint64_t count = (bytes + slab_bytes - 1) / slab_bytes;
  if (count > SlotRef::kSlabsMax) {
    return {Code::kInvalid, "host.bytes / host.slab_bytes gives " + std::to_string(count) +
                                " slabs; at most " + std::to_string(SlotRef::kSlabsMax) +
                                ": raise host.slab_bytes"};
  }
  return Status::ok();
}

Status check_available(const HostMemoryOptions& options, std::uint64_t total, std::uint64_t taken,
                       std::uint64_t next) {
  if (!options.available) return Status::ok();
  const std::uint64_t available = options.available();
  if (available >= next) return Status::ok();
  return {Code::kNoSpace, "host.bytes is " + format_size(total) + "; " + format_size(taken) +
                              " are reserved and " + format_size(available) +
                              " more are available; lower host.bytes"};
}

}  // namespace

std::uint64_t HostMemory::default_slab_bytes(std::uint64_t tier_bytes) {
  return kvtier::default_slab_bytes(tier_bytes);
}

Result<HostMemory> HostMemory::create(const HostMemoryOptions& options, FdStore& fds) {
  Result<HostMemory> result = sized(options);
  if (!result.is_ok()) return result;
  HostMemory& memory = result.value();
  for (std::uint64_t at = 0; at < memory.bytes_; at += memory.slab_bytes_) {
    const SlabIndex index{static_cast<std::uint32_t>(memory.slabs_.size())};
    KV_RETURN_IF_ERROR(check_available(options, memory.bytes_, at, memory.bytes_of(at)));
    Result<Slab> slab = Slab::create(index, memory.bytes_of(at), options.pages, fds);
    if (!slab.is_ok()) {
      return slab.status().while_doing("host.bytes is " + format_size(memory.bytes_) + ", " +
                                       format_size(at) + " could be reserved; lower host.bytes");
    }
    KV_RETURN_IF_ERROR(memory.lock(slab.value(), options));
    memory.add(std::move(slab).value());
  }
  std::reverse(memory.unassigned_.begin(), memory.unassigned_.end());
  return result;
}

// After the first refusal no other slab is tried: the limit is one for all.
Status HostMemory::lock(Slab& slab, const HostMemoryOptions& options) {
  if (options.lock != MemoryLock::kOff && lock_refusal_.is_ok()) lock_refusal_ = slab.lock();
  if (options.lock == MemoryLock::kRequire && !lock_refusal_.is_ok()) {
    return lock_refusal_.while_doing("host.lock is require, host.bytes is " + format_size(bytes_) + " and " +
                                     format_size(locked_bytes()) + " could be locked");
  }
  if (options.slab_done) options.slab_done();
  return Status::ok();
}

Status HostMemory::lock_all(const HostMemoryOptions& options) {
  for (Slab& slab : slabs_) KV_RETURN_IF_ERROR(lock(slab, options));
  return Status::ok();
}

void HostMemory::add(Slab slab) {
  unassigned_.push_back(slab.index());
  slabs_.push_back(std::move(slab));
}

std::uint64_t HostMemory::locked_bytes() const {
  std::uint64_t bytes = 0;
  for (const Slab& slab : slabs_) bytes += slab.is_locked() ? slab.bytes() : 0;
  return bytes;
}

std::uint64_t HostMemory::huge_bytes() const {
  std::uint64_t bytes = 0;
  for (const Slab& slab : slabs_) bytes += slab.huge_bytes();
  return bytes;
}

std::uint64_t HostMemory::bytes_of(std::uint64_t at) const {
  return std::min(slab_bytes_, bytes_ - at);
}

Result<HostMemory> HostMemory::sized(const HostMemoryOptions& options) {
  HostMemory memory;
  memory.bytes_ = options.bytes;
  memory.slab_bytes_ = options.slab_bytes != 0 ? options.slab_bytes : default_slab_bytes(options.bytes);
  KV_RETURN_IF_ERROR(check_sizes(memory.bytes_, memory.slab_bytes_));
  return memory;
}

Result<HostMemory> HostMemory::adopt(const HostMemoryOptions& options,
                                     const std::function<UniqueFd(const std::string&)>& take) {
  Result<HostMemory> result = sized(options);
  if (!result.is_ok()) return result;
  HostMemory& memory = result.value();
  for (std::uint64_t at = 0; at < memory.bytes_; at += memory.slab_bytes_) {
    const SlabIndex index{static_cast<std::uint32_t>(memory.slabs_.size())};
    const std::string name = "slab" + std::to_string(index_of(index));
    Result<Slab> slab = Slab::adopt(index, memory.bytes_of(at), take(name + ".data"), take(name + ".slots"));
    if (!slab.is_ok()) return slab.status();
    memory.add(std::move(slab).value());
  }
  std::reverse(memory.unassigned_.begin(), memory.unassigned_.end());
  return result;
}

Status HostMemory::replace(Slab& slab, SlabPages pages, FdStore& fds) {
  const SlabIndex index = slab.index();
  const Generation floor = slab.table().generation_floor();
  const std::uint64_t bytes = slab.bytes();
  // The old pages go back before new ones are asked for: every mapping but ours is gone, so the tier is never
  // larger.
  KV_RETURN_IF_ERROR(shm_punch(slab.data_fd(true), 0, bytes));
  Result<Slab> fresh = Slab::create(index, bytes, pages, fds, floor);
  if (!fresh.is_ok()) return fresh.status();
  const bool was_locked = slab.is_locked();
  slab = std::move(fresh).value();
  // The old lock went with its mapping; a limit lowered since leaves this slab unlocked, as is counted.
  if (was_locked) (void)slab.lock();
  unassigned_.push_back(index);
  return Status::ok();
}

Slab* HostMemory::take_unassigned() {
  if (unassigned_.empty()) return nullptr;
  Slab& result = slab(unassigned_.back());
  unassigned_.pop_back();
  return &result;
}

}  // namespace kvtier
