#include "libkvclient/wire/directory.h"

#include <cstring>
#include <string>

#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

using Table = DirectoryTable;

constexpr std::uint64_t kMagic = 0x726964726569746bULL;  // "ktierdir"
/// Searches of one find: each repeats only because a removal moved entries meanwhile.
constexpr unsigned kFindsMax = 8;
constexpr unsigned kFlagsShift = kGenerationBits;

std::uint32_t tag_of(SpaceId space) {
  return static_cast<std::uint32_t>(space);
}

Table::ValueWords pack(const Residency& at) {
  return {at.host.generation | (std::uint64_t{at.host_flags} << kFlagsShift),
          at.gpu.generation | (std::uint64_t{at.gpu_flags} << kFlagsShift),
          at.host.slot.bits | (std::uint64_t{at.gpu.slot.bits} << 32)};
}

Residency unpack(const Table::ValueWords& words) {
  Residency at;
  at.host = {{static_cast<std::uint32_t>(words[2])}, words[0] & kGenerationMax};
  at.gpu = {{static_cast<std::uint32_t>(words[2] >> 32)}, words[1] & kGenerationMax};
  at.host_flags = static_cast<std::uint32_t>(words[0] >> kFlagsShift);
  at.gpu_flags = static_cast<std::uint32_t>(words[1] >> kFlagsShift);
  return at;
}

bool fits(const Residency& at) {
  return at.host.generation <= kGenerationMax && at.gpu.generation <= kGenerationMax &&
         at.host_flags <= kResidencyFlagsMask && at.gpu_flags <= kResidencyFlagsMask;
}

Status mismatch(std::string_view what, std::uint64_t ours, std::uint64_t found, Code code = Code::kCorrupt) {
  return {code, "directory " + std::string(what) + ": expected " + std::to_string(ours) + ", found " +
                    std::to_string(found)};
}

/// The header of a directory that someone else formatted.
Result<DirectoryHash> check_header(std::span<const std::byte> memory) {
  if (memory.size() < DirectoryLayout::bytes_for(1)) {
    return mismatch("mapping length, at least", DirectoryLayout::bytes_for(1), memory.size());
  }
  const auto* header = reinterpret_cast<const DirectoryHeader*>(memory.data());
  // acquire: the version is stored last, so the plain fields are there.
  const std::uint64_t version = header->version.load(std::memory_order_acquire);
  if (version != kDirectoryVersion) {
    return mismatch("layout version", kDirectoryVersion, version, Code::kVersion);
  }
  if (header->magic != kMagic) return mismatch("magic", kMagic, header->magic);
  const std::uint64_t capacity = header->capacity;
  const std::uint64_t fitting =
      (memory.size() - sizeof(DirectoryHeader)) / sizeof(DirectoryLine) - kDirectoryWindow;
  if (capacity == 0 || capacity > std::min(fitting, kDirectoryCapacityMax)) {
    return mismatch("capacity, at most what is mapped", fitting, capacity);
  }
  return DirectoryHash{.seed = header->seed, .capacity = capacity};
}

}  // namespace

// ---- writer ----

Result<DirectoryWriter> DirectoryWriter::create(std::span<std::byte> memory, std::uint64_t capacity,
                                                std::uint64_t seed) {
  if (capacity == 0 || capacity > kDirectoryCapacityMax) {
    return Status(Code::kInvalid, "directory capacity " + std::to_string(capacity) + " is not within 1 to " +
                                      std::to_string(kDirectoryCapacityMax));
  }
  if (memory.size() < DirectoryLayout::bytes_for(capacity)) {
    return mismatch("memory, at least", DirectoryLayout::bytes_for(capacity), memory.size(), Code::kInvalid);
  }
  auto* header = reinterpret_cast<DirectoryHeader*>(memory.data());
  header->magic = kMagic;
  header->capacity = capacity;
  header->seed = seed;
  // release: who sees the version sees the fields above.
  header->version.store(kDirectoryVersion, std::memory_order_release);
  DirectoryWriter writer;
  writer.header_ = header;
  writer.lines_ = reinterpret_cast<DirectoryLine*>(memory.data() + sizeof(DirectoryHeader));
  writer.hash_ = {.seed = seed, .capacity = capacity};
  return writer;
}

Result<DirectoryWriter> DirectoryWriter::adopt(std::span<std::byte> memory) {
  const Result<DirectoryHash> hash = check_header(memory);
  if (!hash.is_ok()) return hash.status().while_doing("adopt the directory");
  DirectoryWriter writer;
  writer.header_ = reinterpret_cast<DirectoryHeader*>(memory.data());
  writer.lines_ = reinterpret_cast<DirectoryLine*>(memory.data() + sizeof(DirectoryHeader));
  writer.hash_ = hash.value();
  writer.clear();
  return writer;
}

void DirectoryWriter::clear() {
  Table::shift_open(header_->shift);
  for (std::uint64_t i = 0; i < hash_.capacity + kDirectoryWindow; ++i) {
    // An even empty line is left alone: its page may never have been touched.
    if (Table::own(lines_[i].head) != 0) Table::clear(lines_[i]);
  }
  Table::shift_close(header_->shift);
  size_ = 0;
}

DirectoryLine* DirectoryWriter::find_line(SpaceId space, const Key& key) const {
  DirectoryLine* const home = &lines_[hash_.home(space, key)];
  for (DirectoryLine* line = home; line != home + kDirectoryWindow; ++line) {
    const std::uint32_t tag = Table::tag_of(Table::own(line->head));
    if (tag == 0) return nullptr;
    if (tag != tag_of(space)) continue;
    unsigned same = 0;
    while (same < 4 && Table::own(line->key[same]) == key.words[same]) ++same;
    if (same == 4) return line;
  }
  return nullptr;
}

Code DirectoryWriter::insert(const EntryView& entry) {
  if (entry.space == SpaceId::kNone || !fits(entry.at)) return Code::kInvalid;
  if (find_line(entry.space, entry.key) != nullptr) return Code::kExists;
  DirectoryLine* const home = &lines_[hash_.home(entry.space, entry.key)];
  for (DirectoryLine* line = home; line != home + kDirectoryWindow; ++line) {
    if (Table::tag_of(Table::own(line->head)) != 0) continue;
    Table::write(*line, tag_of(entry.space), entry.key.words, pack(entry.at));
    ++size_;
    return Code::kOk;
  }
  return Code::kNoSpace;
}

Code DirectoryWriter::update(SpaceId space, const Key& key, const Residency& at) {
  if (!fits(at)) return Code::kInvalid;
  DirectoryLine* line = find_line(space, key);
  if (line == nullptr) return Code::kNotFound;
  Table::write(*line, tag_of(space), key.words, pack(at));
  return Code::kOk;
}

Code DirectoryWriter::remove(SpaceId space, const Key& key) {
  DirectoryLine* line = find_line(space, key);
  if (line == nullptr) return Code::kNotFound;
  close_hole(line);
  --size_;
  return Code::kOk;
}

std::uint64_t DirectoryWriter::home_of(const DirectoryLine& line) const {
  Key key;
  for (unsigned i = 0; i < 4; ++i) key.words[i] = Table::own(line.key[i]);
  return hash_.home(SpaceId{Table::tag_of(Table::own(line.head))}, key);
}

// Backward shift: each later entry of the cluster that may stand in the hole moves into it and leaves a new
// hole. A copy is there before the original goes, so a reader misses an entry only if it passed the hole
// before the copy and came to the original after; the shift count makes it look again.
void DirectoryWriter::close_hole(DirectoryLine* hole) {
  const DirectoryLine* const end = lines_ + hash_.capacity + kDirectoryWindow;
  bool shifting = false;
  for (DirectoryLine* line = hole + 1; line != end; ++line) {
    if (Table::tag_of(Table::own(line->head)) == 0) break;
    if (lines_ + home_of(*line) > hole) continue;
    if (!shifting) Table::shift_open(header_->shift);
    shifting = true;
    Table::move(*hole, *line);
    hole = line;
  }
  Table::clear(*hole);
  if (shifting) Table::shift_close(header_->shift);
}

bool DirectoryWriter::find(SpaceId space, const Key& key, Residency& at) const {
  const DirectoryLine* line = find_line(space, key);
  if (line == nullptr) return false;
  Table::ValueWords words;
  for (unsigned i = 0; i < words.size(); ++i) words[i] = Table::own(line->value[i]);
  at = unpack(words);
  return true;
}

void DirectoryWriter::prefetch(SpaceId space, const Key& key) const {
  __builtin_prefetch(&lines_[hash_.home(space, key)], 1);
}

void DirectoryWriter::mark_moved() {
  // release: the entries as they are now are before it; nothing else depends on it.
  header_->moved.store(1, std::memory_order_release);
}

// ---- reader ----

Result<DirectoryReader> DirectoryReader::attach(std::span<const std::byte> memory) {
  const Result<DirectoryHash> hash = check_header(memory);
  if (!hash.is_ok()) return hash.status().while_doing("attach the directory");
  DirectoryReader reader;
  reader.header_ = reinterpret_cast<const DirectoryHeader*>(memory.data());
  reader.lines_ = reinterpret_cast<const DirectoryLine*>(memory.data() + sizeof(DirectoryHeader));
  reader.hash_ = hash.value();
  return reader;
}

bool DirectoryReader::find_at(std::uint64_t home, SpaceId space, const Key& key, Residency& at) const {
  if (space == SpaceId::kNone) return false;
  const DirectoryLine* const line = &lines_[home];
  for (unsigned attempt = 0; attempt < kFindsMax; ++attempt) {
    const std::uint64_t begun = Table::shift_begin(header_->shift);
    Table::ValueWords words;
    const Probe probe = Table::find(line, line + kDirectoryWindow, tag_of(space), key.words, words);
    if (probe == Probe::kHit) {
      at = unpack(words);
      return true;
    }
    if (probe == Probe::kUnsure) return false;
    if (Table::shift_stable(header_->shift, begun)) return false;
  }
  return false;
}

std::size_t DirectoryReader::find_batch(SpaceId space, std::span<const Key> keys,
                                        std::span<Residency> at) const {
  KV_CHECK(at.size() >= keys.size(), "find_batch needs a residency a key");
  std::size_t found_count = 0;
  find_chunks(
      space, keys,
      [&](std::size_t index, bool found, const Residency& residency) {
        at[index] = residency;
        found_count += found ? 1 : 0;
        return true;
      },
      [](std::size_t, std::size_t) {});
  return found_count;
}

}  // namespace kvtier
