#pragma once
// Work that comes one by one and leaves in groups, in order: what the conductor sent as one prefix goes to the store in
// one call. Fixed in size.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "daemon/tier/disk_command.h"
#include "libkvclient/base/check.h"

namespace kvtier {

template <class Work>
class GroupQueue {
 public:
  explicit GroupQueue(std::size_t capacity) : places_(capacity) {
    KV_CHECK(capacity > kDiskGroupMax, "a queue has room for a group and for what begins the next one");
  }

  [[nodiscard]] bool has_room() const { return count_ < places_.size(); }
  /// Those that wait, in groups or not.
  [[nodiscard]] std::size_t size() const { return count_ + group_count_; }

  /// `is_end`: the last of its group. One that grows to kDiskGroupMax ends by itself.
  void push(const Work& work, bool is_end) {
    KV_CHECK(has_room(), "a queue is asked for room before");
    open_count_ = is_end || open_count_ + 1 == kDiskGroupMax ? 0 : open_count_ + 1;
    places_[(head_ + count_) % places_.size()] = {work, open_count_ == 0};
    ++count_;
  }
  /// What was begun goes as it is.
  void end_group() {
    if (open_count_ == 0) return;
    places_[(head_ + count_ - 1) % places_.size()].is_end = true;
    open_count_ = 0;
  }

  /// The first whole group, until pop_group(); empty: there is none.
  [[nodiscard]] std::span<const Work> group() {
    if (group_count_ == 0 && count_ > open_count_) take_group();
    return std::span(group_).first(group_count_);
  }
  void pop_group() { group_count_ = 0; }

 private:
  struct Place {
    Work work;
    bool is_end = false;
  };

  void take_group() {
    for (bool is_end = false; !is_end;) {
      const Place& place = places_[head_];
      group_[group_count_++] = place.work;
      is_end = place.is_end;
      head_ = (head_ + 1) % places_.size();
      --count_;
    }
  }

  std::vector<Place> places_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
  std::size_t open_count_ = 0;  ///< at the end of the queue, of a group that has not ended
  std::array<Work, kDiskGroupMax> group_{};
  std::size_t group_count_ = 0;
};

}  // namespace kvtier
