#pragma once
// Open waits and the blocks that they wait for. All memory is taken at start; what is not used is not touched.
// Thread: the conductor.

#include <cstdint>
#include <vector>

#include "daemon/model/ids.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/wire/commands.h"

namespace kvtier {

/// What a wait of kSums is to answer: where its entries are.
struct SumsAsked {
  std::uint64_t arena_offset = kNoArena;
  std::uint32_t count = 0;  ///< 0: it is a kWait
  SpaceId space = SpaceId::kNone;
  bool is_doubt = false;
};

/// A kWait or kSums that is not answered yet.
struct Wait {
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;
  std::uint32_t request_id = 0;
  std::uint32_t unresolved = 0;
  std::uint32_t ready = 0;
  std::uint32_t blocks = 0;  ///< different ones that were pending when it began
  TimeNs deadline_ns = kNever;
  SumsAsked sums;
};

class WaitTable {
 public:
  /// Of all sessions together: pairs of a wait and a block.
  static constexpr std::uint32_t kLinksMax = 1U << 20;

  WaitTable() = default;
  explicit WaitTable(std::uint32_t waits_max);

  [[nodiscard]] bool is_empty() const { return open_count_ == 0; }
  [[nodiscard]] std::uint32_t size() const { return open_count_; }
  [[nodiscard]] std::uint32_t links_count() const { return links_count_; }
  [[nodiscard]] bool has_room(std::uint32_t links) const {
    return open_count_ < waits_max_ && links <= kLinksMax - links_count_;
  }

  /// The caller has asked has_room.
  std::uint32_t open(const Wait& wait);
  /// `keys` of the wait's keys are that block's.
  void link(std::uint32_t wait, BlockId block, std::uint32_t keys);
  void close(std::uint32_t wait);

  /// on_wait(number, wait) for each open one, oldest first; it may close that one.
  template <class OnWait>
  void for_each(OnWait&& on_wait) {
    for (std::uint32_t at = first_; at != kNone;) {
      const std::uint32_t next = waits_[at].next;
      on_wait(at, waits_[at].wait);
      at = next;
    }
  }
  template <class OnWait>
  void for_each(OnWait&& on_wait) const {
    for (std::uint32_t at = first_; at != kNone; at = waits_[at].next) on_wait(waits_[at].wait);
  }

  /// Takes the block's links away: on_link(number, wait, keys) for each, which may close that wait if this was
  /// its last link.
  template <class OnLink>
  void resolve(BlockId block, OnLink&& on_link) {
    for (std::uint32_t at = bucket_of(block); at != kNone;) {
      const Link link = links_[at];
      if (link.block == block) {
        unlink(at);
        on_link(link.wait, waits_[link.wait].wait, link.keys);
      }
      at = link.bucket_next;
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kBuckets = 4096;

  struct Place {
    Wait wait;
    std::uint32_t first_link = kNone;
    std::uint32_t prev = kNone;  ///< in order of opening
    std::uint32_t next = kNone;  ///< the same; of a free place: the next free one
  };
  struct Link {
    BlockId block = BlockId::kNone;
    std::uint32_t wait = kNone;
    std::uint32_t keys = 0;
    std::uint32_t bucket_prev = kNone;
    std::uint32_t bucket_next = kNone;  ///< of a free link: the next free one
    std::uint32_t wait_prev = kNone;
    std::uint32_t wait_next = kNone;
  };

  // Neighbours are neighbours' buckets: ids are dense, so the low bits spread them.
  std::uint32_t& bucket_of(BlockId block) { return buckets_[index_of(block) % kBuckets]; }
  void unlink(std::uint32_t at);

  std::uint32_t waits_max_ = 0;
  std::uint32_t open_count_ = 0;
  std::uint32_t links_count_ = 0;
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
  std::uint32_t free_wait_ = kNone;
  std::uint32_t free_link_ = kNone;
  std::vector<Place> waits_;  ///< reserved for waits_max_
  std::vector<Link> links_;   ///< reserved for kLinksMax
  std::vector<std::uint32_t> buckets_;
};

}  // namespace kvtier
