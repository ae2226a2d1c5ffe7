#pragma once
// Clients that ask for sums, and the background agent, played.

#include <algorithm>
#include <cstring>

#include "libkvclient/base/checksum.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {

class SumsFixture : public DiskFixture {
 protected:
  // The place of a block, as a client finds it in its directory.
  SumEntry entry_of(SimClient& client, SpaceId space, const Key& key) {
    const std::optional<SimLease> lease = client.acquire(space, key);
    EXPECT_TRUE(lease.has_value());
    if (!lease) return {};
    SimLease open = *lease;
    const SumEntry entry{.generation = record_of(space, key)->generation, .slot = open.slot};
    SimClient::release(open);
    return entry;
  }
  std::vector<SumEntry> entries_of(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
    std::vector<SumEntry> entries;
    for (const Key& key : keys) entries.push_back(entry_of(client, space, key));
    return entries;
  }

  /// Sends them at the arena's place `at`.
  std::uint32_t ask(SimClient& client, const std::vector<SumEntry>& entries, SpaceId space,
                    std::uint16_t flags = 0, TimeNs deadline_ns = 0, std::uint64_t at = 0) {
    Submission submission{};
    submission.op = Op::kSums;
    submission.flags = flags;
    submission.request_id = next_request_++;
    submission.space = space;
    submission.count = static_cast<std::uint32_t>(entries.size());
    submission.arena_offset = at;
    submission.deadline_ns = deadline_ns;
    std::memcpy(arena(client) + at, entries.data(), entries.size() * sizeof(SumEntry));
    store_->submit(client.session(), submission);
    deliver();
    return submission.request_id;
  }
  std::vector<SumEntry> answer(SimClient& client, std::size_t count, std::uint64_t at = 0) {
    std::vector<SumEntry> entries(count);
    std::memcpy(entries.data(), arena(client) + at, count * sizeof(SumEntry));
    return entries;
  }
  static std::byte* arena(SimClient& client) { return client.channel() + ChannelLayout::kArena; }

  /// Plays the background agent. How many blocks it summed.
  std::size_t sum_due() {
    std::size_t count = 0;
    while (const std::optional<ChecksumJob> job = store_->checksum_next()) {
      store_->checksum_done(*job, checksum64(job->bytes));
      ++count;
    }
    settle();
    return count;
  }
  void sum_all() {
    advance(2 * kNsPerSecond);
    while (sum_due() > 0) {
    }
  }
  static void scribble(SimClient& client, const SumEntry& entry) {
    client.bytes_of(entry.slot, kBlock)[kBlock / 2] ^= std::byte{1};
  }

  std::uint32_t next_request_ = 1'000'000;
};

/// One client with eight blocks.
class SumsTest : public SumsFixture {
 protected:
  void SetUp() override {
    make_disk_store(64);
    client_ = &add_client();
    space_ = usual_space(*client_);
    put_chain(*client_, space_, keys_);
  }
  std::vector<SumEntry> entries() { return entries_of(*client_, space_, keys_); }
  void expect_right(const std::vector<SumEntry>& answered) {
    ASSERT_EQ(answered.size(), keys_.size());
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::optional<SimLease> lease = client_->acquire(space_, keys_[i]);
      ASSERT_TRUE(lease.has_value());
      EXPECT_EQ(answered[i].code, Code::kOk);
      EXPECT_EQ(answered[i].sum, checksum64(lease->bytes));
      SimClient::release(*lease);
    }
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  const std::vector<Key> keys_ = keys_of(1, 8);
};

}  // namespace kvtier::test
