#include "tests/unit/io/ring_harness.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cstring>

#include "libkvclient/base/prng.h"

namespace kvtier::test {
namespace {

ShmMapping make_slab() {
  const Result<UniqueFd> fd = shm_create("kvtier-test-slab", RingHarness::kRegionBytes, {});
  EXPECT_TRUE(fd.is_ok()) << fd.status().to_string();
  Result<ShmMapping> mapping =
      ShmMapping::map(fd.value().get(), RingHarness::kRegionBytes, ShmAccess::kReadWrite);
  EXPECT_TRUE(mapping.is_ok()) << mapping.status().to_string();
  return std::move(mapping).value();
}

}  // namespace

RingHarness::RingHarness(IoUnderTest under, const IoRingOptions& options)
    : under_(std::move(under)), memory_{make_slab(), make_slab()} {
  ring_ = std::make_unique<IoRing>(std::move(under_.backend), options);
  EXPECT_TRUE(ring_->set_file(IoFile{0}, under_.fd, under_.alignment).is_ok());
  for (const IoRegion region : {kSource, kTarget})
    EXPECT_TRUE(ring_->set_region(region, memory(region)).is_ok());
}

std::span<std::byte> RingHarness::memory(IoRegion region) const {
  return memory_[static_cast<std::size_t>(region)].bytes();
}

IoRequest RingHarness::request(IoKind kind, std::uint64_t offset, std::uint32_t bytes) const {
  const IoRegion region = kind == IoKind::kRead ? kTarget : kSource;
  return {.kind = kind,
          .region = region,
          .bytes = bytes,
          .offset = offset,
          .data = memory(region).data() + offset % kRegionBytes,
          .tag = offset + 1};
}

IoId RingHarness::submit(const IoRequest& request) {
  std::optional<IoId> id = ring_->submit(request);
  for (; !id.has_value(); id = ring_->submit(request)) {
    if (poll() == 0) wait();
  }
  offsets_.insert(request.offset);
  return *id;
}

std::uint64_t RingHarness::unused(std::uint64_t offset, std::uint32_t bytes) const {
  while (offsets_.contains(offset)) offset = (offset + bytes) % kRegionBytes;
  return offset;
}

std::size_t RingHarness::poll() {
  std::array<IoEvent, 16> events;
  const std::size_t count = ring_->poll(clock_.now_ns(), events);
  events_.insert(events_.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    if (!events[i].is_held) offsets_.erase(events[i].request.offset);
  }
  return count;
}

void RingHarness::wait() {
  const TimeNs until_ns = ring_->next_deadline_ns();
  pollfd ready{ring_->completion_fd(), POLLIN, 0};
  const int count = ::poll(&ready, 1, until_ns == kNever ? -1 : 0);
  if (count == 0 && until_ns > clock_.now_ns()) clock_.advance(until_ns - clock_.now_ns());
}

bool RingHarness::is_woken() const {
  pollfd ready{ring_->completion_fd(), POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

void RingHarness::finish() {
  while (ring_->requests_count() > 0) {
    if (poll() == 0) wait();
  }
}

IoEvent RingHarness::result(IoId id) const {
  std::vector<IoEvent> results;
  for (const IoEvent& event : events_) {
    if (event.id == id && event.outcome != IoOutcome::kReleased) results.push_back(event);
  }
  EXPECT_EQ(results.size(), 1U);
  return results.empty() ? IoEvent{} : results.front();
}

IoEvent RingHarness::run(const IoRequest& request) {
  const IoId id = submit(request);
  finish();
  return result(id);
}

void fill(std::span<std::byte> memory, std::uint64_t seed) {
  Prng chance(seed);
  for (std::size_t at = 0; at + 8 <= memory.size(); at += 8) {
    const std::uint64_t word = chance.next();
    std::memcpy(memory.data() + at, &word, sizeof word);
  }
}

}  // namespace kvtier::test
