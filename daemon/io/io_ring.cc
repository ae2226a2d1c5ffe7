#include "daemon/io/io_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "daemon/io/io_progress.h"
#include "libkvclient/base/check.h"
#include "libkvclient/base/result.h"

namespace kvtier {
namespace {

constexpr std::size_t kReapBatch = 64;

Status beyond_table(const char* what, std::uint32_t index, std::size_t count) {
  return {Code::kInvalid, std::string(what) + " " + std::to_string(index) + " of a ring that has " +
                              std::to_string(count) + " places"};
}

Status in_use(const char* what, std::uint32_t index, std::uint32_t users) {
  return {Code::kBusy, std::to_string(users) + " requests of " + what + " " + std::to_string(index) +
                           " are not over: wait for their last events"};
}

bool contains(std::span<std::byte> memory, const std::byte* data, std::uint32_t bytes) {
  return data >= memory.data() && bytes <= memory.size() &&
         static_cast<std::size_t>(data - memory.data()) <= memory.size() - bytes;
}

}  // namespace

IoRing::IoRing(std::unique_ptr<IoBackend> backend, const IoRingOptions& options)
    : options_(options),
      backend_(std::move(backend)),
      files_(options.files_max),
      regions_(options.regions_max),
      slots_(options.requests_max),
      // A result and a release each.
      events_(std::size_t{2} * options.requests_max) {}

Status IoRing::set_file(IoFile file, int fd, std::uint32_t alignment) {
  const auto at = static_cast<std::uint32_t>(file);
  KV_CHECK(std::has_single_bit(alignment), "an alignment is a power of two");
  if (at >= files_.size()) return beyond_table("file", at, files_.size());
  if (files_[at].users > 0) return in_use("file", at, files_[at].users);
  KV_RETURN_IF_ERROR(backend_->set_file(file, fd));
  files_[at] = {fd, alignment, 0};
  return Status::ok();
}

Status IoRing::set_region(IoRegion region, std::span<std::byte> memory) {
  const auto at = static_cast<std::uint32_t>(region);
  if (at >= regions_.size()) return beyond_table("region", at, regions_.size());
  if (regions_[at].users > 0) return in_use("region", at, regions_[at].users);
  KV_RETURN_IF_ERROR(backend_->set_region(region, memory));
  regions_[at] = {memory, 0};
  return Status::ok();
}

void IoRing::check(const IoRequest& request) const {
  const auto file = static_cast<std::uint32_t>(request.file);
  KV_CHECK(file < files_.size() && files_[file].fd >= 0, "a request names a file of the table");
  if (request.kind == IoKind::kSync) return;
  const auto region = static_cast<std::uint32_t>(request.region);
  KV_CHECK(region < regions_.size() && contains(regions_[region].memory, request.data, request.bytes),
           "a request's memory lies in its region");
  KV_CHECK(request.bytes > 0 && request.bytes <= options_.device_bytes_max,
           "a request has bytes, and no more than device_bytes_max");
  const std::uint64_t mask = files_[file].alignment - 1;
  const auto address = reinterpret_cast<std::uintptr_t>(request.data);
  KV_CHECK(((request.offset | request.bytes | address) & mask) == 0, "a request is aligned as its file is");
}

void IoRing::count_users(const IoRequest& request, std::int32_t change) {
  files_[static_cast<std::uint32_t>(request.file)].users += change;
  if (request.kind != IoKind::kSync) regions_[static_cast<std::uint32_t>(request.region)].users += change;
}

std::optional<IoId> IoRing::submit(const IoRequest& request) {
  check(request);
  if (slots_.is_full()) {
    ++stats_.refused;
    return std::nullopt;
  }
  ++stats_.submitted;
  count_users(request, 1);
  first_deadline_ns_ = std::min(first_deadline_ns_, request.deadline_ns);
  const IoId id = slots_.take(request);
  if (request.kind == IoKind::kSync) slots_[id.slot].request.bytes = 0;
  return id;
}

void IoRing::cancel(IoId id) {
  const IoSlot* slot = slots_.find(id);
  if (slot == nullptr || slot->is_answered || slot->state == IoSlot::State::kFinished) return;
  give_up(id.slot, IoOutcome::kCancelled);
}

std::size_t IoRing::poll(TimeNs now_ns, std::span<IoEvent> events) {
  reap(now_ns);
  expire(now_ns);
  start_waiting(now_ns);
  reap(now_ns);
  return deliver(events);
}

TimeNs IoRing::next_deadline_ns() const {
  const bool can_go_on = !slots_.is_nobody_waiting() && has_room(slots_[slots_.first_waiting()]);
  if (can_go_on || !events_.is_empty()) return 0;
  return std::min(first_deadline_ns_, backend_->next_deadline_ns());
}

bool IoRing::has_room(const IoSlot& slot) const {
  const std::uint32_t bytes = slot.request.bytes - slot.done;
  return in_device_count_ < backend_->depth() && in_device_bytes_ + bytes <= options_.device_bytes_max;
}

// In order: a large request waits for its room and is not overtaken.
void IoRing::start_waiting(TimeNs now_ns) {
  while (!slots_.is_nobody_waiting()) {
    if (!has_room(slots_[slots_.first_waiting()]) || !start(slots_.first_waiting())) break;
  }
  backend_->flush(now_ns);
}

bool IoRing::start(std::uint32_t at) {
  IoSlot& slot = slots_[at];
  const IoRequest& request = slot.request;
  const std::uint32_t left = request.bytes - slot.done;
  std::byte* data = request.kind == IoKind::kSync ? nullptr : request.data + slot.done;
  if (!backend_->start(
          {request.kind, request.file, request.region, left, request.offset + slot.done, data, at}))
    return false;
  slots_.stop_waiting(at);
  slot.state = IoSlot::State::kInDevice;
  ++in_device_count_;
  in_device_bytes_ += left;
  return true;
}

void IoRing::reap(TimeNs now_ns) {
  std::array<IoCompletion, kReapBatch> completions;
  std::size_t count = 0;
  do {
    count = backend_->reap(now_ns, completions);
    for (std::size_t i = 0; i < count; ++i) complete(completions[i].slot, completions[i].result);
  } while (count == completions.size());
}

void IoRing::complete(std::uint32_t at, std::int32_t result) {
  IoSlot& slot = slots_[at];
  KV_CHECK(slot.state == IoSlot::State::kInDevice, "a backend completes what it was given, once");
  --in_device_count_;
  in_device_bytes_ -= slot.request.bytes - slot.done;
  if (!slot.is_answered) return go_on(at, result);
  --held_count_;
  finish(at, IoOutcome::kReleased, result < 0 ? -result : 0);
}

void IoRing::go_on(std::uint32_t at, std::int32_t result) {
  IoSlot& slot = slots_[at];
  const std::uint32_t alignment = files_[static_cast<std::uint32_t>(slot.request.file)].alignment;
  const IoProgress progress =
      io_progress({slot.request.kind, slot.request.bytes, slot.done, alignment, slot.retries}, result);
  const bool has_moved = progress.done > slot.done;
  slot.done = progress.done;
  if (progress.step == IoStep::kFinished) return finish(at, IoOutcome::kDone, 0);
  if (progress.step == IoStep::kEndOfFile) return finish(at, IoOutcome::kEndOfFile, 0);
  if (progress.step == IoStep::kFailed) return finish(at, IoOutcome::kFailed, progress.error);
  slot.retries = has_moved ? 0 : slot.retries + 1;
  ++(has_moved ? stats_.resumed : stats_.retried);
  slots_.wait_first(at);
}

// Looks at all requests, but only once one of them may be late.
void IoRing::expire(TimeNs now_ns) {
  if (now_ns < first_deadline_ns_) return;
  first_deadline_ns_ = kNever;
  for (std::uint32_t at = 0; at < slots_.count(); ++at) {
    const IoSlot& slot = slots_[at];
    const bool is_open = slot.state == IoSlot::State::kWaiting || slot.state == IoSlot::State::kInDevice;
    if (!is_open || slot.is_answered) continue;
    if (slot.request.deadline_ns <= now_ns) {
      give_up(at, IoOutcome::kDeadline);
    } else {
      first_deadline_ns_ = std::min(first_deadline_ns_, slot.request.deadline_ns);
    }
  }
}

void IoRing::give_up(std::uint32_t at, IoOutcome outcome) {
  IoSlot& slot = slots_[at];
  if (slot.state == IoSlot::State::kWaiting) {
    slots_.stop_waiting(at);
    return finish(at, outcome, 0);
  }
  slot.is_answered = true;
  ++held_count_;
  push_event(at, outcome, 0);
  backend_->cancel(at);
}

void IoRing::finish(std::uint32_t at, IoOutcome outcome, int error) {
  slots_[at].state = IoSlot::State::kFinished;
  push_event(at, outcome, error);
}

void IoRing::push_event(std::uint32_t at, IoOutcome outcome, int error) {
  const IoSlot& slot = slots_[at];
  const bool is_held = slot.state == IoSlot::State::kInDevice;
  events_.push({slots_.id(at), outcome, is_held, error, slot.done, slot.request});
  stats_.count(outcome, slot.request.kind, slot.done);
}

std::size_t IoRing::deliver(std::span<IoEvent> events) {
  std::size_t count = 0;
  for (; count < events.size() && !events_.is_empty(); ++count) {
    events[count] = events_.pop();
    if (events[count].is_held) continue;
    count_users(events[count].request, -1);
    slots_.give_back(events[count].id.slot);
  }
  return count;
}

}  // namespace kvtier
