#include "libkvclient/wire/directory.h"

#include <string>

namespace kvtier {

DirectoryLine::ValueWords residency_pack(const Residency& at) {
  return {at.host.generation | (std::uint64_t{at.host_flags} << kGenerationBits),
          at.gpu.generation | (std::uint64_t{at.gpu_flags} << kGenerationBits),
          at.host.slot.bits | (std::uint64_t{at.gpu.slot.bits} << 32)};
}

Status directory_mismatch(const std::string& what, std::uint64_t ours, std::uint64_t found, Code code) {
  return {code,
          "directory " + what + ": expected " + std::to_string(ours) + ", found " + std::to_string(found)};
}

Result<DirectoryHash> directory_check_header(std::span<const std::byte> memory) {
  if (memory.size() < DirectoryLayout::bytes_for(1)) {
    return directory_mismatch("mapping length, at least", DirectoryLayout::bytes_for(1), memory.size());
  }
  const auto* header = reinterpret_cast<const DirectoryHeader*>(memory.data());
  // acquire: the version is stored last, so the plain fields are there.
  const std::uint64_t version = header->version.load(std::memory_order_acquire);
  if (version != kDirectoryVersion) {
    return directory_mismatch("layout version", kDirectoryVersion, version, Code::kVersion);
  }
  if (header->magic != kDirectoryMagic) return directory_mismatch("magic", kDirectoryMagic, header->magic);
  const std::uint64_t capacity = header->capacity;
  if (capacity == 0 || capacity > kDirectoryCapacityMax) {
    return directory_mismatch("capacity, at most", kDirectoryCapacityMax, capacity);
  }
  if (DirectoryLayout::bytes_for(capacity) > memory.size()) {
    return directory_mismatch("mapping length for " + std::to_string(capacity) + " entries, at least",
                              DirectoryLayout::bytes_for(capacity), memory.size());
  }
  return DirectoryHash::of(header->seed, capacity);
}

}  // namespace kvtier
