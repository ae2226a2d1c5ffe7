#pragma once
// A DiskStore on a folder of this machine, through a ring of the kernel's; real time, no index: who tests keeps locators.

#include <memory>
#include <string>
#include <vector>

#include "daemon/disk/disk_store.h"
#include "daemon/disk/path_owner.h"
#include "daemon/io/io_engine.h"

namespace kvtier::test {

class KernelStore {
 public:
  static constexpr std::uint32_t kBlockBytes = 64 << 10;
  static constexpr std::size_t kSlots = 64;

  /// Fails as own_path() and the engine do.
  static Result<std::unique_ptr<KernelStore>> open(const std::string& folder, IoEngine engine,
                                                   bool use_direct);
  ~KernelStore();

  DiskStore& store() { return *store_; }
  [[nodiscard]] std::span<std::byte> slot(std::size_t i) {
    return slots_.subspan(i * kBlockBytes, kBlockBytes);
  }
  [[nodiscard]] DiskMemory memory(std::size_t i) { return {IoRegion{1}, slot(i).data(), kBlockBytes}; }
  [[nodiscard]] const DiskRecord& shape() const { return shape_; }
  /// The next event of that kind; others that come before it are kept out of the way, entries in `entries`.
  DiskEvent wait(DiskEventKind kind);

  std::vector<DiskEvent> entries;

 private:
  KernelStore() = default;

  OwnedPath owned_;
  SystemClock clock_;
  ScratchArena slots_memory_{kSlots * std::uint64_t{kBlockBytes}};
  std::span<std::byte> slots_ = slots_memory_.all();
  DiskRecord shape_{};
  std::unique_ptr<DiskStore> store_;
  std::unique_ptr<IoRing> ring_;  ///< goes first
};

}  // namespace kvtier::test
