#include "daemon/tier/space_format.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "daemon/disk/format_seal.h"
#include "libkvclient/base/checksum.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/spec.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kStep = 8;  ///< records begin at its multiples

/// The header at `offset`; kForeign: none begins there. Its body may end beyond the file.
DiskFault read_header(std::span<const std::byte> bytes, std::uint64_t offset, SpaceRecordHeader& header) {
  const std::span<const std::byte> rest = bytes.subspan(offset);
  if (rest.size() < sizeof header) return DiskFault::kTruncated;
  if (read_prefix(rest).magic != kSpaceMagic) return DiskFault::kForeign;
  const DiskFault fault = copy_sealed(kSpaceMagic, rest, header);
  if (fault != DiskFault::kNone) return fault;
  const std::uint64_t used = std::uint64_t{header.name_bytes} + header.encoding_bytes;
  const bool is_sound =
      header.offset == offset && header.body_bytes == round_up(used, kStep) && header.reserved == 0;
  return is_sound ? DiskFault::kNone : DiskFault::kMalformed;
}

bool has_space(const std::vector<DiskSpace>& spaces, const DiskSpace& space) {
  return std::ranges::any_of(spaces, [&](const DiskSpace& each) {
    return each.namespace_name == space.namespace_name && each.digest == space.digest;
  });
}

bool read_body(const SpaceRecordHeader& header, std::span<const std::byte> body, DiskSpace& space) {
  if (checksum64(body, kSpaceMagic) != header.body_checksum || header.name_bytes == 0) return false;
  space.namespace_name.assign(reinterpret_cast<const char*>(body.data()), header.name_bytes);
  const std::span<const std::byte> encoding = body.subspan(header.name_bytes, header.encoding_bytes);
  space.encoding.assign(encoding.begin(), encoding.end());
  const Result<Spec> spec = decode_spec(space.encoding);
  if (!spec.is_ok()) return false;
  space.digest = sha256(space.encoding);
  space.block_bytes = spec.value().block_bytes();
  return true;
}

/// Where the next intact header begins; bytes.size(): nowhere.
std::uint64_t find_header(std::span<const std::byte> bytes, std::uint64_t offset) {
  SpaceRecordHeader header{};
  for (; offset + sizeof header <= bytes.size(); offset += kStep) {
    const DiskFault fault = read_header(bytes, offset, header);
    if (fault == DiskFault::kNone || fault == DiskFault::kVersion) return offset;
  }
  return bytes.size();
}

Status other_version(std::uint32_t version) {
  return {Code::kVersion, "it has format version " + std::to_string(version) + ", this program knows " +
                              std::to_string(kFormatVersion) +
                              ": start the program that wrote it. Nothing was changed."};
}

}  // namespace

std::vector<std::byte> encode_spaces_header() {
  std::vector<std::byte> bytes(sizeof(SpacesHeader));
  seal(kSpacesMagic, bytes);
  return bytes;
}

std::vector<std::byte> encode_space_record(const DiskSpace& space) {
  SpaceRecordHeader header{};
  header.name_bytes = static_cast<std::uint32_t>(space.namespace_name.size());
  header.encoding_bytes = static_cast<std::uint32_t>(space.encoding.size());
  header.body_bytes =
      static_cast<std::uint32_t>(round_up(std::uint64_t{header.name_bytes} + header.encoding_bytes, kStep));
  std::vector<std::byte> bytes(sizeof header + header.body_bytes);
  const std::span<std::byte> body = std::span(bytes).subspan(sizeof header);
  std::memcpy(body.data(), space.namespace_name.data(), header.name_bytes);
  std::ranges::copy(space.encoding, body.subspan(header.name_bytes).begin());
  header.body_checksum = checksum64(body, kSpaceMagic);
  std::memcpy(bytes.data(), &header, sizeof header);
  place_space_record(bytes, 0);
  return bytes;
}

void place_space_record(std::span<std::byte> record, std::uint64_t offset) {
  std::memcpy(record.data() + offsetof(SpaceRecordHeader, offset), &offset, sizeof offset);
  seal(kSpaceMagic, record.first(sizeof(SpaceRecordHeader)));
}

Result<SpacesFile> parse_spaces(std::span<const std::byte> bytes) {
  SpacesFile file;
  if (bytes.size() < sizeof(SpacesHeader)) {  // nothing follows a header that is not durable
    file.is_cut = !bytes.empty();
    return file;
  }
  const DiskFault head = check_seal(kSpacesMagic, sizeof(SpacesHeader), bytes);
  if (head == DiskFault::kVersion) return other_version(read_prefix(bytes).version);
  // Zeros: its size outlived a crash, and it did not.
  if (head != DiskFault::kNone && head != DiskFault::kEmpty) ++file.corrupt_count;
  file.end = sizeof(SpacesHeader);
  while (file.end < bytes.size()) {
    SpaceRecordHeader header{};
    const DiskFault fault = read_header(bytes, file.end, header);
    if (fault == DiskFault::kVersion) return other_version(read_prefix(bytes.subspan(file.end)).version);
    const std::uint64_t body = file.end + sizeof header;
    const bool is_whole = fault == DiskFault::kNone && header.body_bytes <= bytes.size() - body;
    if (!is_whole) {
      const std::uint64_t next = find_header(bytes, file.end + kStep);
      file.is_cut = next >= bytes.size();
      if (file.is_cut) break;
      ++file.corrupt_count;
      file.end = next;
      continue;
    }
    DiskSpace space;
    if (!read_body(header, bytes.subspan(body, header.body_bytes), space)) {
      ++file.corrupt_count;
    } else if (!has_space(file.spaces, space)) {
      file.spaces.push_back(std::move(space));
    }
    file.end = body + header.body_bytes;
  }
  return file;
}

}  // namespace kvtier
