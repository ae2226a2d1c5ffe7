// What tests make the fake daemon do and ask it.

#include <unistd.h>

#include "libkvclient/wire/access_log.h"
#include "tests/unit/client/fake_daemon.h"

namespace kvtier::test {

void FakeDaemon::change(const Misbehaviour& misbehaviour) {
  const std::lock_guard lock(mutex_);
  misbehaviour_ = misbehaviour;
}

void FakeDaemon::answer_now() {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) {
    for (const Submission& submission : peer.kept) serve(peer, submission);
    peer.kept.clear();
  }
}

void FakeDaemon::announce_slabs() {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) add_slabs(peer);
}

void FakeDaemon::hang_up_all() {
  const std::lock_guard lock(mutex_);
  for (Peer& peer : peers_) {
    if (peer.channel) store_->abandon(peer.channel->id);
  }
  peers_.clear();
}

void FakeDaemon::revoke(std::uint32_t slab) {
  const std::lock_guard lock(mutex_);
  const SlabEvent event{message_header(MessageType::kSlabRevoke, sizeof event, 0), slab, next_epoch_++};
  for (Peer& peer : peers_) (void)send_message(peer.socket.get(), event);
}

void FakeDaemon::remove_slab(std::uint32_t slab) {
  const std::lock_guard lock(mutex_);
  const SlabEvent event{message_header(MessageType::kSlabRemove, sizeof event, 0), slab, next_epoch_++};
  for (Peer& peer : peers_) (void)send_message(peer.socket.get(), event);
}

void FakeDaemon::move_directory() {
  const std::lock_guard lock(mutex_);
  store_->move_directory();
  DirectoryMoved moved{};
  moved.header = message_header(MessageType::kDirectoryMoved, sizeof moved, 0);
  moved.directory_bytes = store_->directory.memory.size();
  moved.epoch = next_epoch_++;
  const UniqueFd reader = std::move(shm_reopen_read_only(store_->directory.fd.get())).value();
  const int fds[] = {reader.get()};
  for (Peer& peer : peers_) (void)send_message(peer.socket.get(), moved, fds);
}

bool FakeDaemon::evict(const Key& key, SpaceId space) {
  const std::lock_guard lock(mutex_);
  return store_->evict(space, key, pins_of(store_->slot_of(space, key)));
}

std::vector<SlabAck> FakeDaemon::slab_acks() {
  const std::lock_guard lock(mutex_);
  return slab_acks_;
}

std::uint32_t FakeDaemon::writing_count() {
  const std::lock_guard lock(mutex_);
  return store_->writing_count();
}

std::string FakeDaemon::last_client_name() {
  const std::lock_guard lock(mutex_);
  return last_client_name_;
}

std::string FakeDaemon::last_client_version() {
  const std::lock_guard lock(mutex_);
  return last_client_version_;
}

std::uint32_t FakeDaemon::pinned_count() {
  const std::lock_guard lock(mutex_);
  std::uint32_t count = 0;
  for (std::uint32_t slab = 0; slab < FakeStore::kSlabs; ++slab) {
    for (std::uint32_t slot = 0; slot < FakeStore::kSlotsMax; ++slot) {
      for (const PinCell* pin : pins_of(SlotRef::of(slab, slot))) count += pin->load() != 0 ? 1 : 0;
    }
  }
  return count;
}

std::uint64_t FakeDaemon::log_count() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  for (const auto& channel : channels_) {
    const auto* log =
        reinterpret_cast<const AccessLogHeader*>(channel->memory.memory.data() + ChannelLayout::kAccessLog);
    count += log->tail.load();
  }
  return count;
}

std::vector<const PinCell*> FakeDaemon::pins_of(SlotRef slot) {
  std::vector<const PinCell*> pins;
  for (const auto& channel : channels_) {
    const auto* base = reinterpret_cast<const PinCell*>(channel->memory.memory.data() + ChannelLayout::kPins);
    pins.push_back(base + slot.slab() * FakeStore::kSlotsMax + slot.slot());
  }
  return pins;
}

}  // namespace kvtier::test
