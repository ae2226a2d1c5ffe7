#include "tests/support/sim_disk.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kvtier::test {

int SimDisk::create(const std::string& name, std::uint64_t bytes) {
  const std::vector<std::byte> zeros(bytes);
  files_[next_file_] = {name, zeros, zeros, {}};
  return next_file_++;
}

int SimDisk::open(const std::string& name) const {
  for (const auto& [number, file] : files_) {
    if (file.name == name) return number;
  }
  return -1;
}

void SimDisk::remove(const std::string& name) {
  std::erase_if(files_, [&](const auto& each) { return each.second.name == name; });
}

std::vector<std::string> SimDisk::names() const {
  std::vector<std::string> names;
  for (const auto& [number, file] : files_) names.push_back(file.name);
  return names;
}

std::int32_t SimDisk::read(int file, std::uint64_t offset, std::span<std::byte> into) const {
  const auto found = files_.find(file);
  if (found == files_.end()) return -EBADF;
  const std::vector<std::byte>& image = found->second.visible;
  if (offset >= image.size()) return 0;
  const std::size_t bytes = std::min<std::uint64_t>(into.size(), image.size() - offset);
  std::memcpy(into.data(), image.data() + offset, bytes);
  return static_cast<std::int32_t>(bytes);
}

std::int32_t SimDisk::write(int file, std::uint64_t offset, std::span<const std::byte> from) {
  const auto found = files_.find(file);
  if (found == files_.end()) return -EBADF;
  File& target = found->second;
  const std::uint64_t end = offset + from.size();
  const std::uint64_t growth = end > target.visible.size() ? end - target.visible.size() : 0;
  if (growth > 0 && used_bytes() + growth > capacity_bytes_) return -ENOSPC;
  put(target.visible, offset, from);
  write_in_flight(file, offset, from);
  return static_cast<std::int32_t>(from.size());
}

void SimDisk::write_in_flight(int file, std::uint64_t offset, std::span<const std::byte> from) {
  const auto found = files_.find(file);
  if (found != files_.end())
    found->second.cached.push_back({next_write_++, offset, {from.begin(), from.end()}});
}

std::int32_t SimDisk::sync_finish(int file, std::uint64_t started) {
  const auto found = files_.find(file);
  if (found == files_.end()) return -EBADF;
  File& target = found->second;
  const auto covered = std::stable_partition(target.cached.begin(), target.cached.end(),
                                             [&](const Write& write) { return write.number < started; });
  for (auto write = target.cached.begin(); write != covered; ++write)
    put(target.durable, write->offset, write->bytes);
  target.cached.erase(target.cached.begin(), covered);
  return 0;
}

void SimDisk::power_cut() {
  for (auto& [number, file] : files_) cut(file);
  ++life_;
}

void SimDisk::make_lasting(int number, std::uint64_t offset, std::uint64_t bytes) {
  File& file = files_.at(number);
  put(file.durable, offset, std::span(file.visible).subspan(offset, bytes));
}

// Every sector ends up as it was at the last sync, or as one of the writes since left it.
void SimDisk::cut(File& file) {
  for (std::size_t left = file.cached.size(); left > 1; --left)
    std::swap(file.cached[left - 1], file.cached[chance_.below(left)]);
  for (const Write& write : file.cached) {
    const std::uint64_t fate = scrambling_ == 1 ? 1 : chance_.below(3);
    if (fate == 0) put(file.durable, write.offset, write.bytes);
    if (fate == 1) tear(file.durable, write);
  }
  file.cached.clear();
  file.visible = file.durable;
}

void SimDisk::tear(std::vector<std::byte>& image, const Write& write) {
  for (std::size_t at = 0; at < write.bytes.size();) {
    const std::uint64_t offset = write.offset + at;
    const std::size_t rest = kSimSectorBytes - offset % kSimSectorBytes;
    const std::size_t bytes = std::min(rest, write.bytes.size() - at);
    if (chance_.below(2) == 0) put(image, offset, std::span(write.bytes).subspan(at, bytes));
    if (scrambling_ > 0 && chance_.below(scrambling_) == 0) scramble(image, offset, bytes);
    at += bytes;
  }
}

void SimDisk::scramble(std::vector<std::byte>& image, std::uint64_t offset, std::size_t bytes) {
  const std::size_t end = std::min<std::size_t>(image.size(), offset + bytes);
  for (std::size_t at = offset; at < end; ++at) image[at] = static_cast<std::byte>(chance_.below(256));
}

void SimDisk::put(std::vector<std::byte>& image, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (offset + bytes.size() > image.size()) image.resize(offset + bytes.size());
  std::memcpy(image.data() + offset, bytes.data(), bytes.size());
}

std::uint64_t SimDisk::used_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [number, file] : files_) bytes += file.visible.size();
  return bytes;
}

}  // namespace kvtier::test
