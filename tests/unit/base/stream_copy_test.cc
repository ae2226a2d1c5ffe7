// Every byte arrives and none beside them changes, at every alignment and around every size where the way of copying
// changes.

#include "libkvclient/base/stream_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

constexpr std::size_t kGuard = 128;
constexpr std::byte kUntouched{0xa5};

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  Prng chance(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& each : bytes) each = static_cast<std::byte>(chance.next());
  return bytes;
}

void expect_exact(std::size_t bytes, std::size_t to_offset, std::size_t from_offset) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes, offsets " << to_offset << " and " << from_offset);
  const std::vector<std::byte> source = random_bytes(bytes + from_offset, bytes + to_offset);
  std::vector<std::byte> target(kGuard + to_offset + bytes + kGuard, kUntouched);
  std::byte* const to = target.data() + kGuard + to_offset;
  stream_copy(to, source.data() + from_offset, bytes);
  EXPECT_TRUE(std::equal(to, to + bytes, source.data() + from_offset));
  const auto is_untouched = [](std::byte each) { return each == kUntouched; };
  EXPECT_TRUE(std::all_of(target.data(), to, is_untouched));
  EXPECT_TRUE(std::all_of(to + bytes, target.data() + target.size(), is_untouched));
}

TEST(StreamCopy, SizesAroundEveryChangeOfTheWay) {
  for (const std::size_t around :
       {std::size_t{0}, kStreamCopyBytesMin, kStreamCopyBytesMin + 8192, std::size_t{1} << 20}) {
    for (const std::ptrdiff_t more : {-64, -1, 0, 1, 63, 64, 65, 4096}) {
      if (static_cast<std::ptrdiff_t>(around) + more < 0) continue;
      expect_exact(around + static_cast<std::size_t>(more), 0, 0);
    }
  }
}

TEST(StreamCopy, EveryAlignmentOfBothSides) {
  for (std::size_t offset = 0; offset < 64; ++offset) {
    expect_exact(kStreamCopyBytesMin + 777, offset, 0);
    expect_exact(kStreamCopyBytesMin + 777, 0, offset);
    expect_exact(kStreamCopyBytesMin + 777, offset, 63 - offset);
  }
}

// A reader on another thread sees every copy whole. It does not prove the fence of stream_copy: on the processors tried it
// passes without it too. The fence stands on the architecture's rules, which order non-temporal stores by a fence alone.
TEST(StreamCopy, CopiesOfOneThreadArriveWholeAtAnother) {
  constexpr std::size_t kBytes = 256 * 1024;
  constexpr std::uint32_t kRounds = 300;
  std::vector<std::byte> block(kBytes);
  std::atomic<std::uint32_t> published{0};
  std::atomic<std::uint32_t> seen{0};
  std::thread reader([&] {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      // acquire: pairs with the release below, which stands for a commit.
      while (published.load(std::memory_order_acquire) < round) std::this_thread::yield();
      for (std::size_t at = kBytes; at > 0; at -= 4096)
        ASSERT_EQ(block[at - 1], static_cast<std::byte>(round));
      seen.store(round, std::memory_order_release);
    }
  });
  for (std::uint32_t round = 1; round <= kRounds; ++round) {
    const std::vector<std::byte> source(kBytes, static_cast<std::byte>(round));
    stream_copy(block.data(), source.data(), kBytes);
    published.store(round, std::memory_order_release);
    while (seen.load(std::memory_order_acquire) < round && !testing::Test::HasFailure())
      std::this_thread::yield();
  }
  reader.join();
}

}  // namespace
}  // namespace kvtier
