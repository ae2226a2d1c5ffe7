#include "tests/support/faulty_backend.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "libkvclient/base/check.h"

namespace kvtier::test {
namespace {

template <class Value>
void shuffle(std::span<Value> values, Prng& chance) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[chance.below(left)]);
}

bool fits(const FaultRule& rule, const IoOperation& operation) {
  const bool is_there = operation.offset < rule.end && operation.offset + operation.bytes > rule.begin;
  const bool has_place = rule.begin != 0 || rule.end != ~std::uint64_t{0};
  return (!rule.only.has_value() || *rule.only == operation.kind) && (is_there || !has_place);
}

}  // namespace

std::optional<FaultRule> FaultyBackend::fault_for(const IoOperation& operation) {
  const auto rule =
      std::find_if(rules_.begin(), rules_.end(), [&](const FaultRule& r) { return fits(r, operation); });
  if (rule != rules_.end()) {
    const FaultRule found = *rule;
    if (--rule->count == 0) rules_.erase(rule);
    return found;
  }
  for (const Chance& each : chances_) {
    if (fits(each.rule, operation) && chance_.unit() < each.probability) return each.rule;
  }
  return std::nullopt;
}

bool FaultyBackend::start(const IoOperation& operation) {
  const std::optional<FaultRule> rule = fault_for(operation);
  if (!rule.has_value()) return real_->start(operation);
  ++injected_count_;
  return start_with(*rule, operation);
}

bool FaultyBackend::start_with(const FaultRule& rule, const IoOperation& operation) {
  IoOperation shortened = operation;
  shortened.bytes = std::min(operation.bytes, rule.bytes);
  switch (rule.fault) {
    case IoFault::kFail:
      made_up_.push_back({operation.slot, -rule.error});
      return true;
    case IoFault::kShorten:
      return real_->start(shortened);
    case IoFault::kDelay:
    case IoFault::kStall:
      held_.push_back({operation, rule.fault == IoFault::kStall ? kNever : rule.delay_ns, 0});
      return true;
    case IoFault::kCorrupt:
      return start_damaged(operation);
    case IoFault::kDrop:
      marked_.push_back({operation, IoFault::kDrop, nullptr});
      return real_->start(operation);
    case IoFault::kReorder:
      is_reordering_ = true;
      held_.push_back({operation, 0, 0});
      return true;
  }
  return false;
}

// The caller's memory is never damaged by a write: a copy of it is.
bool FaultyBackend::start_damaged(const IoOperation& operation) {
  if (operation.kind != IoKind::kWrite) {
    marked_.push_back({operation, IoFault::kCorrupt, nullptr});
    return real_->start(operation);
  }
  constexpr std::size_t kPage = 4096;
  Marked marked{operation, IoFault::kCorrupt, std::make_unique<std::byte[]>(operation.bytes + kPage)};
  const auto start = reinterpret_cast<std::uintptr_t>(marked.memory.get());
  std::byte* const copy = marked.memory.get() + (kPage - start % kPage);
  std::memcpy(copy, operation.data, operation.bytes);
  damage(copy, operation.bytes);
  IoOperation damaged = operation;
  damaged.region = IoRegion::kNone;
  damaged.data = copy;
  marked_.push_back(std::move(marked));
  return real_->start(damaged);
}

void FaultyBackend::damage(std::byte* data, std::size_t bytes) {
  if (bytes > 0) data[chance_.below(bytes)] ^= std::byte{1} << static_cast<int>(chance_.below(8));
}

void FaultyBackend::flush(TimeNs now_ns) {
  if (is_reordering_) shuffle(std::span(held_), chance_);
  for (Held& held : held_) {
    if (held.due_ns == 0) held.due_ns = held.delay_ns == kNever ? kNever : now_ns + held.delay_ns;
  }
  std::erase_if(held_,
                [&](const Held& held) { return held.due_ns <= now_ns && real_->start(held.operation); });
  real_->flush(now_ns);
}

std::size_t FaultyBackend::reap(TimeNs now_ns, std::span<IoCompletion> completions) {
  const bool is_due =
      std::any_of(held_.begin(), held_.end(), [&](const Held& each) { return each.due_ns <= now_ns; });
  if (is_due) flush(now_ns);
  std::size_t count = 0;
  for (; count < completions.size() && !made_up_.empty(); made_up_.pop_back())
    completions[count++] = made_up_.back();
  const std::size_t from = count;
  for (IoCompletion one; count < completions.size() && real_->reap(now_ns, {&one, 1}) == 1;) {
    if (pass_on(one)) completions[count++] = one;
  }
  if (is_reordering_) shuffle(completions.subspan(from, count - from), chance_);
  return count;
}

bool FaultyBackend::pass_on(const IoCompletion& completion) {
  const auto marked = std::find_if(marked_.begin(), marked_.end(), [&](const Marked& each) {
    return each.operation.slot == completion.slot;
  });
  if (marked == marked_.end()) return true;
  const bool is_dropped = marked->fault == IoFault::kDrop;
  const bool is_read = marked->operation.kind == IoKind::kRead;
  if (!is_dropped && is_read && completion.result > 0) {
    damage(marked->operation.data, static_cast<std::size_t>(completion.result));
  }
  marked_.erase(marked);
  return !is_dropped;
}

// What is stalled is deaf.
void FaultyBackend::cancel(std::uint32_t slot) {
  const bool is_held =
      std::any_of(held_.begin(), held_.end(), [&](const Held& each) { return each.operation.slot == slot; });
  if (!is_held) real_->cancel(slot);
}

void FaultyBackend::thaw() {
  for (Held& held : held_) {
    if (held.delay_ns == kNever) held.delay_ns = held.due_ns = 0;
  }
}

std::size_t FaultyBackend::stalled_count() const {
  return static_cast<std::size_t>(
      std::count_if(held_.begin(), held_.end(), [](const Held& each) { return each.delay_ns == kNever; }));
}

TimeNs FaultyBackend::next_deadline_ns() const {
  TimeNs next_ns = made_up_.empty() ? real_->next_deadline_ns() : 0;
  for (const Held& held : held_) next_ns = std::min(next_ns, held.due_ns);
  return next_ns;
}

}  // namespace kvtier::test
