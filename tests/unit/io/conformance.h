#pragma once
// What every ring does, whatever moves its bytes: a ring on each backend.

#include <gtest/gtest.h>

#include <map>

#include "libkvclient/base/units.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {

class IoConformance : public testing::TestWithParam<IoCase> {
 protected:
  static constexpr std::uint32_t kBlock = 64 * kKiB;

  void open(std::uint32_t depth, const IoRingOptions& options = {}) {
    Result<IoUnderTest> under = GetParam().open(depth);
    if (!under.is_ok()) GTEST_SKIP() << under.status().to_string();
    harness_ = std::make_unique<RingHarness>(std::move(under).value(), options);
    fill(memory(RingHarness::kSource), 3);
  }
  IoRing& ring() { return harness_->ring(); }
  std::span<std::byte> memory(IoRegion region) { return harness_->memory(region); }
  void write_all() {
    for (std::uint64_t at = 0; at < RingHarness::kRegionBytes; at += kBlock) submit(IoKind::kWrite, at);
    harness_->finish();
  }
  IoId submit(IoKind kind, std::uint64_t at) { return harness_->submit(harness_->request(kind, at, kBlock)); }
  /// Bytes of the target that are not the source's.
  std::size_t wrong_bytes(std::uint64_t from, std::uint64_t bytes) {
    const auto source = memory(RingHarness::kSource).subspan(from, bytes);
    const auto target = memory(RingHarness::kTarget).subspan(from, bytes);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes; ++i) wrong += source[i] != target[i] ? 1 : 0;
    return wrong;
  }
  std::map<IoOutcome, std::size_t> outcomes() {
    std::map<IoOutcome, std::size_t> counts;
    for (const IoEvent& event : harness_->events()) ++counts[event.outcome];
    return counts;
  }

  std::unique_ptr<RingHarness> harness_;
};

#define OPEN_OR_SKIP(...) \
  open(__VA_ARGS__);      \
  if (harness_ == nullptr) return

/// The suite on all backends.
#define ON_ALL_BACKENDS(suite)                                                 \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, testing::ValuesIn(all_io_cases()), \
                           [](const auto& each) { return each.param.name; })

}  // namespace kvtier::test
