#include "tools/kvctl/store_reader.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "daemon/disk/format_geometry.h"
#include "daemon/disk/format_seal.h"
#include "daemon/tier/space_format.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/spec.h"
#include "tools/kvctl/exit_status.h"
#include "tools/kvctl/segment_walk.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

// What path_owner.h and space_catalog.h call them; those belong to a daemon that writes.
constexpr const char* kDataName = "/kvtier.data";
constexpr const char* kLockName = "/kvtier.lock";
constexpr const char* kSpacesName = "/kvtier.spaces";

[[noreturn]] void fail(const std::string& path, Code code, const std::string& why) {
  throw Failure(kExitDegraded, std::string(code_name(code)), path + ": " + why);
}

[[noreturn]] void fail_in_use(const std::string& folder) {
  const std::string holder = printable(read_first(folder + kLockName));
  throw Failure(kExitFailed, "busy",
                folder + " is in use by a daemon" + (holder.empty() ? "" : " (" + holder + ")") +
                    ": stop it, or read what it is writing with --live");
}

// The kernel keeps a dead daemon's files open until its last requests are over: who ended it just now waits for that.
bool is_kept_in_use(const StoreBytes& file) {
  constexpr int kTriesMax = 200;
  constexpr std::chrono::milliseconds kPause{10};
  for (int i = 0; i < kTriesMax; ++i) {
    if (!file.is_in_use()) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

SuperblockChoice read_superblock(StoreBytes& file) {
  if (file.size() < kSegmentsOffset) {
    fail(file.path(), Code::kCorrupt,
         "the file is truncated: it has " + format_size(file.size()) + ", and a store begins with " +
             format_size(kSegmentsOffset));
  }
  std::array<std::vector<std::byte>, kSuperblockCopies> bytes;
  SuperblockCopies copies;
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    const std::span<const std::byte> read = file.read(copy * kSuperblockStrideBytes, kHeaderBytesMax);
    bytes[copy].assign(read.begin(), read.end());
    copies[copy] = bytes[copy];
  }
  Result<SuperblockChoice> choice = choose_superblock(copies);
  if (!choice.is_ok()) fail(file.path(), choice.code(), choice.status().message());
  if (choice.value().is_new) fail(file.path(), Code::kNotFound, "no store was made in this file yet");
  return std::move(choice).value();
}

// Those that the file once had room for, so that a file that was cut shows what it lost.
std::uint32_t segments_of(const SuperblockChoice& choice, std::uint64_t file_bytes) {
  const Superblock& block = choice.superblock;
  const std::uint64_t now = (file_bytes - kSegmentsOffset) / block.segment_bytes;
  const std::uint64_t most = std::max(now, block.segment_count);
  // A count that no file of the present size comes near is not believed: it would be walked for ever.
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, now + kMiB));
}

void check_one_store(const StorePicture& picture) {
  const PicturePath& last = picture.paths.back();
  for (const PicturePath& path : picture.paths) {
    if (&path == &last) return;
    const Superblock& a = path.superblock.superblock;
    const Superblock& b = last.superblock.superblock;
    if (a.store != b.store)
      fail(last.folder, Code::kInvalid, "it belongs to another store than " + path.folder);
    if (a.path == b.path)
      fail(last.folder, Code::kInvalid, "it is the same path of the store as " + path.folder + ": a copy");
  }
}

void read_path(StorePicture& picture, const std::string& folder, const StoreReading& reading) {
  StoreBytes file(folder + kDataName);
  if (!reading.is_live_allowed && is_kept_in_use(file)) fail_in_use(folder);
  picture.paths.push_back({.folder = folder,
                           .file_bytes = file.size(),
                           .is_live = file.is_in_use(),
                           .superblock = read_superblock(file)});
  check_one_store(picture);
  const auto position = static_cast<std::uint32_t>(picture.paths.size() - 1);
  SegmentWalk walk(file, picture, position);
  const std::uint32_t count = segments_of(picture.paths.back().superblock, file.size());
  for (std::uint32_t i = 0; i < count; ++i)
    walk.add(i, reading.is_checked && (reading.segment < 0 || reading.segment == i));
  PicturePath& path = picture.paths.back();
  path.is_live = path.is_live || file.is_in_use();  // or it was opened meanwhile
  path.unreadable = file.failed_count();
  path.error = file.error();
}

void name_scopes(StorePicture& picture, const DiskSpace& space) {
  const Digest tenant = namespace_digest(space.namespace_name);
  for (PictureScope& scope : picture.scopes) {
    if (scope.digests.tenant != tenant) continue;
    scope.namespace_name = space.namespace_name;
    if (scope.digests.space != space.digest) continue;
    const Result<Spec> spec = decode_spec(space.encoding);
    if (spec.is_ok()) scope.model = spec.value().model;
  }
}

// Without it the picture has digests and no names: said by empty ones.
void read_names(StorePicture& picture, const std::string& folder) {
  try {
    StoreBytes file(folder + kSpacesName);
    const Result<SpacesFile> spaces = parse_spaces(file.read(0, std::min(file.size(), kSpacesFileBytesMax)));
    if (!spaces.is_ok()) fail(file.path(), spaces.code(), spaces.status().message());
    picture.spaces_corrupt += spaces.value().corrupt_count;
    for (const DiskSpace& space : spaces.value().spaces) name_scopes(picture, space);
  } catch (const Failure& failure) {
    if (failure.code != "not_found") throw;
  }
}

}  // namespace

StorePicture read_store(const StoreReading& reading) {
  StorePicture picture;
  for (const std::string& folder : reading.folders) read_path(picture, folder, reading);
  for (const std::string& folder : reading.folders) read_names(picture, folder);
  settle_picture(picture);
  return picture;
}

std::string_view segment_state_name(const PictureSegment& segment) {
  if (segment.is_cut) return "cut";
  switch (segment.plan.choice) {
    case RecoveryChoice::kUnused:
      return "free";
    case RecoveryChoice::kFooter:
      return "sealed";
    case RecoveryChoice::kScan:
      return "unsealed";
    case RecoveryChoice::kDrop:
      return "dropped";
    case RecoveryChoice::kRefuse:
      return "other_version";
  }
  return "unknown";
}

}  // namespace kvtier::ctl
