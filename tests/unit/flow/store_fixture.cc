#include "tests/unit/flow/store_fixture.h"

#include <algorithm>

namespace kvtier::test {

void StoreFixture::make_store(std::uint64_t slots, StoreOptions options) {
  options.host_bytes = slots * kBlock;
  if (options.slab_bytes == 0) options.slab_bytes = 4 * kBlock;
  options.seed = 1;
  if (options.low_water_blocks == StoreOptions().low_water_blocks) options.low_water_blocks = 0;
  Result<std::unique_ptr<Store>> store = Store::create(options, clock_, fds_);
  ASSERT_TRUE(store.is_ok()) << store.status().to_string();
  store_ = std::move(store).value();
}

void StoreFixture::TearDown() {
  if (store_ == nullptr) return;
  settle();
  check_store(*store_);
}

SimClient& StoreFixture::add_client(const std::string& namespace_name, std::uint32_t pid) {
  clients_.push_back(std::make_unique<SimClient>(*store_, namespace_name, pid != 0 ? pid : next_pid_++));
  return *clients_.back();
}

void StoreFixture::end_process(SimClient& client) {
  store_->session_exited(client.session());
  std::erase_if(clients_, [&](const auto& each) { return each.get() == &client; });
  deliver();
}

void StoreFixture::deliver() {
  std::vector<OutEvent> events;
  events.swap(store_->outbox());
  for (const OutEvent& event : events) {
    for (const auto& client : clients_) {
      if (client->session() == event.session) client->on_event(event);
    }
  }
  if (!answers_revocations_) return;
  for (const auto& client : clients_) client->acknowledge();
}

void StoreFixture::settle() {
  do {
    deliver();
  } while (store_->do_work() > 0 || !store_->outbox().empty());
}

void StoreFixture::advance(TimeNs ns) {
  clock_.advance(ns);
  settle();
}

std::vector<Reservation> StoreFixture::reserve(SimClient& client, SpaceId space, const std::vector<Key>& keys,
                                               bool is_all_or_nothing, const Key& parent) {
  const std::uint32_t request = client.reserve(space, keys, parent, is_all_or_nothing);
  settle();
  EXPECT_TRUE(client.is_answered(request));
  if (!client.is_answered(request)) return {};
  last_completion_ = client.completion(request);
  return client.reserved(request);
}

void StoreFixture::commit(SimClient& client, const std::vector<Reservation>& reservations) {
  for (const Reservation& each : reservations) {
    if (each.result.code == Code::kOk) client.fill(each);
  }
  client.commit(holds_of(reservations));
  deliver();
}

void StoreFixture::put(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
  const std::vector<Reservation> reservations = reserve(client, space, keys);
  for (const Reservation& each : reservations) ASSERT_EQ(each.result.code, Code::kOk);
  commit(client, reservations);
}

void StoreFixture::put_chain(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
  for (std::size_t at = 0; at < keys.size(); at += kRequestKeysMax) {
    const std::size_t end = std::min<std::size_t>(keys.size(), at + kRequestKeysMax);
    const std::vector<Key> some(keys.begin() + static_cast<std::ptrdiff_t>(at),
                                keys.begin() + static_cast<std::ptrdiff_t>(end));
    commit(client, reserve(client, space, some, true, at == 0 ? Key{} : keys[at - 1]));
  }
}

Completion StoreFixture::call(SimClient& client, Op op, SpaceId space, const std::vector<Key>& keys,
                              std::uint64_t argument, TimeNs deadline_ns) {
  const std::uint32_t request = client.simple(op, space, keys, argument, deadline_ns);
  settle();
  EXPECT_TRUE(client.is_answered(request));
  return client.is_answered(request) ? client.completion(request) : Completion{};
}

std::size_t StoreFixture::count_ready(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
  std::size_t count = 0;
  for (const Key& key : keys) count += client.match(space, key) == 1 ? 1 : 0;
  return count;
}

}  // namespace kvtier::test
