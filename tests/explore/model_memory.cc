#include "tests/explore/model_memory.h"

#include <array>
#include <csetjmp>

#include "libkvclient/base/check.h"

namespace kvtier::explore {
namespace {

struct Replay {
  const std::vector<std::uint64_t>* results = nullptr;
  std::size_t next = 0;
  ProgramRun run;
  std::jmp_buf stop;
};

// The explorer is one thread.
Replay replay;
std::vector<std::uint64_t> world;

std::array<std::memory_order, kOrderSites.size()> product_orders() {
  std::array<std::memory_order, kOrderSites.size()> orders{};
  for (const OrderSite& site : kOrderSites) orders[static_cast<std::size_t>(site.site)] = site.order;
  return orders;
}
std::array<std::memory_order, kOrderSites.size()> orders = product_orders();
std::array<bool, kOrderSites.size()> reached{};

}  // namespace

std::memory_order order_in_run(Site site) {
  reached[static_cast<std::size_t>(site)] = true;
  return orders[static_cast<std::size_t>(site)];
}
bool was_reached(Site site) {
  return reached[static_cast<std::size_t>(site)];
}
void set_order_in_run(Site site, std::memory_order order) {
  orders[static_cast<std::size_t>(site)] = order;
}
void reset_orders_in_run() {
  orders = product_orders();
}

std::uint64_t step(const Op& op) {
  if (replay.next < replay.results->size()) return (*replay.results)[replay.next++];
  replay.run = {ProgramRun::End::kPending, op, nullptr};
  std::longjmp(replay.stop, 1);
}

void expect(bool condition, const char* message) {
  if (condition) return;
  replay.run = {ProgramRun::End::kFailed, {}, message};
  std::longjmp(replay.stop, 1);
}

ProgramRun run_program(const std::function<void()>& program, const std::vector<std::uint64_t>& results) {
  replay.results = &results;
  replay.next = 0;
  replay.run = {};
  if (setjmp(replay.stop) == 0) program();
  return replay.run;
}

void begin_world() {
  world.clear();
}

std::uint8_t new_location(std::uint64_t initial) {
  KV_CHECK(world.size() < 255, "too many locations");
  world.push_back(initial);
  return static_cast<std::uint8_t>(world.size() - 1);
}

const std::vector<std::uint64_t>& initial_values() {
  return world;
}

std::uint64_t peek(const ModelMemory::Cell64& cell) {
  return step({OpKind::kLoad, cell.location, std::memory_order_relaxed, 0});
}
void poke(ModelMemory::Cell64& cell, std::uint64_t value) {
  step({OpKind::kStore, cell.location, std::memory_order_relaxed, value});
}
void send(ModelMemory::Cell64& cell, std::uint64_t value) {
  step({OpKind::kStore, cell.location, std::memory_order_release, value});
}
void receive(const ModelMemory::Cell64& cell, std::uint64_t value) {
  step({OpKind::kAwait, cell.location, std::memory_order_acquire, value});
}
std::uint64_t choose(std::uint64_t count) {
  return step({OpKind::kChoose, 0, std::memory_order_relaxed, count, true});
}
bool see_exit(std::uint64_t process) {
  return step({OpKind::kSeeExit, 0, std::memory_order_relaxed, process}) != 0;
}
void await_exit(std::uint64_t process) {
  step({OpKind::kAwaitExit, 0, std::memory_order_relaxed, process});
}

}  // namespace kvtier::explore
