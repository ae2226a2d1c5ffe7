#include "daemon/policy/ghosts.h"

#include <algorithm>
#include <bit>

#include "libkvclient/base/prng.h"

namespace kvtier {
std::uint64_t Ghosts::fingerprint(const BlockRecord& record) const {
  const std::uint64_t owner = (std::uint64_t{record.tenant} << 32) | static_cast<std::uint32_t>(record.space);
  std::uint64_t mixed = mix64(seed_ ^ owner);
  for (const std::uint64_t word : record.key.words) mixed = mix64((mixed ^ word) + seed_);
  return mixed;
}

Ghosts::Ghosts(std::uint32_t ghosts_max, std::uint64_t seed)
    : seed_(seed),
      ghosts_max_(std::max(ghosts_max, 1U)),
      bucket_mask_(std::bit_ceil(std::uint64_t{ghosts_max_}) - 1),
      ghosts_(make_zeroed<Ghost>(std::size_t{ghosts_max_} + 1)),
      buckets_(make_zeroed<std::uint32_t>(bucket_mask_ + 1)) {}

std::uint32_t Ghosts::insert(std::uint32_t queue, std::uint64_t fingerprint, std::uint64_t note) {
  if (const std::uint32_t known = find(fingerprint); known != kNone) erase(known);
  const std::uint32_t ghost = take_place(queue);
  Queue& to = queues_[queue];
  std::uint32_t& bucket = bucket_of(fingerprint);
  ghosts_[ghost] = {.fingerprint = fingerprint,
                    .note = note,
                    .older = to.youngest,
                    .younger = kNone,
                    .next_in_bucket = bucket,
                    .queue = queue};
  bucket = ghost;
  (to.youngest == kNone ? to.oldest : ghosts_[to.youngest].younger) = ghost;
  to.youngest = ghost;
  ++to.size;
  return ghost;
}

std::uint32_t Ghosts::take_place(std::uint32_t queue) {
  if (free_ == kNone && used_ == ghosts_max_) {
    while (queues_[queue].size == 0) queue = (queue + 1) % kQueues;
    erase(queues_[queue].oldest);
  }
  if (free_ == kNone) return ++used_;
  const std::uint32_t ghost = free_;
  free_ = ghosts_[ghost].next_in_bucket;
  return ghost;
}

std::uint32_t Ghosts::find(std::uint64_t fingerprint) const {
  std::uint32_t ghost = bucket_of(fingerprint);
  while (ghost != kNone && ghosts_[ghost].fingerprint != fingerprint) ghost = ghosts_[ghost].next_in_bucket;
  return ghost;
}

void Ghosts::leave_bucket(std::uint32_t ghost) {
  std::uint32_t* link = &bucket_of(ghosts_[ghost].fingerprint);
  while (*link != ghost) link = &ghosts_[*link].next_in_bucket;
  *link = ghosts_[ghost].next_in_bucket;
}

void Ghosts::erase(std::uint32_t ghost) {
  leave_bucket(ghost);
  Ghost& gone = ghosts_[ghost];
  Queue& from = queues_[gone.queue];
  (gone.older == kNone ? from.oldest : ghosts_[gone.older].younger) = gone.younger;
  (gone.younger == kNone ? from.youngest : ghosts_[gone.younger].older) = gone.older;
  --from.size;
  gone.next_in_bucket = free_;
  free_ = ghost;
}

}  // namespace kvtier
