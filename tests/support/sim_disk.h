#pragma once
// Files of a disk with a volatile cache, in memory, and a power cut: of the writes since the last sync each is lost,
// kept, or torn at 512 bytes, in any order. It outlives the backends that use it, as a disk outlives a daemon.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/prng.h"

namespace kvtier::test {

inline constexpr std::uint32_t kSimSectorBytes = 512;

class SimDisk {
 public:
  explicit SimDisk(std::uint64_t seed, std::uint64_t capacity_bytes = kNever)
      : chance_(seed), capacity_bytes_(capacity_bytes) {}

  /// A file of zeros, there and of that size after any power cut: as after fallocate, fsync and fsync of its folder.
  /// Its number stands for a descriptor.
  int create(const std::string& name, std::uint64_t bytes);
  /// -1: no such file.
  [[nodiscard]] int open(const std::string& name) const;
  void remove(const std::string& name);
  [[nodiscard]] std::vector<std::string> names() const;

  /// Bytes, or -errno.
  std::int32_t read(int file, std::uint64_t offset, std::span<std::byte> into) const;
  /// Into the cache. -ENOSPC beyond the capacity.
  std::int32_t write(int file, std::uint64_t offset, std::span<const std::byte> from);
  /// Names what is in the cache now: what a sync that starts now covers.
  [[nodiscard]] std::uint64_t sync_start() const { return next_write_; }
  /// -EBADF: no such file.
  std::int32_t sync_finish(int file, std::uint64_t started);

  /// A write that the power cut may find half done although nobody was told that it is over.
  void write_in_flight(int file, std::uint64_t offset, std::span<const std::byte> from);
  void power_cut();
  /// Backends of an earlier life are dead: they complete nothing.
  [[nodiscard]] std::uint64_t life() const { return life_; }
  /// From now on one sector in so many that a power cut finds half written is neither old nor new; 1: every sector of
  /// every write that no sync covers; 0: none.
  void set_scrambling(std::uint32_t one_in) { scrambling_ = one_in; }
  void set_capacity(std::uint64_t bytes) { capacity_bytes_ = bytes; }
  /// What image() shows there is on the medium from now on: damage that no power cut undoes. Later writes, cached ones
  /// too, go over it.
  void make_lasting(int file, std::uint64_t offset, std::uint64_t bytes);
  /// What a reader sees now, to look at or to damage.
  [[nodiscard]] std::vector<std::byte>& image(int file) { return files_.at(file).visible; }

 private:
  struct Write {
    std::uint64_t number = 0;
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  struct File {
    std::string name;
    std::vector<std::byte> durable;
    std::vector<std::byte> visible;
    std::vector<Write> cached;
  };

  static void put(std::vector<std::byte>& image, std::uint64_t offset, std::span<const std::byte> bytes);
  void cut(File& file);
  void tear(std::vector<std::byte>& image, const Write& write);
  void scramble(std::vector<std::byte>& image, std::uint64_t offset, std::size_t bytes);
  [[nodiscard]] std::uint64_t used_bytes() const;

  Prng chance_;
  std::uint64_t capacity_bytes_;
  std::map<int, File> files_;
  int next_file_ = 0;
  std::uint64_t next_write_ = 1;
  std::uint64_t life_ = 0;
  std::uint32_t scrambling_ = 0;
};

}  // namespace kvtier::test
