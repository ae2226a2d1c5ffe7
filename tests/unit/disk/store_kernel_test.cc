// A store on real files: uring and threads, with and without O_DIRECT. Once it is ready it allocates nothing.

#include <gtest/gtest.h>

#include "tests/support/pattern_block.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/sim_store.h"
#include "tests/unit/disk/kernel_store.h"
#ifdef KVTIER_ALLOCATION_TRAP
#include "tests/support/allocation_trap.h"
#endif

namespace kvtier::test {
namespace {

struct KernelCase {
  const char* name;
  IoEngine engine;
  bool use_direct;
};
void PrintTo(const KernelCase& each, std::ostream* out) {
  *out << each.name;
}

class DiskStoreKernel : public testing::TestWithParam<KernelCase> {
 protected:
  std::unique_ptr<KernelStore> open() {
    Result<std::unique_ptr<KernelStore>> opened =
        KernelStore::open(folder_.path(), GetParam().engine, GetParam().use_direct);
    reason_ = opened.status().to_string();
    return opened.is_ok() ? std::move(opened).value() : nullptr;
  }
  ScratchDir folder_;
  std::string reason_;
};

/// Puts `count` blocks from `first` on, in groups of 8, and forgets none.
std::vector<DiskLocator> put_blocks(KernelStore& kernel, std::uint64_t first, std::uint64_t count) {
  std::vector<DiskLocator> locators;
  locators.reserve(count);
  for (std::uint64_t i = 0; i < count; i += 8) {
    std::array<DiskPut, 8> puts{};
    for (std::uint64_t j = 0; j < puts.size(); ++j) {
      const DiskKey key = sim_key(first + i + j);
      fill_pattern(key.key, kernel.slot(j));
      puts[j] = {.key = key, .shape = &kernel.shape(), .memory = kernel.memory(j), .tag = j};
    }
    EXPECT_EQ(kernel.store().put(puts), Code::kOk);
    for (std::uint64_t j = 0; j < puts.size(); ++j) {
      const DiskEvent event = kernel.wait(DiskEventKind::kPut);
      EXPECT_EQ(event.code, Code::kOk) << code_name(event.code);
      locators.push_back(event.locator);
    }
  }
  return locators;
}

bool is_right(KernelStore& kernel, std::uint64_t number, const DiskLocator& locator) {
  const DiskGet get{.key = sim_key(number),
                    .locator = locator,
                    .block_bytes = KernelStore::kBlockBytes,
                    .memory = kernel.memory(9)};
  if (kernel.store().get({&get, 1}) != Code::kOk) return false;
  const bool is_ok = kernel.wait(DiskEventKind::kGet).code == Code::kOk;
  return is_ok && check_pattern(get.key.key, kernel.slot(9)) == KernelStore::kBlockBytes;
}

bool flush(KernelStore& kernel) {
  return kernel.store().flush(1) == Code::kOk && kernel.wait(DiskEventKind::kFlushed).code == Code::kOk;
}

TEST_P(DiskStoreKernel, KeepsItsBlocksOverADeathAndACleanEnd) {
  std::vector<DiskLocator> locators;
  {
    auto kernel = open();
    if (kernel == nullptr) GTEST_SKIP() << reason_;
    ASSERT_EQ(kernel->wait(DiskEventKind::kReady).kind, DiskEventKind::kReady)
        << kernel->store().status().to_string();
    locators = put_blocks(*kernel, 0, 24);
    EXPECT_TRUE(flush(*kernel));
    for (std::uint64_t i = 0; i < 24; ++i) EXPECT_TRUE(is_right(*kernel, i, locators[i]));
  }
  for (int start = 0; start < 2; ++start) {
    auto kernel = open();
    ASSERT_NE(kernel, nullptr) << reason_;
    ASSERT_EQ(kernel->wait(DiskEventKind::kReady).kind, DiskEventKind::kReady)
        << kernel->store().status().to_string();
    EXPECT_EQ(kernel->entries.size(), 24U);
    for (const DiskEvent& entry : kernel->entries) {
      const auto number = static_cast<std::uint64_t>(
          std::find(locators.begin(), locators.end(), entry.locator) - locators.begin());
      EXPECT_TRUE(is_right(*kernel, number, entry.locator));
    }
    kernel->store().close(1);
    EXPECT_EQ(kernel->wait(DiskEventKind::kClosed).code, Code::kOk);
  }
}

#ifdef KVTIER_ALLOCATION_TRAP
/// Eight blocks are put, read, flushed, one of them voided, all forgotten.
void work_round(KernelStore& kernel, DiskKey key, std::uint64_t round) {
  std::array<DiskPut, 8> puts{};
  std::array<DiskGet, 8> gets{};
  for (std::uint64_t j = 0; j < puts.size(); ++j) {
    key.key = pattern_key(3, round * 8 + j);
    puts[j] = {.key = key, .shape = &kernel.shape(), .memory = kernel.memory(j), .tag = j};
  }
  EXPECT_EQ(kernel.store().put(puts), Code::kOk);
  for (std::size_t j = 0; j < puts.size(); ++j) {
    const DiskEvent event = kernel.wait(DiskEventKind::kPut);
    EXPECT_EQ(event.code, Code::kOk);
    gets[j] = {.key = puts[event.tag].key,
               .locator = event.locator,
               .block_bytes = KernelStore::kBlockBytes,
               .memory = kernel.memory(16 + j)};
  }
  EXPECT_EQ(kernel.store().get(gets), Code::kOk);
  for (std::size_t j = 0; j < gets.size(); ++j) EXPECT_EQ(kernel.wait(DiskEventKind::kGet).code, Code::kOk);
  EXPECT_TRUE(flush(kernel));
  EXPECT_EQ(kernel.store().mark({.key = key}), Code::kOk);
  EXPECT_EQ(kernel.wait(DiskEventKind::kMarked).code, Code::kOk);
  for (const DiskGet& get : gets) kernel.store().forget(get.locator);
}

TEST_P(DiskStoreKernel, AllocatesNothingOnceItIsReady) {
  auto kernel = open();
  if (kernel == nullptr) GTEST_SKIP() << reason_;
  ASSERT_EQ(kernel->wait(DiskEventKind::kReady).kind, DiskEventKind::kReady);
  const DiskKey key = sim_key(1);
  work_round(*kernel, key, 0);
  const std::size_t before = AllocationTrap::caught_count();
  {
    // More than the store holds: it seals and reclaims on the way.
    const AllocationTrap trap(AllocationTrap::Watch::kAllThreads);
    for (std::uint64_t round = 1; round < 32; ++round) work_round(*kernel, key, round);
  }
  EXPECT_EQ(AllocationTrap::caught_count(), before) << "the places are above";
  EXPECT_GT(kernel->store().stats().segments_reclaimed, 3U);
}
#endif

INSTANTIATE_TEST_SUITE_P(Engines, DiskStoreKernel,
                         testing::Values(KernelCase{"uring", IoEngine::kUring, false},
                                         KernelCase{"uring_direct", IoEngine::kUring, true},
                                         KernelCase{"posix", IoEngine::kPosix, false},
                                         KernelCase{"posix_direct", IoEngine::kPosix, true}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kvtier::test
