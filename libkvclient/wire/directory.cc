#include "libkvclient/wire/directory.h"

#include <cstring>
#include <string>

#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

using Index = DirectoryIndex;
using ValueWords = DirectoryLine::ValueWords;

constexpr std::uint64_t kMagic = 0x726964726569746bULL;  // "ktierdir"
/// Searches of one find: each repeats only because a removal moved entries meanwhile.
constexpr unsigned kFindsMax = 8;
constexpr unsigned kFlagsShift = kGenerationBits;

std::uint32_t tag_of(SpaceId space) {
  return static_cast<std::uint32_t>(space);
}

ValueWords pack(const Residency& at) {
  return {at.host.generation | (std::uint64_t{at.host_flags} << kFlagsShift),
          at.gpu.generation | (std::uint64_t{at.gpu_flags} << kFlagsShift),
          at.host.slot.bits | (std::uint64_t{at.gpu.slot.bits} << 32)};
}

Residency unpack(const ValueWords& words) {
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

Status mismatch(const std::string& what, std::uint64_t ours, std::uint64_t found,
                Code code = Code::kCorrupt) {
  return {code,
          "directory " + what + ": expected " + std::to_string(ours) + ", found " + std::to_string(found)};
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
  if (capacity == 0 || capacity > kDirectoryCapacityMax) {
    return mismatch("capacity, at most", kDirectoryCapacityMax, capacity);
  }
  if (DirectoryLayout::bytes_for(capacity) > memory.size()) {
    return mismatch("mapping length for " + std::to_string(capacity) + " entries, at least",
                    DirectoryLayout::bytes_for(capacity), memory.size());
  }
  return DirectoryHash::of(header->seed, capacity);
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
  DirectoryWriter writer = over(memory, DirectoryHash::of(seed, capacity));
  writer.clear();
  return writer;
}

Result<DirectoryWriter> DirectoryWriter::adopt(std::span<std::byte> memory) {
  const Result<DirectoryHash> hash = check_header(memory);
  if (!hash.is_ok()) return hash.status().while_doing("adopt the directory");
  DirectoryWriter writer = over(memory, hash.value());
  writer.clear();
  return writer;
}

DirectoryWriter DirectoryWriter::over(std::span<std::byte> memory, const DirectoryHash& hash) {
  DirectoryWriter writer;
  writer.header_ = reinterpret_cast<DirectoryHeader*>(memory.data());
  writer.index_ = reinterpret_cast<Index::Word*>(memory.data() + sizeof(DirectoryHeader));
  writer.lines_ =
      reinterpret_cast<DirectoryLine*>(memory.data() + DirectoryLayout::entries_offset(hash.capacity));
  writer.hash_ = hash;
  writer.free_.reserve(hash.capacity);
  return writer;
}

void DirectoryWriter::clear() {
  Index::shift_open(header_->shift);
  for (std::uint64_t i = 0; i < DirectoryLayout::index_words(hash_.capacity); ++i) {
    // What is empty is left alone: its page may never have been touched.
    if (Index::own(index_[i]) != 0) Index::put(index_[i], 0);
  }
  Index::shift_close(header_->shift);
  free_.clear();
  size_ = 0;
  for (std::uint64_t i = hash_.capacity; i-- > 0;) {
    if (lines_[i].is_touched()) lines_[i].clear();
    free_.push_back(static_cast<std::uint32_t>(i));
  }
}

Index::Word* DirectoryWriter::find_word(SpaceId space, const Key& key) const {
  const DirectoryHash::Home home = hash_.home(space, key);
  Index::Word* place = &index_[home.place];
  for (const Index::Word* end = place + kDirectoryWindow; place != end; ++place) {
    const std::uint32_t word = Index::own(*place);
    if (word == 0) return place;
    if (((word ^ home.fingerprint) & ~hash_.number_mask) != 0) continue;
    const DirectoryLine& line = line_of(word);
    if (line.own_tag() == tag_of(space) && line.own_key() == key.words) return place;
  }
  return nullptr;
}

DirectoryLine* DirectoryWriter::find_line(SpaceId space, const Key& key) const {
  const Index::Word* place = find_word(space, key);
  if (place == nullptr || Index::own(*place) == 0) return nullptr;
  return &line_of(Index::own(*place));
}

Code DirectoryWriter::insert(const EntryView& entry) {
  if (entry.space == SpaceId::kNone || !fits(entry.at)) return Code::kInvalid;
  Index::Word* place = find_word(entry.space, entry.key);
  if (place == nullptr) return Code::kNoSpace;
  if (Index::own(*place) != 0) return Code::kExists;
  if (free_.empty()) return Code::kNoSpace;
  const std::uint32_t number = free_.back();
  free_.pop_back();
  // The entry first: who finds the word finds the entry complete.
  lines_[number].write(tag_of(entry.space), entry.key.words, pack(entry.at));
  const std::uint32_t fingerprint = hash_.home(entry.space, entry.key).fingerprint;
  Index::put(*place, (fingerprint & ~hash_.number_mask) | (number + 1));
  ++size_;
  return Code::kOk;
}

Code DirectoryWriter::update(SpaceId space, const Key& key, const Residency& at) {
  if (!fits(at)) return Code::kInvalid;
  DirectoryLine* line = find_line(space, key);
  if (line == nullptr) return Code::kNotFound;
  line->write(tag_of(space), key.words, pack(at));
  return Code::kOk;
}

Code DirectoryWriter::remove(SpaceId space, const Key& key) {
  Index::Word* place = find_word(space, key);
  if (place == nullptr || Index::own(*place) == 0) return Code::kNotFound;
  DirectoryLine& line = line_of(Index::own(*place));
  const auto home_of = [this](std::uint32_t word) {
    const DirectoryLine& other = line_of(word);
    return &index_[hash_.home(SpaceId{other.own_tag()}, Key{other.own_key()}).place];
  };
  Index::remove(place, index_ + DirectoryLayout::index_words(hash_.capacity), header_->shift, home_of);
  // Only now: home_of reads the entries of the cluster, and a reader on the way finds this one whole or not
  // at all.
  line.clear();
  free_.push_back(static_cast<std::uint32_t>(&line - lines_));
  --size_;
  return Code::kOk;
}

bool DirectoryWriter::find(SpaceId space, const Key& key, Residency& at) const {
  const DirectoryLine* line = find_line(space, key);
  if (line == nullptr) return false;
  at = unpack(line->own_value());
  return true;
}

void DirectoryWriter::prefetch(SpaceId space, const Key& key) const {
  __builtin_prefetch(&index_[hash_.home(space, key).place], 1);
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
  reader.hash_ = hash.value();
  reader.header_ = reinterpret_cast<const DirectoryHeader*>(memory.data());
  reader.index_ = reinterpret_cast<const Index::Word*>(memory.data() + sizeof(DirectoryHeader));
  reader.lines_ = reinterpret_cast<const DirectoryLine*>(
      memory.data() + DirectoryLayout::entries_offset(reader.hash_.capacity));
  return reader;
}

void DirectoryReader::prefetch_entries(std::span<Home> homes) const {
  for (Home& home : homes) {
    const Index::Word* place = &index_[home.place];
    for (const Index::Word* end = place + kDirectoryWindow; place != end; ++place) {
      // relaxed: a hint. What find_at reads there is checked like any other entry.
      const std::uint32_t word = place->load(std::memory_order_relaxed);
      if (word == 0) break;
      if (((word ^ home.fingerprint) & ~hash_.number_mask) != 0) continue;
      home.hint = (word & hash_.number_mask) - 1;
      __builtin_prefetch(&lines_[home.hint]);
      break;
    }
  }
}

bool DirectoryReader::find_at(Home home, SpaceId space, const Key& key, Residency& at) const {
  ValueWords words;
  const auto read_entry = [&](std::uint32_t number) {
    // The daemon is trusted; the check turns a daemon's bug into a miss for the price of a predicted branch.
    if (number >= hash_.capacity || space == SpaceId::kNone) [[unlikely]]
      return LineRead::kOther;
    return lines_[number].read(tag_of(space), key.words, words);
  };
  // An entry that reads as this key is the answer, whichever way led to it. All else needs a full search.
  if (read_entry(home.hint) != LineRead::kMatch && !search(home, read_entry)) return false;
  at = unpack(words);
  return true;
}

template <class ReadEntry>
bool DirectoryReader::search(const Home& home, const ReadEntry& read_entry) const {
  const Index::Word* const place = &index_[home.place];
  for (unsigned attempt = 0; attempt < kFindsMax; ++attempt) {
    const std::uint64_t begun = Index::shift_begin(header_->shift);
    const Probe probe =
        Index::find(place, place + kDirectoryWindow, home.fingerprint, hash_.number_mask, read_entry);
    if (probe == Probe::kHit) return true;
    if (probe == Probe::kUnsure || Index::shift_stable(header_->shift, begun)) return false;
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
