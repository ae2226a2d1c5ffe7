#include "daemon/flow/directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "libkvclient/base/check.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::uint64_t bytes_for(std::uint64_t capacity) {
  return round_up(DirectoryLayout::bytes_for(capacity), kPageBytes);
}

// Mapped, not formatted.
Result<DirectoryMemory> map_memory(UniqueFd fd, std::uint64_t bytes) {
  Result<UniqueFd> read_fd = shm_reopen_read_only(fd.get());
  if (!read_fd.is_ok()) return read_fd.status();
  Result<ShmMapping> mapping = ShmMapping::map(fd.get(), bytes, ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status();
  return DirectoryMemory{std::move(fd), std::move(read_fd).value(), std::move(mapping).value(), {}, 0};
}

Result<DirectoryMemory> make_memory(std::uint64_t capacity, bool reserve_pages) {
  const std::uint64_t bytes = bytes_for(capacity);
  Result<UniqueFd> fd = shm_create("kvtier-directory", bytes, {.reserve_pages = reserve_pages});
  if (!fd.is_ok()) return fd.status();
  return map_memory(std::move(fd).value(), bytes);
}

// Before the small pages are reserved: to copy them together takes longer. Where there is no huge page they stay
// small; `directory_bytes_huge` says so.
void gather_huge_page(DirectoryMemory& memory, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == kHugePageBytes && memory.mapping.gather_huge_pages(offset, bytes)) memory.bytes_huge += bytes;
}

Status format(DirectoryMemory& memory, std::uint64_t capacity, std::uint64_t seed) {
  Result<DirectoryWriter> writer = DirectoryWriter::create(memory.mapping.bytes(), capacity, seed);
  if (!writer.is_ok()) return writer.status();
  memory.writer = std::move(writer).value();
  return Status::ok();
}

}  // namespace

Result<Directory> Directory::create(std::uint64_t capacity, std::uint64_t seed) {
  Result<DirectoryMemory> memory = make_memory(capacity, true);
  if (!memory.is_ok()) return memory.status();
  Directory directory;
  directory.now_ = std::move(memory).value();
  KV_RETURN_IF_ERROR(format(directory.now_, capacity, seed));
  return directory;
}

Result<Directory> Directory::adopt(UniqueFd fd) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return Status::from_errno("fstat", errno);
  const Result<std::uint64_t> bytes = shm_verify(fd.get(), static_cast<std::uint64_t>(info.st_size));
  if (!bytes.is_ok()) return bytes.status();
  Result<DirectoryMemory> memory = map_memory(std::move(fd), bytes.value());
  if (!memory.is_ok()) return memory.status();
  Directory directory;
  directory.now_ = std::move(memory).value();
  for (std::uint64_t at = 0; at + kHugePageBytes <= bytes.value(); at += kHugePageBytes) {
    gather_huge_page(directory.now_, at, kHugePageBytes);  // the same page again costs nothing
  }
  Result<DirectoryWriter> writer = DirectoryWriter::adopt(directory.now_.mapping.bytes());
  if (!writer.is_ok()) return writer.status();
  directory.now_.writer = std::move(writer).value();
  return directory;
}

Code Directory::insert(const EntryView& entry) {
  const Code code = now_.writer.insert(entry);
  // The larger one has room. Without a window for this key it lacks an entry, which is a miss.
  if (code == Code::kOk && growth_ && growth_->is_formatted) (void)growth_->larger.writer.insert(entry);
  return code;
}

Code Directory::update(SpaceId space, const Key& key, const Residency& at) {
  // Not there yet: it will be copied as it is then.
  if (growth_ && growth_->is_formatted) (void)growth_->larger.writer.update(space, key, at);
  return now_.writer.update(space, key, at);
}

Code Directory::remove(SpaceId space, const Key& key) {
  if (growth_ && growth_->is_formatted) (void)growth_->larger.writer.remove(space, key);
  return now_.writer.remove(space, key);
}

std::uint64_t Directory::bytes_reserved() const {
  return now_.mapping.size() + (growth_ ? growth_->bytes_reserved : 0);
}

std::uint64_t Directory::capacity_to_come() const {
  return growth_ ? growth_->capacity : capacity();
}

Status Directory::begin_growth(std::uint64_t capacity, std::uint64_t seed) {
  KV_CHECK(!growth_, "a directory grows once at a time");
  Result<DirectoryMemory> memory = make_memory(capacity, false);
  if (!memory.is_ok()) return memory.status();
  growth_ = std::make_unique<Growth>();
  growth_->larger = std::move(memory).value();
  growth_->capacity = capacity;
  growth_->seed = seed;
  return Status::ok();
}

Result<bool> Directory::grow_some() {
  Growth& growth = *growth_;
  const std::uint64_t bytes = growth.larger.mapping.size();
  if (growth.bytes_reserved < bytes) {
    const std::uint64_t some = std::min(kStepBytes, bytes - growth.bytes_reserved);
    gather_huge_page(growth.larger, growth.bytes_reserved, some);
    KV_RETURN_IF_ERROR(shm_reserve(growth.larger.fd.get(), growth.bytes_reserved, some));
    growth.bytes_reserved += some;
    return false;
  }
  if (growth.is_formatted) return copy_some();
  KV_RETURN_IF_ERROR(format(growth.larger, growth.capacity, growth.seed));
  growth.is_formatted = true;
  growth.copy_end = now_.writer.entries_used();
  return false;
}

Result<bool> Directory::copy_some() {
  Growth& growth = *growth_;
  const std::uint32_t end = std::min(growth.copy_end, growth.copied + kStepEntries);
  for (; growth.copied < end; ++growth.copied) {
    EntryView entry;
    if (now_.writer.read(growth.copied, entry))
      (void)growth.larger.writer.insert(entry);  // kExists: it was changed
  }
  return growth.copied == growth.copy_end;
}

std::uint64_t Directory::growth_left() const {
  const Growth& growth = *growth_;
  const std::uint64_t pages = growth.larger.mapping.size() - growth.bytes_reserved;
  const std::uint32_t end = growth.is_formatted ? growth.copy_end : now_.writer.entries_used();
  return (pages + kStepBytes - 1) / kStepBytes * kStepEntries + end - growth.copied;
}

void Directory::finish_growth() {
  now_.writer.mark_moved();
  now_ = std::move(growth_->larger);
  growth_.reset();
}

}  // namespace kvtier
