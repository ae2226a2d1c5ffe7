#include "libkvclient/wire/access_log.h"

#include <algorithm>
#include <bit>

#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

// word 0: last slot (32) | count (16)
// word 1: time_ms (32) | tier (8) | flags (8)
// word 2: request id (48)
AccessLogRing::Words pack(const AccessRecord& record) {
  return {record.last.bits | (std::uint64_t{record.count} << 32),
          record.time_ms | (std::uint64_t{static_cast<std::uint8_t>(record.tier)} << 32) |
              (std::uint64_t{record.flags} << 40),
          record.request_id & AccessLogRing::kPayloadMask};
}

AccessRecord unpack(const AccessLogRing::Words& words) {
  AccessRecord record;
  record.last = {static_cast<std::uint32_t>(words[0])};
  record.count = static_cast<std::uint16_t>(words[0] >> 32);
  record.time_ms = static_cast<std::uint32_t>(words[1]);
  record.tier = static_cast<AccessTier>((words[1] >> 32) & 0xff);
  record.flags = static_cast<std::uint8_t>(words[1] >> 40);
  record.request_id = words[2];
  return record;
}

void check_geometry(std::span<std::byte> memory, std::size_t capacity) {
  KV_CHECK(std::has_single_bit(capacity), "the capacity of an access log is a power of two");
  KV_CHECK(memory.size() >= AccessLogLayout::bytes_for(capacity), "the access log does not fit its memory");
}

AccessLogRing::Record* records_of(std::span<std::byte> memory) {
  return reinterpret_cast<AccessLogRing::Record*>(memory.data() + sizeof(AccessLogHeader));
}

}  // namespace

AccessLogProducer::AccessLogProducer(std::span<std::byte> memory, std::size_t capacity)
    : header_(reinterpret_cast<AccessLogHeader*>(memory.data())),
      records_(records_of(memory)),
      capacity_(capacity),
      capacity_log2_(static_cast<unsigned>(std::countr_zero(capacity))) {
  check_geometry(memory, capacity);
}

bool AccessLogProducer::append(const AccessRecord& record) const {
  const std::uint64_t position = AccessLogRing::claim(header_->tail);
  AccessLogRing::put(records_[position & (capacity_ - 1)], position, (position >> capacity_log2_) + 1,
                     pack(record));
  return wants_wakeup(position);
}

bool AccessLogProducer::wants_wakeup(std::uint64_t position) const {
  // relaxed, all three: a wake-up too many costs a drain of nothing; one too few, the oldest hits of a burst.
  const std::uint64_t consumed = header_->consumed.load(std::memory_order_relaxed);
  if (position + 1 - consumed < capacity_ / 2) [[likely]]
    return false;
  if (header_->wake_asked.load(std::memory_order_relaxed) != 0) return false;
  return header_->wake_asked.exchange(1, std::memory_order_relaxed) == 0;
}

AccessLogConsumer::AccessLogConsumer(std::span<std::byte> memory, std::size_t capacity)
    : header_(reinterpret_cast<AccessLogHeader*>(memory.data())),
      records_(records_of(memory)),
      capacity_(capacity),
      capacity_log2_(static_cast<unsigned>(std::countr_zero(capacity))) {
  check_geometry(memory, capacity);
  const std::uint64_t tail = AccessLogRing::tail(header_->tail);
  const std::uint64_t consumed = header_->consumed.load(std::memory_order_relaxed);
  position_ = tail - consumed <= capacity ? consumed : tail - std::min<std::uint64_t>(tail, capacity);
}

void AccessLogConsumer::skip_overwritten(std::uint64_t tail) {
  // A tail that went backwards is a lie; the position follows it, so that the ring is heard again.
  if (tail < position_) position_ = tail;
  if (tail - position_ <= capacity_) return;
  lost_count_ += tail - capacity_ - position_;
  position_ = tail - capacity_;
}

AccessLogConsumer::Step AccessLogConsumer::take_next(AccessRecord& record) {
  AccessLogRing::Words words;
  const auto taken = AccessLogRing::take(records_[position_ & (capacity_ - 1)], position_,
                                         (position_ >> capacity_log2_) + 1, words);
  if (taken == AccessLogRing::Take::kTaken) {
    record = unpack(words);
    return Step::kTaken;
  }
  if (taken == AccessLogRing::Take::kLost || waited_for_ == position_) return Step::kLost;
  waited_for_ = position_;
  return Step::kWait;
}

std::size_t AccessLogConsumer::drain(std::span<AccessRecord> out) {
  // relaxed: cleared before the tail is read; a producer that fills the ring from here on asks again.
  header_->wake_asked.store(0, std::memory_order_relaxed);
  const std::uint64_t tail = AccessLogRing::tail(header_->tail);
  skip_overwritten(tail);
  std::size_t count = 0;
  while (count < out.size() && position_ != tail) {
    const Step step = take_next(out[count]);
    if (step == Step::kWait) break;
    if (step == Step::kTaken) ++count;
    if (step == Step::kLost) ++lost_count_;
    ++position_;
  }
  // relaxed: only a producer's estimate of how full the ring is.
  header_->consumed.store(position_, std::memory_order_relaxed);
  return count;
}

}  // namespace kvtier
