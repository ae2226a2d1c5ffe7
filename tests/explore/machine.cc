#include "tests/explore/machine.h"

#include <algorithm>

#include "libkvclient/base/check.h"

namespace kvtier::explore {
namespace {

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

/// The oldest write that the operation may read or go behind.
std::size_t floor_of(const Location& location, const ThreadState& thread, const Op& op) {
  const std::uint8_t seen = thread.view.seen[op.location];
  return op.order == std::memory_order_seq_cst ? std::max(seen, location.seq_cst_floor) : seen;
}

bool has_rmw_behind(const Location& location, std::size_t index) {
  return index + 1 < location.messages.size() && location.messages[index + 1].is_rmw;
}

/// Indices count writes in modification order: a write in the middle moves those behind it.
void make_room(State& state, std::uint8_t where, std::size_t index) {
  if (index == state.locations[where].messages.size()) return;
  const auto shift = [&](std::uint8_t& seen) {
    seen = static_cast<std::uint8_t>(seen + (seen >= index ? 1 : 0));
  };
  for (ThreadState& thread : state.threads) shift(thread.view.seen[where]);
  for (Location& location : state.locations) {
    for (Message& message : location.messages) shift(message.released.seen[where]);
  }
  shift(state.locations[where].seq_cst_floor);
}

/// Writes behind the write `after`. `inherited`: what a read-modify-write passes on.
void write(State& state, ThreadState& thread, const Op& op, std::size_t after, std::uint64_t value,
           const Message* read) {
  const View inherited = read != nullptr ? read->released : View{};
  const std::size_t index = after + 1;
  make_room(state, op.location, index);
  Location& location = state.locations[op.location];
  thread.view.seen[op.location] = static_cast<std::uint8_t>(index);
  Message message{value, inherited, read != nullptr};
  if (releases(op.order)) message.released.join(thread.view);
  location.messages.insert(location.messages.begin() + static_cast<std::ptrdiff_t>(index), message);
  if (op.order == std::memory_order_seq_cst) location.seq_cst_floor = static_cast<std::uint8_t>(index);
}

std::uint64_t read(const Location& location, ThreadState& thread, const Op& op, std::size_t index) {
  const Message& message = location.messages[index];
  thread.view.seen[op.location] = static_cast<std::uint8_t>(index);
  if (acquires(op.order)) thread.view.join(message.released);
  return message.value;
}

std::uint64_t compare_exchange(State& state, ThreadState& thread, Op op, std::size_t index) {
  const Message from = state.locations[op.location].messages[index];
  const bool is_equal = from.value == op.expected;
  if (!is_equal) op.order = std::memory_order_relaxed;
  (void)read(state.locations[op.location], thread, op, index);
  if (is_equal) write(state, thread, op, index, op.operand, &from);
  return from.value;
}

std::uint64_t read_data(State& state, std::size_t self) {
  ThreadState& thread = state.threads[self];
  const std::uint8_t where = thread.pending.location;
  Location& location = state.locations[where];
  if (thread.view.seen[where] + 1U != location.messages.size())
    state.failure = "data race: read beside a write";
  location.read_at[self] = ++thread.view.reads[self];
  return location.messages.back().value;
}

void write_data(State& state, std::size_t self) {
  ThreadState& thread = state.threads[self];
  const std::uint8_t where = thread.pending.location;
  Location& location = state.locations[where];
  if (thread.view.seen[where] + 1U != location.messages.size())
    state.failure = "data race: write beside a write";
  for (std::size_t other = 0; other < state.threads.size(); ++other) {
    if (location.read_at[other] > thread.view.reads[other]) state.failure = "data race: write beside a read";
  }
  write(state, thread, thread.pending, location.messages.size() - 1, thread.pending.operand, nullptr);
}

std::vector<std::uint8_t> numbers(std::size_t first, std::size_t end) {
  std::vector<std::uint8_t> all;
  for (std::size_t i = first; i < end; ++i) all.push_back(static_cast<std::uint8_t>(i));
  return all;
}

}  // namespace

void View::join(const View& other) {
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = std::max(seen[i], other.seen[i]);
  for (std::size_t i = 0; i < reads.size(); ++i) reads[i] = std::max(reads[i], other.reads[i]);
}

State Machine::initial_state() const {
  KV_CHECK(scenario_.initial.size() <= kLocationsMax, "more locations than a view holds");
  KV_CHECK(scenario_.programs.size() <= kThreadsMax, "more threads than a view holds");
  State state;
  for (const std::uint64_t value : scenario_.initial)
    state.locations.push_back({{Message{value, {}, false}}, 0, {}});
  state.threads.resize(scenario_.programs.size());
  for (std::size_t thread = 0; thread < state.threads.size(); ++thread) advance(state, thread);
  return state;
}

bool Machine::has_exited(const State& state, std::uint64_t process) const {
  if ((state.dead_processes >> process & 1) != 0) return true;
  for (std::size_t thread = 0; thread < state.threads.size(); ++thread) {
    if (scenario_.programs[thread].process == process && !state.threads[thread].is_done) return false;
  }
  return true;
}

bool Machine::may_die(const State& state, std::uint8_t process) const {
  return (scenario_.mortal_processes >> process & 1) != 0 && !has_exited(state, process);
}

bool Machine::is_live(const State& state, std::size_t thread) const {
  return !state.threads[thread].is_done &&
         (state.dead_processes >> scenario_.programs[thread].process & 1) == 0;
}

std::vector<std::uint8_t> Machine::options(const State& state, std::size_t self) const {
  const ThreadState& thread = state.threads[self];
  const Op& op = thread.pending;
  const auto among_writes = [&](auto&& is_possible) {
    const Location& location = state.locations[op.location];
    std::vector<std::uint8_t> all = numbers(floor_of(location, thread, op), location.messages.size());
    std::erase_if(all, [&](std::uint8_t index) { return !is_possible(location, index); });
    return all;
  };
  switch (op.kind) {
    case OpKind::kLoad:
      return among_writes([](const Location&, std::size_t) { return true; });
    case OpKind::kAwait:
      return among_writes(
          [&](const Location& at, std::size_t i) { return at.messages[i].value == op.operand; });
    case OpKind::kStore:
    case OpKind::kAdd:
    case OpKind::kExchange:
      return among_writes([](const Location& at, std::size_t i) { return !has_rmw_behind(at, i); });
    case OpKind::kCompareExchange:
      return among_writes([&](const Location& at, std::size_t i) {
        return at.messages[i].value != op.expected || !has_rmw_behind(at, i);
      });
    case OpKind::kDataRead:
    case OpKind::kDataWrite:
      return {0};
    case OpKind::kChoose:
      return numbers(0, op.operand);
    case OpKind::kSeeExit:
      return numbers(0, has_exited(state, op.operand) ? 2 : 1);
    case OpKind::kAwaitExit:
      return numbers(0, has_exited(state, op.operand) ? 1 : 0);
  }
  return {};
}

void Machine::run(State& state, std::size_t self, std::uint8_t option) const {
  const std::uint64_t result = carry_out(state, self, option);
  state.threads[self].results.push_back(result);
  if (state.failure == nullptr) advance(state, self);
}

std::uint64_t Machine::carry_out(State& state, std::size_t self, std::uint8_t option) const {
  ThreadState& thread = state.threads[self];
  const Op op = thread.pending;
  switch (op.kind) {
    case OpKind::kLoad:
    case OpKind::kAwait:
      return read(state.locations[op.location], thread, op, option);
    case OpKind::kStore:
      write(state, thread, op, option, op.operand, nullptr);
      return 0;
    case OpKind::kAdd:
    case OpKind::kExchange: {
      const std::uint64_t before = read(state.locations[op.location], thread, op, option);
      const Message from = state.locations[op.location].messages[option];
      write(state, thread, op, option, op.kind == OpKind::kAdd ? before + op.operand : op.operand, &from);
      return before;
    }
    case OpKind::kCompareExchange:
      return compare_exchange(state, thread, op, option);
    case OpKind::kDataRead:
      return read_data(state, self);
    case OpKind::kDataWrite:
      write_data(state, self);
      return 0;
    case OpKind::kChoose:
      return option;
    case OpKind::kSeeExit:
      if (option != 0) join_process(state, thread, op.operand);
      return option;
    case OpKind::kAwaitExit:
      join_process(state, thread, op.operand);
      return 1;
  }
  return 0;
}

void Machine::join_process(State& state, ThreadState& thread, std::uint64_t process) const {
  for (std::size_t other = 0; other < state.threads.size(); ++other) {
    if (scenario_.programs[other].process == process) thread.view.join(state.threads[other].view);
  }
}

void Machine::advance(State& state, std::size_t self) const {
  ThreadState& thread = state.threads[self];
  const ProgramRun run = run_program(scenario_.programs[self].body, thread.results);
  thread.is_done = run.end == ProgramRun::End::kFinished;
  thread.pending = run.pending;
  if (run.end == ProgramRun::End::kFailed) state.failure = run.failure;
}

}  // namespace kvtier::explore
