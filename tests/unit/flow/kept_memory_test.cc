// What an earlier instance left is dropped only when it cannot be taken over, and not before that is said.

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

/// While it lives, this process may not lock memory, even as root.
class NoLocking {
 public:
  NoLocking() {
    EXPECT_EQ(::getrlimit(RLIMIT_MEMLOCK, &limit_), 0);
    rlimit none = limit_;
    none.rlim_cur = 0;
    EXPECT_EQ(::setrlimit(RLIMIT_MEMLOCK, &none), 0);
    EXPECT_EQ(::syscall(SYS_capget, &header_, capabilities_), 0);
    set_capabilities(capabilities_[0].effective & ~(1U << CAP_IPC_LOCK));
  }
  ~NoLocking() {
    set_capabilities(capabilities_[0].effective);
    EXPECT_EQ(::setrlimit(RLIMIT_MEMLOCK, &limit_), 0);
  }
  NoLocking(const NoLocking&) = delete;
  NoLocking& operator=(const NoLocking&) = delete;

 private:
  void set_capabilities(std::uint32_t effective) {
    __user_cap_data_struct some[2] = {capabilities_[0], capabilities_[1]};
    some[0].effective = effective;
    EXPECT_EQ(::syscall(SYS_capset, &header_, some), 0);
  }

  rlimit limit_{};
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct capabilities_[2]{};
};

class KeptMemory : public StoreFixture {
 protected:
  static constexpr std::uint64_t kSlots = 16;

  /// A store with four summed blocks ends, its memory is kept.
  void leave_blocks() {
    make_store(kSlots);
    SimClient& client = add_client();
    put(client, usual_space(client), keys_of(1, 4));
    advance(2 * kNsPerSecond);
    while (std::optional<ChecksumJob> job = store_->checksum_next()) store_->checksum_done(*job, 42);
    end_process(client);
    store_.reset();
  }
  static StoreOptions usual_options() {
    return {.host_bytes = kSlots * kBlock, .slab_bytes = 4 * kBlock, .low_water_blocks = 0, .seed = 2};
  }
};

// Sanitizers replace mlock by nothing, so that it never refuses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLocksAreReal = false;
#else
constexpr bool kLocksAreReal = true;
#endif

TEST_F(KeptMemory, a_lock_that_is_refused_at_a_warm_start_keeps_it) {
  if (!kLocksAreReal) GTEST_SKIP() << "the sanitizer's mlock never refuses";
  leave_blocks();
  const std::size_t kept = fds_.size();
  {
    const NoLocking none;
    StoreOptions options = usual_options();
    options.lock = MemoryLock::kRequire;
    options.on_cold = [](const std::string& reason) { ADD_FAILURE() << reason; };
    const Result<std::unique_ptr<Store>> refused = Store::create(options, clock_, fds_);
    ASSERT_FALSE(refused.is_ok());
    EXPECT_NE(refused.status().code(), Code::kNoSpace)
        << "that is final for the keeper, and its end drops all";
    EXPECT_NE(refused.status().message().find("stays in the descriptor store"), std::string::npos);
    EXPECT_NE(refused.status().message().find("host.lock is require"), std::string::npos);
  }
  EXPECT_EQ(fds_.size(), kept);
  make_store(kSlots);
  EXPECT_EQ(store_->cold_reason(), "");
  EXPECT_EQ(store_->unverified_count(), 4U);
  while (std::optional<ChecksumJob> job = store_->checksum_next()) store_->checksum_done(*job, 42);
  EXPECT_EQ(stats().blocks_adopted, 4U);
}

TEST_F(KeptMemory, a_lock_that_is_refused_at_a_cold_start_is_memory_that_is_short) {
  if (!kLocksAreReal) GTEST_SKIP() << "the sanitizer's mlock never refuses";
  const NoLocking none;
  StoreOptions options = usual_options();
  options.lock = MemoryLock::kRequire;
  EXPECT_EQ(Store::create(options, clock_, fds_).code(), Code::kNoSpace);
}

std::string values_text(const std::string& before, const std::string& now) {
  return " was " + before + " when the earlier instance started and is " + now + " now";
}

TEST_F(KeptMemory, a_changed_setting_is_named_before_anything_is_dropped) {
  struct Change {
    const char* setting;
    std::function<void(StoreOptions&)> make;
    std::string values;  ///< before, and now
  };
  const std::vector<Change> changes = {
      {"limits.clients_max", [](StoreOptions& options) { options.sessions_max += 1; },
       values_text("256", "257")},
      {"limits.namespaces_max", [](StoreOptions& options) { options.namespaces_max += 1; },
       values_text("64", "65")},
      {"limits.spaces_max", [](StoreOptions& options) { options.spaces_max += 1; },
       values_text("1024", "1025")},
      {"index.blocks_max", [](StoreOptions& options) { options.blocks_max = 99; }, values_text("16", "99")},
      {"host.bytes", [](StoreOptions& options) { options.host_bytes *= 2; },
       values_text("64 KiB", "128 KiB")},
      {"host.slab_bytes", [](StoreOptions& options) { options.slab_bytes *= 2; },
       values_text("16 KiB", "32 KiB")},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(change.setting);
    leave_blocks();
    const std::size_t kept = fds_.size();
    std::string said;
    StoreOptions options = usual_options();
    change.make(options);
    options.on_cold = [&](const std::string& reason) {
      said = reason;
      EXPECT_EQ(fds_.size(), kept);
    };
    store_ = Store::create(options, clock_, fds_).value();
    EXPECT_NE(said.find(change.setting + change.values), std::string::npos) << said;
    EXPECT_EQ(store_->cold_reason(), said);
    store_.reset();
    fds_.clear();
  }
}

}  // namespace
}  // namespace kvtier::test
