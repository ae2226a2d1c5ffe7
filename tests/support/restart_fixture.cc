#include "tests/support/restart_fixture.h"

#include "libkvclient/base/checksum.h"
#include "libkvclient/base/units.h"
#include "tests/support/store_restart.h"

namespace kvtier::test {

void RestartFixture::SetUp() {
  restart_warm();
  client_ = std::make_unique<SimClient>(*store_, "main", kClientPid);
  keep_pidfd(*store_, *client_);
}

void RestartFixture::restart() {
  store_.reset();
  Result<std::unique_ptr<Store>> store = Store::create(options_, clock_, fds_);
  ASSERT_TRUE(store.is_ok()) << store.status().to_string();
  store_ = std::move(store).value();
}

void RestartFixture::restart_warm() {
  ASSERT_NO_FATAL_FAILURE(restart());
  ASSERT_EQ(store_->cold_reason(), "");
}

void RestartFixture::resume() {
  ASSERT_NO_FATAL_FAILURE(resume_session(*store_, *client_));
  deliver();
}

void RestartFixture::deliver(SimClient& client) {
  std::vector<OutEvent> events;
  events.swap(store_->outbox());
  for (const OutEvent& event : events)
    if (event.session == client.session()) client.on_event(event);
}

void RestartFixture::settle() {
  while (store_->do_work() > 0) {
  }
  deliver();
}

std::vector<Reservation> RestartFixture::reserve(SpaceId space, const std::vector<Key>& keys) {
  const std::uint32_t request = client_->reserve(space, keys, Key{});
  deliver();
  EXPECT_TRUE(client_->is_answered(request));
  return client_->is_answered(request) ? client_->reserved(request) : std::vector<Reservation>{};
}

void RestartFixture::sum_all() {
  clock_.advance(2 * kNsPerSecond);
  while (std::optional<ChecksumJob> job = store_->checksum_next())
    store_->checksum_done(*job, checksum64(job->bytes));
}

void RestartFixture::expect_no_leak(SpaceId space) {
  clock_.advance(kNsPerSecond);
  settle();
  const std::size_t slots = options_.host_bytes / kSlotAlignment;
  const std::vector<Hold> all = holds_of(reserve(space, keys_of(99, slots)));
  EXPECT_EQ(all.size(), slots) << "every slot can be had";
  client_->abort(all);
  check_store(*store_);
}

}  // namespace kvtier::test
