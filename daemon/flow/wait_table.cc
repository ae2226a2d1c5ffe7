#include "daemon/flow/wait_table.h"

#include "libkvclient/base/check.h"

namespace kvtier {

WaitTable::WaitTable(std::uint32_t waits_max) : waits_max_(waits_max), buckets_(kBuckets, kNone) {
  waits_.reserve(waits_max);
  links_.reserve(kLinksMax);
}

std::uint32_t WaitTable::open(const Wait& wait) {
  KV_CHECK(has_room(0), "who opens a wait has asked for room");
  std::uint32_t at = free_wait_;
  if (at != kNone) {
    free_wait_ = waits_[at].next;
  } else {
    at = static_cast<std::uint32_t>(waits_.size());
    waits_.emplace_back();
  }
  waits_[at] = {.wait = wait, .prev = last_};
  (last_ == kNone ? first_ : waits_[last_].next) = at;
  last_ = at;
  ++open_count_;
  return at;
}

void WaitTable::link(std::uint32_t wait, BlockId block, std::uint32_t keys) {
  KV_CHECK(links_count_ < kLinksMax, "who links a wait has asked for room");
  std::uint32_t at = free_link_;
  if (at != kNone) {
    free_link_ = links_[at].bucket_next;
  } else {
    at = static_cast<std::uint32_t>(links_.size());
    links_.emplace_back();
  }
  std::uint32_t& bucket = bucket_of(block);
  std::uint32_t& first = waits_[wait].first_link;
  links_[at] = {.block = block, .wait = wait, .keys = keys, .bucket_next = bucket, .wait_next = first};
  if (bucket != kNone) links_[bucket].bucket_prev = at;
  if (first != kNone) links_[first].wait_prev = at;
  bucket = first = at;
  ++links_count_;
}

void WaitTable::unlink(std::uint32_t at) {
  const Link link = links_[at];
  (link.bucket_prev == kNone ? bucket_of(link.block) : links_[link.bucket_prev].bucket_next) =
      link.bucket_next;
  if (link.bucket_next != kNone) links_[link.bucket_next].bucket_prev = link.bucket_prev;
  (link.wait_prev == kNone ? waits_[link.wait].first_link : links_[link.wait_prev].wait_next) =
      link.wait_next;
  if (link.wait_next != kNone) links_[link.wait_next].wait_prev = link.wait_prev;
  links_[at].bucket_next = free_link_;
  free_link_ = at;
  --links_count_;
}

void WaitTable::close(std::uint32_t wait) {
  Place& place = waits_[wait];
  while (place.first_link != kNone) unlink(place.first_link);
  (place.prev == kNone ? first_ : waits_[place.prev].next) = place.next;
  (place.next == kNone ? last_ : waits_[place.next].prev) = place.prev;
  place.next = free_wait_;
  free_wait_ = wait;
  --open_count_;
}

}  // namespace kvtier
