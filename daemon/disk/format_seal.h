#pragma once
// The prefix of every structure: written last, checked first. A checksum is checked before the version, so that
// a flipped bit is damage and never "a newer version", and only an intact unknown version is refused as one.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"

namespace kvtier {

/// XXH3 of bytes[24, end), its seed XXH3 of the first 16 bytes as they must be.
std::uint64_t seal_checksum(std::uint64_t magic, std::uint32_t version, std::span<const std::byte> bytes);

/// Writes the prefix of a structure of bytes.size() bytes.
void seal(std::uint64_t magic, std::span<std::byte> bytes);

/// Whether `bytes` begin with an intact structure of this kind, whatever its fields say. `bytes` may be longer;
/// shorter than `bytes_min` is kTruncated.
DiskFault check_seal(std::uint64_t magic, std::uint32_t bytes_min, std::span<const std::byte> bytes);

/// check_seal of a structure of fixed size, which is copied out. Give kHeaderBytesMax bytes where there are, so that a
/// damaged length is not taken for a short read.
template <class T>
DiskFault copy_sealed(std::uint64_t magic, std::span<const std::byte> bytes, T& out);

FormatPrefix read_prefix(std::span<const std::byte> bytes);
bool is_all_zero(std::span<const std::byte> bytes);

/// Whether `found` is this very use of this very segment; kMisplaced and kOtherStore before kStale.
DiskFault compare_identity(const SegmentIdentity& expected, const SegmentIdentity& found);
/// The same without generation and epoch: for what tells them.
DiskFault compare_place(const SegmentIdentity& expected, const SegmentIdentity& found);

/// Of `kvtier namespace`, a NUL, and the name.
Digest namespace_digest(std::string_view name);

template <class T>
DiskFault copy_sealed(std::uint64_t magic, std::span<const std::byte> bytes, T& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  const DiskFault fault = check_seal(magic, sizeof(T), bytes);
  if (fault != DiskFault::kNone) return fault;
  std::memcpy(&out, bytes.data(), sizeof(T));
  return out.prefix.bytes == sizeof(T) ? DiskFault::kNone : DiskFault::kMalformed;
}

}  // namespace kvtier
