#pragma once
// The slabs that a session has mapped. Read-only until a reservation is handed out in one ("lent"), read-only
// again when the daemon revokes it. Which slots are reserved is kept here, so that revoking and unmapping
// never pull a page from under a writer. Thread-safe; lock order: after Core's mutex, before Requests'.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "libkvclient/base/result.h"
#include "libkvclient/src/view.h"
#include "libkvclient/wire/commands.h"
#include "libkvclient/wire/message_socket.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier::client {

class SlabMapping {
 public:
  /// Checks everything that a SlabAdd says against its descriptors and the channel before it maps.
  static Result<std::unique_ptr<SlabMapping>> create(const SlabAdd& add, const std::vector<UniqueFd>& fds,
                                                     std::uint64_t pins_bytes);

  [[nodiscard]] SlabView view(std::byte* pins_base) const;
  [[nodiscard]] bool is_same_memory(const SlabMapping& other) const;
  /// Whether any counter of this client's pin table of the slab is set.
  [[nodiscard]] bool is_pinned(const std::byte* pins_base) const;

  // constant after create
  SlabAdd facts{};
  ShmMapping data;
  ShmMapping table;
  ino_t inode = 0;
  mutable std::atomic<bool> is_touched{false};

  // guarded by Mappings' mutex
  bool is_lent = false;
  std::vector<bool> is_open;  ///< reserved and neither committed nor aborted, a slot
  std::unique_ptr<Hold[]>
      holds;  ///< whose reservation that is, where is_open; none in a slab that is read only
  std::uint32_t open_count = 0;
  std::optional<std::uint32_t> revoke_epoch;  ///< answered kBusy: kReleased is due when open_count is 0
  std::uint64_t populated_read_bytes = 0;
  std::uint64_t populated_write_bytes = 0;
};

/// A reservation: the place, and whose it is. A place that is granted again has another hold.
struct Grant {
  SlotRef slot;
  Hold hold;
};

class Mappings {
 public:
  explicit Mappings(std::uint64_t pins_bytes) : pins_bytes_(pins_bytes) {}

  // ---- service thread ----
  /// Maps it; the same memory again is fine (a resumed session).
  Status add(const SlabAdd& add, const std::vector<UniqueFd>& fds);
  /// Read-only from here on: kReleased; kBusy while slots are reserved, then released() says so once.
  Result<SlabState> revoke(std::uint32_t slab, std::uint32_t epoch);
  /// Acknowledgements that became possible since the last call.
  std::vector<SlabAck> take_released();
  /// Unmaps unless a slot is reserved or pinned; the view must have dropped it. True: it is gone.
  bool try_remove(std::uint32_t slab, const std::byte* pins_base);
  [[nodiscard]] std::vector<SlabView> views(std::byte* pins_base,
                                            const std::vector<std::uint32_t>& without) const;
  /// Maps pages ahead of their use, a bounded piece. False: nothing left to do.
  bool populate_some();

  // ---- writers ----
  /// Notes a granted slot and makes its slab writable. kNotFound: not mapped (yet); kInvalid: not a slot.
  Result<std::byte*> lend(const Grant& grant, std::uint64_t slot_bytes, std::uint64_t block_bytes);
  /// The reservation is committed or aborted. False: it was so before; the slot may be another one's by now.
  /// *wants_service: a revocation waits for this.
  bool give_back(const Grant& grant, bool* wants_service);

  [[nodiscard]] std::uint64_t mapped_bytes() const;
  [[nodiscard]] std::uint32_t slabs_count() const;

 private:
  SlabMapping* find(std::uint32_t slab) const;

  const std::uint64_t pins_bytes_;
  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<SlabMapping>> slabs_;
};

}  // namespace kvtier::client
