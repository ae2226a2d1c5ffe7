#pragma once
// The file of spaces, byte by byte (SPACES.md): which namespaces and specs the digests in a store's records stand for.
// Pure functions: no system call. Changes together with SPACES.md, the golden file and kFormatVersion.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/format.h"
#include "daemon/tier/disk_command.h"
#include "libkvclient/base/result.h"

namespace kvtier {

inline constexpr std::uint64_t kSpacesMagic = format_magic("KVTSPCES");
inline constexpr std::uint64_t kSpaceMagic = format_magic("KVTSPACE");
inline constexpr std::uint64_t kSpacesFileBytesMax = 256ULL << 20;

/// The file begins with it.
struct SpacesHeader {
  FormatPrefix prefix;
  std::uint64_t reserved[5];
};
static_assert(sizeof(SpacesHeader) == 64);

/// Before each body: name, encoding of the spec, zeros up to a multiple of 8.
struct SpaceRecordHeader {
  FormatPrefix prefix;
  std::uint64_t offset;  ///< of this header in the file
  std::uint64_t body_checksum;
  std::uint32_t body_bytes;  ///< padding included
  std::uint32_t name_bytes;
  std::uint32_t encoding_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(SpaceRecordHeader) == 56);
static_assert(offsetof(SpaceRecordHeader, offset) == 24 && offsetof(SpaceRecordHeader, body_bytes) == 40);

std::vector<std::byte> encode_spaces_header();
/// A record without its place: place_space_record() before it is written.
std::vector<std::byte> encode_space_record(const DiskSpace& space);
/// Seals a record of the function above for this offset of the file.
void place_space_record(std::span<std::byte> record, std::uint64_t offset);

struct SpacesFile {
  std::vector<DiskSpace> spaces;    ///< without ids; of equal ones the first
  std::uint64_t end = 0;            ///< where the next record goes; 0: the file is to be begun
  std::uint64_t corrupt_count = 0;  ///< records, or runs of bytes between two, that were skipped
  bool is_cut = false;              ///< beyond `end` was a record that was not written to its end
};

/// kVersion: something intact in it is of another format version, nothing may be changed. Everything else is read as far
/// as it goes.
Result<SpacesFile> parse_spaces(std::span<const std::byte> bytes);

}  // namespace kvtier
