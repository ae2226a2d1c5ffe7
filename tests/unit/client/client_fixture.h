#pragma once
// A client and a space over the C contract, and shorthand for what every test does.

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "kvclient/kvclient.h"
#include "tests/unit/client/fake_daemon.h"

namespace kvtier::test {

inline constexpr std::uint64_t kMs = 1'000'000;

inline kvc_key key_of(std::uint64_t number) {
  return {{number + 1, number * 31 + 7, 3, 4}};
}

inline Key wire_key_of(std::uint64_t number) {
  return Key{{number + 1, number * 31 + 7, 3, 4}};
}

inline std::vector<kvc_key> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<kvc_key> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(key_of(first + i));
  return keys;
}

/// What a test varies in a spec.
struct SpecChoice {
  const char* adapter = "";
  const char* dtype = "f16";
  const char* layout = "NHD";
  const char* revision = "r1";
  std::uint64_t bytes = 4096;
  std::uint32_t heads = 2;
};

inline kvc_spec* make_spec(const SpecChoice& choice = {}) {
  kvc_spec_options options{};
  options.struct_size = sizeof options;
  options.model = "model";
  options.revision = choice.revision;
  options.adapter = choice.adapter;
  options.tokenizer = "t";
  options.block_tokens = 16;
  kvc_spec* spec = nullptr;
  EXPECT_EQ(kvc_spec_create(&options, &spec), KVC_OK);
  kvc_part part{};
  part.struct_size = sizeof part;
  part.name = "kv";
  part.bytes = choice.bytes;
  part.layer_count = 2;
  part.kv_heads = choice.heads;
  part.head_dim = 64;
  part.dtype = choice.dtype;
  part.layout = choice.layout;
  EXPECT_EQ(kvc_spec_add_part(spec, &part), KVC_OK);
  return spec;
}

/// One byte of a leased block. Not instrumented: what orders it after the writer goes through the fake
/// daemon's own mapping of the rings, at other addresses, where ThreadSanitizer does not see it.
__attribute__((no_sanitize("thread"), noinline)) inline unsigned char byte_of(const kvc_lease* lease,
                                                                              std::size_t i,
                                                                              std::size_t offset) {
  return static_cast<const volatile unsigned char*>(kvc_lease_blocks(lease)[i])[offset];
}

/// Waits for something that another thread brings about; the watchdog of CTest ends a hang.
template <class Predicate>
void wait_until(Predicate&& is_true) {
  while (!is_true()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

inline int open_client(const std::string& path, kvc_client** client, std::uint32_t flags = 0,
                       std::uint64_t deadline_ns = 2000 * kMs) {
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = path.c_str();
  options.client_name = "test";
  options.deadline_ns = deadline_ns;
  options.flags = flags;
  return kvc_client_open(&options, client);
}

class TestClient {
 public:
  explicit TestClient(const std::string& path, const SpecChoice& choice = {},
                      std::uint64_t deadline_ns = 60'000 * kMs) {
    EXPECT_EQ(open_client(path, &client, 0, deadline_ns), KVC_OK) << kvc_last_error();
    kvc_spec* spec = make_spec(choice);
    EXPECT_EQ(kvc_space_register(client, spec, 0, &space), KVC_OK) << kvc_last_error();
    kvc_spec_destroy(spec);
    EXPECT_EQ(kvc_lease_create(client, 256, &lease), KVC_OK);
  }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient() {
    kvc_lease_destroy(lease);
    kvc_space_close(space);
    kvc_client_close(client);
  }

  [[nodiscard]] std::vector<kvc_slot> reserve(const std::vector<kvc_key>& keys) const {
    std::vector<kvc_slot> slots(keys.size());
    EXPECT_EQ(kvc_reserve(space, keys.data(), keys.size(), nullptr, slots.data()), KVC_OK)
        << kvc_last_error();
    return slots;
  }
  /// Reserves, fills every byte with `value`, commits and waits for it.
  void put(const std::vector<kvc_key>& keys, int value = 0x5a) const {
    std::vector<kvc_slot> slots = reserve(keys);
    for (const kvc_slot& slot : slots) {
      ASSERT_EQ(slot.code, KVC_OK) << kvc_code_name(slot.code);
      std::memset(slot.data, value, facts().block_bytes);
    }
    ASSERT_EQ(kvc_commit(space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK) << kvc_last_error();
  }
  [[nodiscard]] kvc_space_facts facts() const {
    kvc_space_facts facts{};
    facts.struct_size = sizeof facts;
    EXPECT_EQ(kvc_space_info(space, &facts), KVC_OK);
    return facts;
  }
  [[nodiscard]] std::size_t ready(const std::vector<kvc_key>& keys) const {
    std::size_t count = 0;
    (void)kvc_match(space, keys.data(), keys.size(), nullptr, &count);
    return count;
  }
  /// Leases and returns how many are held.
  [[nodiscard]] std::size_t acquire(const std::vector<kvc_key>& keys, std::uint32_t flags = 0) const {
    EXPECT_EQ(kvc_acquire(space, keys.data(), keys.size(), flags, 0, lease), KVC_OK) << kvc_last_error();
    return kvc_lease_held(lease);
  }
  [[nodiscard]] unsigned char first_byte(std::size_t i = 0) const { return byte_of(lease, i, 0); }
  [[nodiscard]] kvc_client_status status() const {
    kvc_client_status status{};
    status.struct_size = sizeof status;
    EXPECT_EQ(kvc_status(client, &status), KVC_OK);
    return status;
  }
  [[nodiscard]] kvc_client_stats stats() const {
    kvc_client_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_EQ(kvc_stats(client, &stats), KVC_OK);
    return stats;
  }
  [[nodiscard]] bool is_connected() const { return status().connection == KVC_CONNECTED; }
  /// Connected, and the space registered again.
  [[nodiscard]] bool is_usable() const { return is_connected() && facts().is_registered != 0; }

  kvc_client* client = nullptr;
  kvc_space* space = nullptr;
  kvc_lease* lease = nullptr;
};

}  // namespace kvtier::test
