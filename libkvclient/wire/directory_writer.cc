#include "libkvclient/wire/directory_writer.h"

#include <string>

namespace kvtier {
namespace {

using Index = DirectoryIndex;

bool fits(const Residency& at) {
  return at.host.generation <= kGenerationMax && at.gpu.generation <= kGenerationMax &&
         at.host_flags <= kResidencyFlagsMask && at.gpu_flags <= kResidencyFlagsMask;
}

}  // namespace

Result<DirectoryWriter> DirectoryWriter::create(std::span<std::byte> memory, std::uint64_t capacity,
                                                std::uint64_t seed) {
  if (capacity == 0 || capacity > kDirectoryCapacityMax) {
    return Status(Code::kInvalid, "directory capacity " + std::to_string(capacity) + " is not within 1 to " +
                                      std::to_string(kDirectoryCapacityMax));
  }
  if (memory.size() < DirectoryLayout::bytes_for(capacity)) {
    return directory_mismatch("memory, at least", DirectoryLayout::bytes_for(capacity), memory.size(),
                              Code::kInvalid);
  }
  auto* header = reinterpret_cast<DirectoryHeader*>(memory.data());
  header->magic = kDirectoryMagic;
  header->capacity = capacity;
  header->seed = seed;
  // release: who sees the version sees the fields above.
  header->version.store(kDirectoryVersion, std::memory_order_release);
  return over(memory, DirectoryHash::of(seed, capacity));
}

Result<DirectoryWriter> DirectoryWriter::adopt(std::span<std::byte> memory) {
  const Result<DirectoryHash> hash = directory_check_header(memory);
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
  used_ = 0;
  for (std::uint64_t i = 0; i < hash_.capacity; ++i) {
    if (lines_[i].is_touched()) lines_[i].clear();
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
    if (line.own_tag() == directory_tag(space) && line.own_key() == key.words) return place;
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
  if (size_ == hash_.capacity) return Code::kNoSpace;
  const std::uint32_t number = take_number();
  // The entry first: who finds the word finds the entry complete.
  lines_[number].write(directory_tag(entry.space), entry.key.words, residency_pack(entry.at));
  const std::uint32_t fingerprint = hash_.home(entry.space, entry.key).fingerprint;
  Index::put(*place, (fingerprint & ~hash_.number_mask) | (number + 1));
  ++size_;
  return Code::kOk;
}

std::uint32_t DirectoryWriter::take_number() {
  if (free_.empty()) return used_++;
  const std::uint32_t number = free_.back();
  free_.pop_back();
  return number;
}

Code DirectoryWriter::update(SpaceId space, const Key& key, const Residency& at) {
  if (!fits(at)) return Code::kInvalid;
  DirectoryLine* line = find_line(space, key);
  if (line == nullptr) return Code::kNotFound;
  line->write(directory_tag(space), key.words, residency_pack(at));
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
  at = residency_unpack(line->own_value());
  return true;
}

bool DirectoryWriter::read(std::uint32_t number, EntryView& entry) const {
  const DirectoryLine& line = lines_[number];
  if (line.own_tag() == 0) return false;
  entry = {SpaceId{line.own_tag()}, Key{line.own_key()}, residency_unpack(line.own_value())};
  return true;
}

void DirectoryWriter::prefetch(SpaceId space, const Key& key) const {
  __builtin_prefetch(&index_[hash_.home(space, key).place], 1);
}

void DirectoryWriter::mark_moved() {
  // release: the entries as they are now are before it; nothing else depends on it.
  header_->moved.store(1, std::memory_order_release);
}

}  // namespace kvtier
