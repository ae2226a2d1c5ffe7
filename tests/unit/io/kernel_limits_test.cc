// A kernel that denies or limits: D-05, D-06, D-07. Each in a child, so that the limit ends with it.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "daemon/io/io_engine.h"
#include "daemon/io/io_status.h"
#include "daemon/io/probe_file.h"
#include "libkvclient/base/units.h"
#include "tests/unit/io/in_child.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kBlock = 64 * kKiB;

/// Empty: `text` has all parts.
std::string lacks(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    if (text.find(part) == std::string::npos) return "no '" + std::string(part) + "' in: " + text;
  }
  return {};
}

std::string write_and_read(RingHarness& harness) {
  fill(harness.memory(RingHarness::kSource), 3);
  for (const IoKind kind : {IoKind::kWrite, IoKind::kRead}) {
    for (std::uint64_t at = 0; at < RingHarness::kRegionBytes; at += kBlock)
      (void)harness.submit(harness.request(kind, at, kBlock));
    harness.finish();
  }
  for (const IoEvent& event : harness.events()) {
    if (event.outcome != IoOutcome::kDone) return io_event_status(event).to_string();
  }
  const bool is_equal =
      std::ranges::equal(harness.memory(RingHarness::kSource), harness.memory(RingHarness::kTarget));
  return is_equal ? "" : "other bytes came back";
}

/// Opens a ring under `limits`, and checks its facts and that it works.
std::string works_under(const std::function<std::string()>& limits, const IoEngineOptions& options,
                        const std::function<std::string(const IoFacts&)>& check) {
  return in_child([&]() -> std::string {
    IoUnderTest under;
    Result<UniqueFd> file = open_probe_file(".", 0);
    if (!file.is_ok()) return file.status().to_string();
    under.file = std::move(file).value();
    under.fd = under.file.get();
    if (std::string words = limits(); !words.empty()) return words;
    Result<std::unique_ptr<IoBackend>> backend = open_io_engine(options);
    if (!backend.is_ok()) return backend.status().to_string();
    under.backend = std::move(backend).value();
    RingHarness harness(std::move(under), {.files_max = options.files_max});
    if (std::string words = write_and_read(harness); !words.empty()) return words;
    return check(harness.ring().facts());
  });
}

class KernelLimits : public testing::Test {
 protected:
  void SetUp() override {
    const Result<std::unique_ptr<IoBackend>> uring = open_io_engine({.engine = IoEngine::kUring});
    if (!uring.is_ok()) GTEST_SKIP() << uring.status().to_string();
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "ThreadSanitizer forbids threads in the child of a process that had some";
#endif
  }
};

class KernelDenies : public KernelLimits, public testing::WithParamInterface<int> {};

TEST_P(KernelDenies, D07_ThreadsServeAndSayWhy) {
  const auto deny = [] { return deny_calls({SYS_io_uring_setup}, GetParam()); };
  EXPECT_EQ(works_under(deny, {.depth = 8},
                        [](const IoFacts& facts) -> std::string {
                          if (facts.engine.value != "posix") return "engine is " + facts.engine.value;
                          return lacks(facts.engine.reason, {"io_uring_setup", "seccomp"});
                        }),
            "");
}

TEST_P(KernelDenies, D07_ARingThatIsWishedForIsRefusedWithTheReason) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (std::string words = deny_calls({SYS_io_uring_setup}, GetParam()); !words.empty())
                return words;
              const auto backend = open_io_engine({.engine = IoEngine::kUring});
              if (backend.is_ok()) return "it opened";
              const Code expected = GetParam() == EPERM ? Code::kDenied : Code::kUnsupported;
              if (backend.code() != expected) return "not the code: " + backend.status().to_string();
              return lacks(backend.status().message(), {"io_uring_setup", "seccomp"});
            }),
            "");
}

// A filter that lets the ring be made and not used.
TEST_P(KernelDenies, D07_ARingThatOpensAndDoesNotWorkIsNoRing) {
  const auto deny = [] { return deny_calls({SYS_io_uring_enter}, GetParam()); };
  EXPECT_EQ(works_under(deny, {.depth = 8},
                        [](const IoFacts& facts) -> std::string {
                          if (facts.engine.value != "posix") return "engine is " + facts.engine.value;
                          return lacks(facts.engine.reason, {"io_uring_enter"});
                        }),
            "");
}

TEST_P(KernelDenies, ARegistrationThatIsDeniedIsDoneWithout) {
  const auto deny = [] { return deny_calls({SYS_io_uring_register}, GetParam()); };
  EXPECT_EQ(works_under(deny, {.engine = IoEngine::kUring},
                        [](const IoFacts& facts) -> std::string {
                          if (facts.registered_files.value || facts.registered_bytes.value > 0)
                            return "registered";
                          return lacks(facts.registered_files.reason + facts.registered_bytes.reason,
                                       {"io_uring_register_files", "io_uring_register_buffers"});
                        }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Errno, KernelDenies, testing::Values(EPERM, ENOSYS),
                         [](const auto& each) { return each.param == EPERM ? "EPERM" : "ENOSYS"; });

// The kernel stops taking submissions under a ring that worked: no request hangs.
TEST_F(KernelLimits, ARingThatBreaksFailsEveryRequestWithItsErrno) {
  EXPECT_EQ(in_child([]() -> std::string {
              Result<IoUnderTest> under = kernel_io_cases()[0].open(4);
              RingHarness harness(std::move(under).value(), {});
              if (std::string words = write_and_read(harness); !words.empty()) return words;
              if (std::string words = deny_calls({SYS_io_uring_enter}, EPERM); !words.empty()) return words;
              for (int round = 0; round < 20; ++round) {
                const IoEvent event = harness.run(harness.request(IoKind::kRead, 0, kBlock));
                if (event.outcome != IoOutcome::kFailed || event.error != EPERM)
                  return io_event_status(event).to_string();
              }
              const IoFacts facts = harness.ring().facts();
              return facts.engine.value != "failed" ? "engine is " + facts.engine.value
                                                    : lacks(facts.engine.reason, {"io_uring_enter"});
            }),
            "");
}

class KernelLocksLittle : public KernelLimits, public testing::WithParamInterface<std::uint64_t> {};

// D-05: 4 MiB twice, under limits of one and of none of them.
TEST_P(KernelLocksLittle, D05_MemoryBeyondTheLimitIsUsedUnregistered) {
  const auto limits = [] {
    const std::string words = limit(RLIMIT_MEMLOCK, GetParam());
    return words.empty() ? become_nobody() : words;
  };
  EXPECT_EQ(works_under(limits, {.engine = IoEngine::kUring},
                        [](const IoFacts& facts) -> std::string {
                          if (facts.region_bytes != 2 * RingHarness::kRegionBytes) return "not all regions";
                          if (facts.registered_bytes.value > GetParam()) return "more than the limit";
                          const bool has_room = GetParam() >= RingHarness::kRegionBytes + kMiB;
                          if (has_room != (facts.registered_bytes.value > 0)) return "not what has room";
                          return lacks(facts.registered_bytes.reason, {"io_uring_register_buffers of 4 MiB",
                                                                       "RLIMIT_MEMLOCK is", "LimitMEMLOCK="});
                        }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Bytes, KernelLocksLittle, testing::Values(64 * kKiB, 5 * kMiB),
                         [](const auto& each) { return std::to_string(each.param / kKiB) + "KiB"; });

#if !defined(__SANITIZE_ADDRESS__)
/// So much more than there is now, until the test lifts it.
std::string limit_growth(std::uint64_t bytes) {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  const rlimit soft{pages * kPageBytes + bytes, RLIM_INFINITY};
  return ::setrlimit(RLIMIT_AS, &soft) == 0 ? "" : "setrlimit";
}

// D-06: rings that do not fit the memory come smaller, and say so. The one that is wished for takes 3 MiB.
TEST_F(KernelLimits, D06_ALargeRingThatDoesNotFitComesSmaller) {
  EXPECT_EQ(
      in_child([]() -> std::string {
        IoUnderTest under = std::move(kernel_io_cases()[3].open(1)).value();
        if (std::string words = limit_growth(2 * kMiB); !words.empty()) return words;
        Result<std::unique_ptr<IoBackend>> backend =
            open_io_engine({.engine = IoEngine::kUring, .depth = 16384, .regions_max = 2});
        if (std::string words = limit_growth(kGiB); !words.empty()) return words;
        if (!backend.is_ok()) return backend.status().to_string();
        under.backend = std::move(backend).value();
        RingHarness harness(std::move(under), {});
        if (std::string words = write_and_read(harness); !words.empty()) return words;
        const IoFacts facts = harness.ring().facts();
        if (facts.depth.value < 4 || facts.depth.value >= 16384) return std::to_string(facts.depth.value);
        return lacks(facts.depth.reason, {"a ring of 16384", "io_uring_setup", "Cannot allocate memory"});
      }),
      "");
}

TEST_F(KernelLimits, D06_MoreThanTheKernelMakesIsSaid) {
  EXPECT_EQ(works_under([] { return std::string(); }, {.engine = IoEngine::kUring, .depth = 1U << 20},
                        [](const IoFacts& facts) -> std::string {
                          if (facts.depth.value < 4 || facts.depth.value > 32768)
                            return "depth is not smaller";
                          return lacks(facts.depth.reason,
                                       {"a ring of 1048576 is more than the kernel makes"});
                        }),
            "");
}

TEST_F(KernelLimits, D06_ManyRingsUnderALowLimitOpenOrSayWhyAndLeakNothing) {
  EXPECT_EQ(in_child([]() -> std::string {
              if (std::string words = limit(RLIMIT_AS, 96 * kMiB); !words.empty()) return words;
              if (std::string words = limit(RLIMIT_NOFILE, 64); !words.empty()) return words;
              for (int round = 0; round < 20; ++round) {
                std::vector<std::unique_ptr<IoBackend>> open;
                for (int i = 0; i < 8; ++i) {
                  auto backend = open_io_engine({.engine = IoEngine::kUring, .depth = 32768, .files_max = 4});
                  if (!backend.is_ok()) {
                    if (std::string words = lacks(backend.status().message(), {"io_uring_setup"});
                        !words.empty())
                      return words;
                    continue;
                  }
                  open.push_back(std::move(backend).value());
                }
                if (open.empty()) return "round " + std::to_string(round) + ": none opened";
              }
              return {};
            }),
            "");
}
#endif

TEST_F(KernelLimits, FilesBeyondTheLimitOfDescriptorsAreUsedUnregistered) {
  const auto limits = [] { return limit(RLIMIT_NOFILE, 64); };
  EXPECT_EQ(
      works_under(limits, {.engine = IoEngine::kUring, .files_max = 128},
                  [](const IoFacts& facts) -> std::string {
                    if (facts.registered_files.value) return "registered";
                    return lacks(facts.registered_files.reason, {"io_uring_register_files", "LimitNOFILE="});
                  }),
      "");
}

TEST_F(KernelLimits, ThreadsThatAreNotToBeHadMakeTheRingShallower) {
  const auto limits = [] {
    const std::string words = limit(RLIMIT_NPROC, 3);
    return words.empty() ? become_nobody() : words;
  };
  EXPECT_EQ(works_under(limits, {.engine = IoEngine::kPosix, .depth = 16},
                        [](const IoFacts& facts) -> std::string {
                          if (facts.depth.value >= 16) return "all threads started";
                          return lacks(facts.depth.reason, {"16 threads", "pthread_create"});
                        }),
            "");
}

// D-01: a short write of the kernel's own, and then the reason for it.
TEST_F(KernelLimits, D01_AWriteOverTheFileSizeLimitIsNotDone) {
  for (const IoCase& each : kernel_io_cases()) {
    EXPECT_EQ(in_child([&]() -> std::string {
                Result<IoUnderTest> under = each.open(4);
                if (!under.is_ok()) return {};
                RingHarness harness(std::move(under).value(), {});
                (void)std::signal(SIGXFSZ, SIG_IGN);
                if (std::string words = limit(RLIMIT_FSIZE, 24 * kKiB); !words.empty()) return words;
                const IoEvent event = harness.run(harness.request(IoKind::kWrite, 0, kBlock));
                if (event.outcome != IoOutcome::kFailed) return "not failed";
                if (harness.ring().stats().resumed != 1) return "the short write was not resumed";
                return lacks(io_event_status(event).message(), {"File too large", "LimitFSIZE="});
              }),
              "")
        << each.name;
  }
}

}  // namespace
}  // namespace kvtier::test
