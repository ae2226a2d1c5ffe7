#pragma once
// A DiskStore on a simulated disk, and an owner around it: an index of what the events said, time by hand. One life of a
// daemon; the disk outlives it. Blocks are patterns of their keys, so that a reader can tell whose bytes it holds.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "daemon/disk/disk_store.h"
#include "tests/support/faulty_backend.h"
#include "tests/support/sim_disk_backend.h"

namespace kvtier::test {

inline constexpr std::uint32_t kSimBlockBytes = 9192;  ///< three pages, the last one not full
inline constexpr std::uint32_t kSimSlotBytes = 12288;

/// A namespace's, or a space's, or a block's key of its own.
DiskKey sim_key(std::uint64_t number, std::uint64_t space = 0);
/// Of a block with two layers.
DiskRecord sim_shape(std::uint32_t bytes = kSimBlockBytes);

struct SimStoreOptions {
  DiskStoreOptions store;
  std::uint64_t seed = 1;
  std::uint32_t depth = 16;
  std::uint32_t requests_max = 64;
  std::uint32_t slots = 256;
  std::uint32_t slot_bytes = kSimSlotBytes;
  FileHome home{.inode = 1, .birth_ns = 7, .fsid = 9};  ///< of path 0; the inodes of the others follow
};
/// Small segments, few of them, little memory.
SimStoreOptions small_sim_options();

class SimStore {
 public:
  /// Path i is the file "path<i>" of the disk, which is made where it is missing.
  SimStore(SimDisk& disk, const SimStoreOptions& options, std::size_t paths = 1,
           std::uint64_t file_bytes = kSegmentsOffset + 8 * 128 * kKiB);
  ~SimStore();

  DiskStore& store() { return *store_; }
  ManualClock& clock() { return clock_; }
  FaultyBackend& faults() { return *faulty_; }
  SimDiskBackend& device() { return *device_; }
  [[nodiscard]] int file(std::size_t path) const { return files_[path]; }

  /// One round: work, events, and time to when something is due.
  void step();
  /// Until `is_done`, at most so many rounds. False: they were not enough.
  bool run(const std::function<bool()>& is_done, std::size_t rounds = 200'000);
  /// Until kReady or kRefused.
  bool open();
  /// Until nothing is under way.
  bool settle();

  // Each begins; settle() or run() ends it. Slots are taken and given back by events.
  Code put(std::span<const DiskKey> keys, std::uint32_t bytes = kSimBlockBytes);
  Code get(const DiskKey& key, TimeNs deadline_ns = kNever);
  Code get(std::span<const DiskKey> keys, TimeNs deadline_ns = kNever);
  Code flush();
  Code mark(const DiskKey& key);
  void close();
  /// Of what was begun last.
  [[nodiscard]] std::uint64_t last_tag() const { return next_tag_ - 1; }

  struct Indexed {
    DiskLocator locator;
    std::uint64_t born = 0;
    std::uint32_t block_bytes = 0;
  };
  [[nodiscard]] const std::map<std::array<std::uint64_t, 12>, Indexed>& index() const { return index_; }
  [[nodiscard]] std::optional<DiskLocator> find(const DiskKey& key) const;
  /// The owner evicts it from the tier.
  void evict(const DiskKey& key);

  /// Settles, reads, and says how it ended; kNotFound: not in the index.
  Code read(const DiskKey& key);
  Code put_one(const DiskKey& key, std::uint32_t bytes = kSimBlockBytes);
  Code flush_now();
  Code mark_now(const DiskKey& key);

  // What happened
  std::deque<DiskEvent>
      events;  ///< all but entries and progress; a reference to one stays good while more come
  std::uint64_t wrong_bytes = 0;  ///< a get said kOk, and the bytes are another key's
  std::function<void(const DiskEvent&)> on_event;
  std::function<ReclaimAnswer(const ReclaimQuestion&)>
      on_question;  ///< of blocks that the index names; default: keep
  [[nodiscard]] std::size_t slots_free() const { return free_slots_.size(); }
  [[nodiscard]] std::span<std::byte> slot_of(std::size_t slot);
  [[nodiscard]] const DiskEvent* last(DiskEventKind kind) const;

 private:
  struct Use {
    DiskKey key;
    std::size_t slot = 0;
    std::uint32_t bytes = 0;
    bool is_get = false;
  };
  void handle(const DiskEvent& event);
  void on_put(const DiskEvent& event);
  void on_get(const DiskEvent& event);
  void on_entry(const DiskEvent& event);
  void on_ask();
  void give_back(std::uint64_t tag);
  DiskMemory take_slot(std::uint64_t tag, const DiskKey& key, std::uint32_t bytes, bool is_get);
  [[nodiscard]] bool is_void(const DiskKey& key, std::uint64_t born) const;
  void name(const DiskKey& key, const Indexed& entry);

  SimDisk& disk_;
  const SimStoreOptions options_;
  ManualClock clock_;
  std::vector<int> files_;
  std::vector<std::byte> memory_;
  std::span<std::byte> slots_;
  std::set<std::size_t> free_slots_;   ///< the lowest are taken first: what is taken together lies together
  std::map<std::uint64_t, Use> uses_;  ///< by tag
  std::map<std::uint32_t, DiskRecord> shapes_;
  std::map<std::array<std::uint64_t, 12>, Indexed> index_;
  std::vector<std::pair<DiskKey, std::uint64_t>> marks_;  ///< of this life, and a stamp after each
  std::uint64_t next_tag_ = 1;
  std::uint64_t open_jobs_ = 0;  ///< flushes, marks, closes
  FaultyBackend* faulty_ = nullptr;
  SimDiskBackend* device_ = nullptr;
  std::unique_ptr<DiskStore> store_;
  std::unique_ptr<IoRing> ring_;  ///< goes first
};

}  // namespace kvtier::test
