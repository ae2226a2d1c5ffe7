// What the conductor sent, one command after the other.
#include "daemon/tier/disk_agent.h"

namespace kvtier {

// Whatever the outbox holds: the conductor takes no news while it has many of these to hand over (DiskChannel).
std::size_t DiskAgent::take_forgets() {
  std::size_t taken = 0;
  for (DiskLocator locator; taken < kForgetsStep && channel_.forgets.pop(locator); ++taken)
    store_->forget(locator);
  return taken;
}

std::size_t DiskAgent::take_commands() {
  std::size_t taken = 0;
  if (kept_.has_value()) {
    if (!has_outbox_room() || !take(*kept_)) return 0;
    kept_.reset();
    ++taken;
  }
  DiskCommand command;
  while (taken < kCommandsMax && has_outbox_room() && puts_.has_room() && gets_.has_room() &&
         channel_.commands.pop(command)) {
    ++taken;
    if (take(command)) continue;
    kept_ = std::move(command);
    break;
  }
  return taken;
}

// False: the store is busy, this command comes again before the next one.
bool DiskAgent::take(const DiskCommand& command) {
  switch (command.kind) {
    case DiskCommandKind::kSlabAdd:
    case DiskCommandKind::kSlabRemove:
      take_slab(command);
      break;
    case DiskCommandKind::kSpace:
      take_space(command);
      break;
    case DiskCommandKind::kOpen:
      is_open_ = true;
      opened_ns_ = now_ns_;
      break;
    case DiskCommandKind::kPut:
      take_put(command);
      break;
    case DiskCommandKind::kGet:
      take_get(command);
      break;
    case DiskCommandKind::kFlush:
      return take_flush(command);
    case DiskCommandKind::kMark:
      return take_mark(command);
    case DiskCommandKind::kForget:
      KV_CHECK(false, "what is forgotten has a mailbox of its own");
      break;
    case DiskCommandKind::kAnswer:
      take_answer(command);
      break;
    case DiskCommandKind::kVerify:
      verify_tag_ = command.tag;
      verify_damage_ = view_.damage.count;
      store_->verify(command.tag);
      break;
    case DiskCommandKind::kVerifyStop:
      store_->stop_verify(command.tag);
      break;
    case DiskCommandKind::kClose:
      is_closing_ = true;
      close_tag_ = command.tag;
      puts_.end_group();
      gets_.end_group();
      answer_rest();
      break;
  }
  return true;
}

void DiskAgent::take_slab(const DiskCommand& command) {
  const std::uint32_t at = index_of(command.slab);
  KV_CHECK(at < slabs_.size(), "a slab of the host tier has a place in the ring's table");
  if (command.kind == DiskCommandKind::kSlabRemove) {
    slabs_[at].data = nullptr;  // who names it from now on is refused
    slabs_[at].is_leaving = true;
    slabs_[at].tag = command.tag;
    ++slabs_leaving_;
    return;
  }
  KV_CHECK(!slabs_[at].is_leaving, "a slab that is leaving comes back after kSlabRemoved");
  const Status set = ring_->set_region(IoRegion{at + 1}, {command.data, command.bytes});
  if (set.is_ok()) slabs_[at] = {.data = command.data, .bytes = command.bytes};
  const IoFacts facts = ring_->facts();
  view_.registered_bytes = facts.registered_bytes.value;
  view_.region_bytes = facts.region_bytes;
  snapshot_.publish_reasons(store_->status().message(), facts.registered_bytes.reason);
}

// A spec that a client registered is valid; else its puts are refused one by one.
void DiskAgent::take_space(const DiskCommand& command) {
  const DiskSpace& space = *command.described;
  (void)spaces_.describe(command.described, catalog_.has(space.namespace_name, space.digest));
}

// The slot lies in the slab, and is as large as the store needs it; else there is no data.
DiskMemory DiskAgent::memory_of(const DiskCommand& command, std::uint64_t block_bytes) const {
  const std::uint32_t at = index_of(command.slab);
  if (at >= slabs_.size() || slabs_[at].data == nullptr) return {};
  const SlabPlace& slab = slabs_[at];
  const std::uint64_t capacity = round_up(block_bytes, kAlignmentMin);
  const auto offset = static_cast<std::uint64_t>(command.data - slab.data);
  const bool is_inside = command.data >= slab.data && offset <= slab.bytes && capacity <= slab.bytes - offset;
  return is_inside ? DiskMemory{IoRegion{at + 1}, command.data, capacity} : DiskMemory{};
}

Code DiskAgent::keep_space(SpaceEntry& space) {
  if (space.is_kept) return Code::kOk;
  if (now_ns_ < space.keep_again_ns) return Code::kUnavailable;
  const Code code = catalog_.keep(space.record);
  space.is_kept = code == Code::kOk;
  if (!space.is_kept) space.keep_again_ns = now_ns_ + kKeepAgainNs;
  return code;
}

// Stamped here, not when the store takes it: what a later mark voids was put before it, wherever it waited.
void DiskAgent::take_put(const DiskCommand& command) {
  SpaceEntry* space = spaces_.find(command.tenant, command.space);
  Code code = space == nullptr ? Code::kInvalid : Code::kOk;
  if (code == Code::kOk && !store_->is_ready()) code = Code::kUnavailable;
  if (code == Code::kOk) code = keep_space(*space);
  DiskMemory memory;
  if (code == Code::kOk) memory = memory_of(command, space->described->block_bytes);
  if (code == Code::kOk && memory.data == nullptr) code = Code::kInvalid;
  if (code == Code::kOk) {
    const DiskKey key{space->tenant, space->described->digest, command.key};
    return puts_.push({.key = key,
                       .parent = command.parent,
                       .born = store_->stamp(),
                       .created_ns = now_ns_ + options_.store.wall_minus_monotonic_ns,
                       .shape = &space->shape,
                       .memory = memory,
                       .tag = command.tag},
                      command.is_group_end);
  }
  if (command.is_group_end) puts_.end_group();
  tell({.kind = DiskNewsKind::kPut, .code = code, .tag = command.tag});
}

void DiskAgent::take_get(const DiskCommand& command) {
  const SpaceEntry* space = spaces_.find(command.tenant, command.space);
  Code code = space == nullptr ? Code::kInvalid : Code::kOk;
  if (code == Code::kOk && !store_->is_ready()) code = Code::kUnavailable;
  DiskMemory memory;
  if (code == Code::kOk) memory = memory_of(command, space->described->block_bytes);
  if (code == Code::kOk && memory.data == nullptr) code = Code::kInvalid;
  if (code == Code::kOk) {
    return gets_.push({.key = {space->tenant, space->described->digest, command.key},
                       .locator = command.locator,
                       .block_bytes = static_cast<std::uint32_t>(space->described->block_bytes),
                       .memory = memory,
                       .deadline_ns = command.deadline_ns,
                       .tag = command.tag},
                      command.is_group_end);
  }
  if (command.is_group_end) gets_.end_group();
  tell({.kind = DiskNewsKind::kGet, .code = code, .tag = command.tag});
}

bool DiskAgent::take_flush(const DiskCommand& command) {
  const Code code = store_->flush(command.tag);
  if (code == Code::kBusy) return false;
  if (code != Code::kOk) tell({.kind = DiskNewsKind::kFlushed, .code = code, .tag = command.tag});
  return true;
}

bool DiskAgent::take_mark(const DiskCommand& command) {
  DiskMark mark{.key = {.tenant = spaces_.tenant_digest(command.tenant)},
                .created_ns = now_ns_ + options_.store.wall_minus_monotonic_ns,
                .tag = command.tag};
  Code code = mark.key.tenant.is_zero() ? Code::kNotFound : Code::kOk;
  if (code == Code::kOk && command.space != SpaceId::kNone) {
    const SpaceEntry* space = spaces_.find(command.tenant, command.space);
    if (space == nullptr) code = Code::kNotFound;
    if (space != nullptr) mark.key.space = space->described->digest;
    mark.key.key = command.key;
  }
  if (code == Code::kOk) code = store_->mark(mark);
  if (code == Code::kBusy) return false;
  if (code != Code::kOk) tell({.kind = DiskNewsKind::kMarked, .code = code, .tag = command.tag});
  return true;
}

}  // namespace kvtier
