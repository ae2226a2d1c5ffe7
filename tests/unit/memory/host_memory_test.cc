// The host tier's memory: sizes as configured to the byte (U-01), refusals with the numbers and the knob
// (S-01), and new memory in place of a slab that left its namespace.

#include "daemon/memory/host_memory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Result<HostMemory> make(std::uint64_t bytes, std::uint64_t slab_bytes) {
  NoFdStore fds;
  return HostMemory::create({.bytes = bytes, .slab_bytes = slab_bytes}, fds);
}

void expect_refusal(const Result<HostMemory>& memory, Code code, std::initializer_list<const char*> parts) {
  ASSERT_EQ(memory.code(), code) << memory.status().to_string();
  for (const char* part : parts) {
    EXPECT_NE(memory.status().message().find(part), std::string::npos) << memory.status().message();
  }
}

TEST(HostMemory, IsExactlyAsLargeAsConfigured_U01) {
  Result<HostMemory> memory = make(10 * kMiB + 64 * kKiB, kMiB);
  ASSERT_TRUE(memory.is_ok()) << memory.status().to_string();
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < memory.value().slab_count(); ++i) {
    sum += memory.value().slab(SlabIndex{i}).bytes();
  }
  EXPECT_EQ(sum, 10 * kMiB + 64 * kKiB) << "no rounding up to a power of two";
  EXPECT_EQ(memory.value().slab_count(), 11U) << "the last one is the rest";
}

TEST(HostMemory, GivesSlabsOutOnceAndInOrder) {
  Result<HostMemory> memory = make(4 * kMiB, kMiB);
  ASSERT_TRUE(memory.is_ok());
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(memory.value().take_unassigned()->index(), SlabIndex{i});
  EXPECT_EQ(memory.value().take_unassigned(), nullptr);
  memory.value().put_unassigned(memory.value().slab(SlabIndex{2}));
  EXPECT_EQ(memory.value().unassigned_count(), 1U);
  EXPECT_EQ(memory.value().take_unassigned()->index(), SlabIndex{2});
}

TEST(HostMemory, ChosenSlabSizeIsAPowerOfTwoWithinItsBounds) {
  EXPECT_EQ(HostMemory::default_slab_bytes(4 * kMiB), 4 * kMiB) << "never more than the tier";
  EXPECT_EQ(HostMemory::default_slab_bytes(kGiB), 16 * kMiB);
  EXPECT_EQ(HostMemory::default_slab_bytes(16 * kGiB), 128 * kMiB);
  EXPECT_EQ(HostMemory::default_slab_bytes(600 * kGiB), kGiB);
  EXPECT_EQ(HostMemory::default_slab_bytes(2048 * kGiB), kGiB);
}

TEST(HostMemory, RefusesSizesThatAreNotPagesOrNotThere) {
  expect_refusal(make(0, 0), Code::kInvalid, {"host.bytes", "0"});
  expect_refusal(make(kMiB + 1, kMiB), Code::kInvalid, {"host.bytes", "1048577", "4 KiB"});
  expect_refusal(make(kMiB, 1000), Code::kInvalid, {"host.slab_bytes", "1000"});
  expect_refusal(make(kMiB, 2 * kMiB), Code::kInvalid, {"host.slab_bytes", "2 MiB", "1 MiB"});
}

TEST(HostMemory, RefusesMoreSlabsThanALocatorCanName) {
  expect_refusal(make((std::uint64_t{SlotRef::kSlabsMax} + 1) * 4096, 4096), Code::kInvalid,
                 {"16385", "16384", "raise host.slab_bytes"});
}

bool has_huge_pages() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("HugePages_Free:")) return line.find_first_of("123456789") != std::string::npos;
  }
  return false;
}

// The pages are asked for at once, so that a tier that is not there is an answer now and no SIGBUS later.
// Huge pages stand for memory that is short: a machine without a pool of them has none to give.
TEST(HostMemory, ATierThatDoesNotFitIsRefusedWithNumbersAndKnob_S01) {
  if (has_huge_pages()) GTEST_SKIP() << "this machine has huge pages to give";
  NoFdStore fds;
  const Result<HostMemory> memory =
      HostMemory::create({.bytes = 64 * kMiB, .slab_bytes = 16 * kMiB, .pages = SlabPages::kSetAside}, fds);
  if (memory.code() == Code::kSystem) GTEST_SKIP() << memory.status().to_string();
  expect_refusal(memory, Code::kNoSpace,
                 {"host.bytes is 64 MiB", "0 B could be reserved", "lower host.bytes"});
}

// How many there are is the kernel's affair; that every page is there is not.
TEST(HostMemory, GatheredPagesAreAllReservedWhateverTheirSize) {
  NoFdStore fds;
  Result<HostMemory> made =
      HostMemory::create({.bytes = 9 * kMiB, .slab_bytes = 5 * kMiB, .pages = SlabPages::kGathered}, fds);
  ASSERT_TRUE(made.is_ok()) << made.status().to_string();
  EXPECT_LE(made.value().huge_bytes(), 8 * kMiB) << "a slab's rest is in ordinary ones";
  for (std::uint32_t i = 0; i < 2; ++i) {
    struct stat file {};
    const Slab& slab = made.value().slab(SlabIndex{i});
    ASSERT_EQ(::fstat(slab.data_fd(false), &file), 0);
    EXPECT_GE(static_cast<std::uint64_t>(file.st_blocks) * 512, slab.bytes()) << i;
  }
}

TEST(HostMemory, ReplacedMemoryIsFreshAndItsGenerationsGoOn) {
  NoFdStore fds;
  Result<HostMemory> made = HostMemory::create({.bytes = 2 * kMiB, .slab_bytes = kMiB}, fds);
  ASSERT_TRUE(made.is_ok());
  HostMemory& memory = made.value();
  Slab& slab = *memory.take_unassigned();
  ASSERT_TRUE(slab.assign(NamespaceId{0}, 4096).is_ok());
  std::uint32_t slot = 0;
  Generation last = 0;
  for (int i = 0; i < 5; ++i) {
    last = slab.take(slot);
    --slab.writing_count;
    slab.give_back(slot);
  }
  slab.payload(slot)[0] = std::byte{0x5a};
  ASSERT_TRUE(memory.replace(slab, SlabPages::kOrdinary, fds).is_ok());
  EXPECT_EQ(memory.unassigned_count(), 2U);
  EXPECT_EQ(slab.owner(), NamespaceId::kNone) << "another namespace may have it: it is other memory";
  ASSERT_TRUE(slab.assign(NamespaceId{1}, 8192).is_ok());
  EXPECT_EQ(slab.payload(0)[0], std::byte{0});
  EXPECT_GT(slab.take(slot), last) << "no locator of the old memory matches in the new";
}

TEST(HostMemory, AdoptionTakesEverySlabOrNone) {
  struct Kept final : FdStore {
    Status put(std::string_view name, int fd) override {
      kept.push_back({std::string(name), UniqueFd(::dup(fd))});
      return Status::ok();
    }
    void remove(std::string_view) override {}
    std::vector<StoredFd> take_all() override { return std::move(kept); }
    [[nodiscard]] std::string_view kind() const override { return "list"; }
    std::vector<StoredFd> kept;
  } fds;
  const HostMemoryOptions options{.bytes = 3 * kMiB, .slab_bytes = kMiB};
  ASSERT_TRUE(HostMemory::create(options, fds).is_ok());
  std::vector<StoredFd> left = fds.take_all();
  ASSERT_EQ(left.size(), 6U);
  const auto adopt = [&](std::string_view missing) {
    return HostMemory::adopt(options, [&left, missing](const std::string& name) {
      for (const StoredFd& each : left) {
        if (each.name == name && name != missing) return UniqueFd(::dup(each.fd.get()));
      }
      return UniqueFd();
    });
  };
  Result<HostMemory> all = adopt("");
  ASSERT_TRUE(all.is_ok()) << all.status().to_string();
  EXPECT_EQ(all.value().unassigned_count(), 3U);
  for (const StoredFd& each : left) EXPECT_FALSE(adopt(each.name).is_ok()) << each.name;
}

}  // namespace
}  // namespace kvtier
