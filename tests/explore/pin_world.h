#pragma once
// Acquire and evict. One slot; its bytes are one non-atomic datum whose right value is the generation, so
// that a lease on rewritten bytes is a wrong value or a race. The directory entry is one relaxed cell with
// the generation: the weakest directory that there can be. Processes: 0 and 1 clients, 2 the daemon, 3 the
// next daemon.

#include <functional>
#include <memory>
#include <vector>

#include "libkvclient/wire/pins.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore::pin_world {

using Protocol = PinProtocol<ModelMemory>;
using Pin = ModelMemory::Cell32;

/// Published before the scenario begins.
struct ReadySlot {
  ModelMemory::Cell64 slot{ready_word(1)};
  ModelMemory::Cell64 entry{1};
  Data bytes{1};
  Pin pins[2];
  ModelMemory::Cell64 message;
};
/// Everything happens in the scenario.
struct FreeSlot {
  ModelMemory::Cell64 slot;
  ModelMemory::Cell64 entry;
  Data bytes;
  Pin pins[2];
  ModelMemory::Cell64 message;
};

template <class World>
void lease_and_read(World& world, Pin& pin, Generation generation) {
  if (!Protocol::acquire(pin, world.slot, generation)) return;
  expect(world.bytes.read() == generation, "leased bytes are those of another generation");
  Protocol::release(pin);
}

template <class World>
void look_up_and_read(World& world, Pin& pin) {
  const Generation generation = peek(world.entry);
  if (generation != 0) lease_and_read(world, pin, generation);
}

template <class World>
void publish_next(World& world) {
  const Generation generation = Protocol::begin_write(world.slot);
  if (generation == 0) return;
  world.bytes.write(generation);
  Protocol::publish(world.slot, generation);
  poke(world.entry, generation);
}

template <class World, class AnyPinned>
void evict_and_reuse(World& world, AnyPinned any_pinned) {
  if (Protocol::try_evict(world.slot, any_pinned) != EvictOutcome::kEvicting) return;
  poke(world.entry, 0);
  Protocol::retire(world.slot);
  publish_next(world);
}

template <class World>
auto pinned_by_any(World& world) {
  return [&world] { return Protocol::is_pinned(world.pins[0]) || Protocol::is_pinned(world.pins[1]); };
}

template <class World>
std::function<void()> reader(std::shared_ptr<World> world, int pin) {
  return [world, pin] { look_up_and_read(*world, world->pins[pin]); };
}
template <class World>
std::function<void()> evictor(std::shared_ptr<World> world) {
  return [world] { evict_and_reuse(*world, pinned_by_any(*world)); };
}

/// What a scenario's programs share.
using World = std::shared_ptr<ReadySlot>;
using Empty = std::shared_ptr<FreeSlot>;
using Programs = std::vector<Program>;

/// A writer fills the slot when it was told, and says so.
inline void write_granted(FreeSlot& world) {
  receive(world.message, 1);
  world.bytes.write(1);
  send(world.message, 2);
}

template <class Adopt>
Scenario adoption_with(const char* name, Adopt adopt) {
  const auto programs = [adopt](const World& world) {
    const auto next_daemon = [world, adopt] {
      await_exit(2);
      adopt(*world, SlotWord::decode(peek(world->slot)).state);
      evict_and_reuse(*world, pinned_by_any(*world));
    };
    return Programs{{reader(world, 0), 0}, {reader(world, 1), 1}, {evictor(world), 2}, {next_daemon, 3}};
  };
  return make_scenario<ReadySlot>(name, programs, 1U << 2);
}

}  // namespace kvtier::explore::pin_world
