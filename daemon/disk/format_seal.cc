#include "daemon/disk/format_seal.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "libkvclient/base/checksum.h"

namespace kvtier {
namespace {

bool is_ours(std::uint64_t magic) {
  return magic == kSuperblockMagic || magic == kSegmentMagic || magic == kRecordMagic ||
         magic == kTrailerMagic;
}

bool is_plausible(std::uint32_t length) {
  return length > sizeof(FormatPrefix) && length <= kHeaderBytesMax && length % 8 == 0;
}

bool is_intact(std::uint64_t magic, const FormatPrefix& prefix, std::span<const std::byte> bytes) {
  return is_plausible(prefix.bytes) && prefix.bytes <= bytes.size() &&
         seal_checksum(magic, prefix.version, bytes.first(prefix.bytes)) == prefix.checksum;
}

// A wrong magic over a right checksum is a flipped magic.
DiskFault classify_magic(std::uint64_t magic, const FormatPrefix& prefix, std::span<const std::byte> bytes) {
  if (is_intact(magic, prefix, bytes)) return DiskFault::kHeaderDamaged;
  if (is_all_zero(bytes.first(std::min<std::size_t>(bytes.size(), kSectorBytes)))) return DiskFault::kEmpty;
  return is_ours(prefix.magic) ? DiskFault::kMisplaced : DiskFault::kForeign;
}

}  // namespace

FormatPrefix read_prefix(std::span<const std::byte> bytes) {
  FormatPrefix prefix{};
  if (bytes.size() >= sizeof prefix) std::memcpy(&prefix, bytes.data(), sizeof prefix);
  return prefix;
}

bool is_all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

std::uint64_t seal_checksum(std::uint64_t magic, std::uint32_t version, std::span<const std::byte> bytes) {
  const FormatPrefix head{magic, version, static_cast<std::uint32_t>(bytes.size()), 0};
  const std::uint64_t seed =
      checksum64(std::as_bytes(std::span(&head, 1)).first(offsetof(FormatPrefix, checksum)));
  return checksum64(bytes.subspan(sizeof head), seed);
}

void seal(std::uint64_t magic, std::span<std::byte> bytes) {
  const FormatPrefix prefix{magic, kFormatVersion, static_cast<std::uint32_t>(bytes.size()),
                            seal_checksum(magic, kFormatVersion, bytes)};
  std::memcpy(bytes.data(), &prefix, sizeof prefix);
}

DiskFault check_seal(std::uint64_t magic, std::uint32_t bytes_min, std::span<const std::byte> bytes) {
  if (bytes.size() < bytes_min) return DiskFault::kTruncated;
  const FormatPrefix prefix = read_prefix(bytes);
  if (prefix.magic != magic) return classify_magic(magic, prefix, bytes);
  if (!is_plausible(prefix.bytes)) return DiskFault::kHeaderDamaged;
  if (prefix.bytes > bytes.size()) return DiskFault::kTruncated;
  if (!is_intact(magic, prefix, bytes)) return DiskFault::kHeaderDamaged;
  return prefix.version == kFormatVersion ? DiskFault::kNone : DiskFault::kVersion;
}

DiskFault compare_place(const SegmentIdentity& expected, const SegmentIdentity& found) {
  if (found.store != expected.store) return DiskFault::kOtherStore;
  const bool is_here = found.path == expected.path && found.segment == expected.segment;
  return is_here ? DiskFault::kNone : DiskFault::kMisplaced;
}

DiskFault compare_identity(const SegmentIdentity& expected, const SegmentIdentity& found) {
  const DiskFault fault = compare_place(expected, found);
  if (fault != DiskFault::kNone) return fault;
  const bool is_this_use = found.generation == expected.generation && found.epoch == expected.epoch;
  return is_this_use ? DiskFault::kNone : DiskFault::kStale;
}

Digest namespace_digest(std::string_view name) {
  std::string text("kvtier namespace");
  text.push_back('\0');
  text.append(name);
  return sha256(std::as_bytes(std::span(text)));
}

}  // namespace kvtier
