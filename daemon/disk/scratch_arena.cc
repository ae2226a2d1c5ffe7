#include "daemon/disk/scratch_arena.h"

#include <sys/mman.h>

#include "libkvclient/base/check.h"
#include "libkvclient/base/units.h"

namespace kvtier {

ScratchArena::ScratchArena(std::uint64_t bytes) {
  const std::uint64_t rounded = round_up(bytes, kPageBytes);
  void* memory = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KV_CHECK(memory != MAP_FAILED, "a store's own memory is there at its start");
  memory_ = {static_cast<std::byte*>(memory), rounded};
}

ScratchArena::~ScratchArena() {
  ::munmap(memory_.data(), memory_.size());
}

std::span<std::byte> ScratchArena::take(std::uint64_t bytes) {
  const std::uint64_t rounded = round_up(bytes, kPageBytes);
  KV_CHECK(rounded <= memory_.size() - taken_, "the arena was made for all that is taken of it");
  const std::span<std::byte> taken = memory_.subspan(taken_, rounded);
  taken_ += rounded;
  return taken;
}

}  // namespace kvtier
