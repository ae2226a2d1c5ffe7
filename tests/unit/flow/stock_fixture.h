#pragma once
// A store with a client that can take from its stock.

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {

inline constexpr std::size_t kSlots = 64;
inline constexpr std::uint32_t kMost = kSlots / 8;  // all stocks of a class together

/// A client whose slabs have every slot free.
class StockFlow : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(kSlots);
    client_ = &add_client("main", 4711);
    space_ = usual_space(*client_);
    give_all_slabs(*client_);
  }
  // Every slot of the store is free, and in a slab that the client writes.
  void give_all_slabs(SimClient& client) {
    const std::vector<Reservation> all = reserve(client, space_, keys_of(900, kSlots), true);
    ASSERT_EQ(holds_of(all).size(), kSlots);
    client.abort(holds_of(all));
    deliver();
  }
  std::uint32_t offered(const SimClient& client) const { return client.stock().offered_count(space_); }
  // Takes and fills a slot for each key, each under the one before it.
  std::vector<Reservation> take(SimClient& client, const std::vector<Key>& keys, Key parent = {}) {
    std::vector<Reservation> taken;
    for (const Key& key : keys) {
      const std::optional<Reservation> one = client.take(space_, key, parent);
      EXPECT_TRUE(one.has_value());
      if (!one) break;
      client.fill(*one);
      taken.push_back(*one);
      parent = key;
    }
    return taken;
  }
  std::vector<Code> commit_codes(SimClient& client, const std::vector<Reservation>& some) {
    const std::uint32_t request = client.commit_awaited(holds_of(some));
    deliver();
    std::vector<Code> codes;
    for (std::size_t i = 0; i < some.size(); ++i)
      codes.push_back(hold_code(client.completion(request).value, i));
    return codes;
  }
  SimClient& add_other() {
    SimClient& other = add_client();
    (void)usual_space(other);
    return other;
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

}  // namespace kvtier::test
