#pragma once
// What an evictor still knows of blocks that left: fingerprints of their keys in a few queues, oldest first. Memory is
// set aside at construction; its pages come as they are used. O(1) a call.
//
// Two keys with one fingerprint are mistaken for each other: nothing but the order of eviction depends on it. Keys come
// from clients: who knows the seed can make long chains.

#include <algorithm>
#include <cstdint>

#include "daemon/model/block_record.h"
#include "daemon/policy/zeroed.h"

namespace kvtier {

class Ghosts {
 public:
  static constexpr std::uint32_t kNone = 0;  ///< no ghost
  static constexpr std::uint32_t kQueues = 2;
  static constexpr std::uint64_t kPageWords = 1024;

  Ghosts(std::uint32_t ghosts_max, std::uint64_t seed);

  /// Of namespace, space and key.
  [[nodiscard]] std::uint64_t fingerprint(const BlockRecord& record) const;

  /// A new one, the youngest of `queue`; `note` is the evictor's. When all places are taken the oldest of that queue,
  /// or else of another, goes. One that is there already under that fingerprint goes too.
  std::uint32_t insert(std::uint32_t queue, std::uint64_t fingerprint, std::uint64_t note = 0);
  /// Its number, valid until the next change; kNone.
  [[nodiscard]] std::uint32_t find(std::uint64_t fingerprint) const;
  [[nodiscard]] std::uint32_t oldest(std::uint32_t queue) const { return queues_[queue].oldest; }
  void erase(std::uint32_t ghost);

  [[nodiscard]] std::uint32_t queue_of(std::uint32_t ghost) const { return ghosts_[ghost].queue; }
  [[nodiscard]] std::uint64_t note_of(std::uint32_t ghost) const { return ghosts_[ghost].note; }
  [[nodiscard]] std::uint32_t size(std::uint32_t queue) const { return queues_[queue].size; }
  [[nodiscard]] std::uint32_t places_used() const { return used_; }
  /// At most, of what is used.
  [[nodiscard]] std::uint64_t bytes_resident() const {
    const std::uint64_t buckets =
        std::min(bucket_mask_ + 1, std::uint64_t{used_} * kPageWords) * sizeof(std::uint32_t);
    return std::uint64_t{used_} * sizeof(Ghost) + buckets;
  }

 private:
  struct Ghost {
    std::uint64_t fingerprint;
    std::uint64_t note;
    std::uint32_t older;
    std::uint32_t younger;
    std::uint32_t next_in_bucket;  // also the free list's link
    std::uint32_t queue;
  };
  struct Queue {
    std::uint32_t oldest = kNone;
    std::uint32_t youngest = kNone;
    std::uint32_t size = 0;
  };
  [[nodiscard]] std::uint32_t& bucket_of(std::uint64_t fingerprint) const {
    return buckets_[fingerprint & bucket_mask_];
  }
  std::uint32_t take_place(std::uint32_t queue);
  void leave_bucket(std::uint32_t ghost);

  std::uint64_t seed_;
  std::uint32_t ghosts_max_;
  std::uint64_t bucket_mask_;
  Zeroed<Ghost> ghosts_;  // number 0 is none
  Zeroed<std::uint32_t> buckets_;
  std::uint32_t free_ = kNone;
  std::uint32_t used_ = 0;  // places ever taken
  Queue queues_[kQueues];
};

}  // namespace kvtier
