#include "tests/support/sim_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "daemon/flow/state.h"
#include "libkvclient/wire/access_log.h"
#include "libkvclient/wire/spec.h"
#include "tests/support/pattern_block.h"

namespace kvtier::test {

std::vector<std::byte> encoded_spec(const std::string& model, std::uint64_t block_bytes) {
  Spec spec;
  spec.model = model;
  spec.revision = "1";
  spec.tokenizer = "none";
  spec.block_tokens = 16;
  SpecPart part;
  part.name = "kv";
  part.bytes = block_bytes;
  part.layer_count = 1;
  part.kv_heads = 1;
  part.head_dim = 64;
  part.dtype = "f16";
  part.layout = "opaque";
  spec.parts.push_back(part);
  Result<std::vector<std::byte>> encoding = encode_spec(spec);
  EXPECT_TRUE(encoding.is_ok()) << encoding.status().to_string();
  return std::move(encoding).value();
}

std::vector<Key> keys_of(std::uint64_t chain, std::size_t count, std::uint64_t first) {
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = pattern_key(chain, first + i);
  return keys;
}

std::vector<Hold> holds_of(const std::vector<Reservation>& reservations) {
  std::vector<Hold> holds;
  for (const Reservation& each : reservations) {
    if (each.result.code == Code::kOk) holds.push_back(each.result.hold);
  }
  return holds;
}

SimClient::SimClient(Store& store, const std::string& namespace_name, std::uint32_t pid) : store_(&store) {
  SessionRequest request;
  request.namespace_name = namespace_name;
  request.client_name = "sim";
  request.pid = pid;
  Result<SessionGrant> grant = store.session_open(request);
  EXPECT_TRUE(grant.is_ok()) << grant.status().to_string();
  grant_ = grant.value();
  map_directory();
}

void SimClient::map_directory() {
  const DirectoryGrant now = store_->directory_grant(grant_.session);
  Result<ShmMapping> mapping = ShmMapping::map(now.fd, now.bytes, ShmAccess::kReadOnly);
  ASSERT_TRUE(mapping.is_ok()) << mapping.status().to_string();
  directory_memory_ = std::move(mapping).value();
  Result<DirectoryReader> reader = DirectoryReader::attach(directory_memory_.bytes());
  ASSERT_TRUE(reader.is_ok()) << reader.status().to_string();
  directory_ = reader.value();
}

void SimClient::resume(Store& store, const SessionGrant& grant) {
  store_ = &store;
  grant_ = grant;
  map_directory();
}

SpaceId SimClient::register_space(const std::vector<std::byte>& spec) {
  Result<SpaceGrant> space = store_->space_register(grant_.session, spec);
  EXPECT_TRUE(space.is_ok()) << space.status().to_string();
  block_bytes_ = space.value().block_bytes;
  return space.value().space;
}

Submission SimClient::base(Op op, SpaceId space, std::uint32_t count) {
  Submission submission{};
  submission.op = op;
  submission.request_id = next_request_++;
  submission.space = space;
  submission.count = count;
  submission.arena_offset = kNoArena;
  return submission;
}

std::uint32_t SimClient::reserve(SpaceId space, const std::vector<Key>& keys, const Key& parent,
                                 bool is_all_or_nothing) {
  const auto count = static_cast<std::uint32_t>(keys.size());
  Submission submission = base(Op::kReserve, space, count);
  submission.flags = is_all_or_nothing ? kFlagAllOrNothing : 0;
  if (arena_next_ + reserve_request_bytes(count) > kArenaBytes) arena_next_ = 0;
  submission.arena_offset = arena_next_;
  arena_next_ += reserve_request_bytes(count);
  std::byte* at = channel() + ChannelLayout::kArena + submission.arena_offset;
  std::memcpy(at, &parent, sizeof parent);
  std::memcpy(at + sizeof parent, keys.data(), keys.size() * sizeof(Key));
  // As libkvclient does: an answer without results (the space was invalidated) grants nothing.
  ReserveResult none{};
  none.code = Code::kUnavailable;
  for (std::uint32_t i = 0; i < count; ++i)
    std::memcpy(at + reserve_results_offset(count) + i * sizeof none, &none, sizeof none);
  pending_[submission.request_id] = {submission.arena_offset, keys};
  store_->submit(grant_.session, submission);
  return submission.request_id;
}

void SimClient::refill(SpaceId space, std::uint32_t count) {
  store_->submit(grant_.session, base(Op::kStock, space, count));
}

std::optional<Reservation> SimClient::take(SpaceId space, const Key& key, const Key& parent) {
  for (std::uint32_t i = 0; i < kStockEntries; ++i) {
    if (!stock().take(i, space)) continue;
    const StockGrant grant = stock().grant(i);
    stock().set_name(i, {key, parent});
    Reservation taken{key, {}};
    taken.result.slot = grant.slot;
    taken.result.hold = grant.hold;
    taken.result.generation = grant.generation;
    return taken;
  }
  return std::nullopt;
}

std::vector<Reservation> SimClient::reserved(std::uint32_t request_id) {
  const Pending request = pending_.at(request_id);
  pending_.erase(request_id);
  std::vector<Reservation> result(request.keys.size());
  const auto count = static_cast<std::uint32_t>(request.keys.size());
  const std::byte* at = channel() + ChannelLayout::kArena + request.offset + reserve_results_offset(count);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i].key = request.keys[i];
    std::memcpy(&result[i].result, at + i * sizeof(ReserveResult), sizeof(ReserveResult));
  }
  return result;
}

std::span<std::byte> SimClient::slot_bytes(SlotRef slot, std::uint64_t bytes) {
  Slab& slab = store_->state().memory.slab(SlabIndex{slot.slab()});
  return {slab.payload(slot.slot()), bytes};
}

void SimClient::fill(const Reservation& reservation) {
  fill_pattern(reservation.key, slot_bytes(reservation.result.slot, block_bytes_));
}

void SimClient::commit(const std::vector<Hold>& holds) {
  for (std::size_t at = 0; at < holds.size(); at += kInlineHolds) {
    Submission submission = base(Op::kCommit, SpaceId::kNone, 0);
    while (submission.count < kInlineHolds && at + submission.count < holds.size()) {
      submission.holds[submission.count] = holds[at + submission.count];
      ++submission.count;
    }
    store_->submit(grant_.session, submission);
  }
}

std::uint32_t SimClient::commit_awaited(const std::vector<Hold>& holds) {
  Submission submission = base(Op::kCommit, SpaceId::kNone, static_cast<std::uint32_t>(holds.size()));
  submission.flags = kFlagReply;
  std::copy(holds.begin(), holds.end(), submission.holds);
  store_->submit(grant_.session, submission);
  return submission.request_id;
}

void SimClient::abort(const std::vector<Hold>& holds) {
  for (const Hold& hold : holds) {
    Submission submission = base(Op::kAbort, SpaceId::kNone, 1);
    submission.holds[0] = hold;
    store_->submit(grant_.session, submission);
  }
}

std::uint32_t SimClient::simple(Op op, SpaceId space, const std::vector<Key>& keys, std::uint64_t argument,
                                TimeNs deadline_ns) {
  Submission submission = base(op, space, static_cast<std::uint32_t>(keys.size()));
  submission.deadline_ns = deadline_ns;
  submission.args[0] = argument;
  if (!keys.empty()) {
    if (arena_next_ + keys.size() * sizeof(Key) > kArenaBytes) arena_next_ = 0;
    submission.arena_offset = arena_next_;
    std::memcpy(channel() + ChannelLayout::kArena + arena_next_, keys.data(), keys.size() * sizeof(Key));
    arena_next_ += keys.size() * sizeof(Key);
  }
  store_->submit(grant_.session, submission);
  return submission.request_id;
}

PinCell& SimClient::pin_of(SlotRef slot) {
  std::byte* pins = channel() + ChannelLayout::kPins + slot.slab() * store_->state().pins_stride;
  return reinterpret_cast<PinCell*>(pins)[slot.slot()];
}

std::optional<SimLease> SimClient::acquire(SpaceId space, const Key& key) {
  if (directory_.is_moved()) map_directory();
  Residency at;
  if (!directory_.find(space, key, at) || at.is_pending() || !at.host.is_present()) return std::nullopt;
  Slab& slab = store_->state().memory.slab(SlabIndex{at.host.slot.slab()});
  PinCell& pin = pin_of(at.host.slot);
  if (!Pins::acquire(pin, slab.table().cell(at.host.slot.slot()), at.host.generation)) return std::nullopt;
  return SimLease{key, &pin, slot_bytes(at.host.slot, block_bytes_), at.host.slot};
}

void SimClient::resolve_again(SimLease& lease) {
  lease.pin = &pin_of(lease.slot);
  lease.bytes = slot_bytes(lease.slot, block_bytes_);
}

int SimClient::match(SpaceId space, const Key& key) {
  if (directory_.is_moved()) map_directory();
  Residency at;
  if (!directory_.find(space, key, at)) return 0;
  if (at.is_pending()) return 2;
  return at.host.is_present() ? 1 : 3;
}

void SimClient::log_access(SpaceId space, const Key& last, std::uint16_t count) {
  if (directory_.is_moved()) map_directory();
  Residency at;
  if (!directory_.find(space, last, at)) return;
  const std::span<std::byte> memory(channel() + ChannelLayout::kAccessLog, ChannelLayout::kAccessLogBytes);
  const AccessLogProducer log(memory, kAccessLogEntries);
  (void)log.append({.last = at.host.slot, .count = count});
}

void SimClient::on_event(const OutEvent& event) {
  switch (event.kind) {
    case OutEvent::Kind::kCompletion:
      ASSERT_TRUE(completions_.emplace(event.completion.request_id, event.completion).second)
          << "two answers to request " << event.completion.request_id;
      break;
    case OutEvent::Kind::kSlabRevoke:
      revocations_.emplace_back(event.slab, event.epoch);
      break;
    case OutEvent::Kind::kSlabRemove:
      removals_.emplace_back(event.slab, event.epoch);
      break;
    case OutEvent::Kind::kEndSession:
      is_ended_ = true;
      end_reason_ = event.reason;
      break;
    default:
      break;
  }
}

void SimClient::acknowledge() {
  for (const auto& [slab, epoch] : revocations_) acknowledge(slab, epoch, SlabState::kReleased);
  revocations_.clear();
  for (const auto& [slab, epoch] : removals_) acknowledge(slab, epoch, SlabState::kUnmapped);
  removals_.clear();
}

void SimClient::acknowledge_busy() {
  for (const auto& [slab, epoch] : revocations_) acknowledge(slab, epoch, SlabState::kBusy);
}

void SimClient::acknowledge(SlabIndex slab, std::uint32_t epoch, SlabState state) {
  SlabAck ack{};
  ack.slab = index_of(slab);
  ack.epoch = epoch;
  ack.state = state;
  store_->slab_acknowledged(grant_.session, ack);
}

}  // namespace kvtier::test
