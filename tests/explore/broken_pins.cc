// Acquire and evict with one mistake each.
#include "tests/explore/pin_world.h"

namespace kvtier::explore {
namespace {

using namespace pin_world;

template <class Read>
Scenario broken_reader(const char* name, Read read) {
  return make_scenario<ReadySlot>(name, [read](const World& world) {
    return Programs{{[world, read] { read(*world); }, 0}, {evictor(world), 2}};
  });
}

Scenario reader_ignores_generation() {
  return broken_reader("reader_ignores_generation", [](ReadySlot& world) {
    ModelMemory::fetch_add(world.pins[0], 1, at<Site::kPinAdd>);
    const auto word = SlotWord::decode(ModelMemory::load(world.slot, at<Site::kPinSlotLoad>));
    if (word.state == SlotState::kReady)
      expect(world.bytes.read() == 1, "leased bytes are those of another block");
    Protocol::release(world.pins[0]);
  });
}

Scenario reader_looks_before_it_pins() {
  return broken_reader("reader_looks_before_it_pins", [](ReadySlot& world) {
    if (ModelMemory::load(world.slot, at<Site::kPinSlotLoad>) != ready_word(1)) return;
    ModelMemory::fetch_add(world.pins[0], 1, at<Site::kPinAdd>);
    expect(world.bytes.read() == 1, "leased bytes are those of another block");
    Protocol::release(world.pins[0]);
  });
}

Scenario reader_reads_after_release() {
  return broken_reader("reader_reads_after_release", [](ReadySlot& world) {
    if (!Protocol::acquire(world.pins[0], world.slot, 1)) return;
    Protocol::release(world.pins[0]);
    (void)world.bytes.read();
  });
}

template <class Evict>
Scenario broken_evictor(const char* name, Evict evict, std::uint32_t mortal_processes = 0) {
  const auto programs = [evict](const World& world) {
    return Programs{{reader(world, 0), 0}, {[world, evict] { evict(*world); }, 2}};
  };
  return make_scenario<ReadySlot>(name, programs, mortal_processes);
}

Scenario evictor_scans_first() {
  return broken_evictor("evictor_scans_first", [](ReadySlot& world) {
    const bool pinned = Protocol::is_pinned(world.pins[0]);
    evict_and_reuse(world, [pinned] { return pinned; });
  });
}

Scenario evictor_keeps_generation() {
  return broken_evictor("evictor_keeps_generation", [](ReadySlot& world) {
    if (Protocol::try_evict(world.slot, pinned_by_any(world)) != EvictOutcome::kEvicting) return;
    world.bytes.write(2);
    Protocol::put_back(world.slot);
  });
}

Scenario pins_dropped_at_hangup() {
  return broken_evictor("pins_dropped_at_hangup", [](ReadySlot& world) {
    const bool hung_up = choose(2) != 0;
    evict_and_reuse(world, [&] { return !hung_up && Protocol::is_pinned(world.pins[0]); });
  });
}

Scenario channels_listed_before_the_exchange() {
  return make_scenario<ReadySlot>("channels_listed_before_the_exchange", [](const World& world) {
    const auto newcomer = [world] {
      receive(world->message, 1);
      look_up_and_read(*world, world->pins[1]);
    };
    const auto daemon = [world] {
      send(world->message, 1);  // attached, but the list below is from before
      evict_and_reuse(*world, [&] { return Protocol::is_pinned(world->pins[0]); });
    };
    return Programs{{newcomer, 1}, {daemon, 2}};
  });
}

Scenario slot_reused_before_its_writer_exits() {
  const auto programs = [](const Empty& world) {
    const auto writer = [world] { write_granted(*world); };
    const auto daemon = [world] {
      (void)Protocol::begin_write(world->slot);
      send(world->message, 1);
      Protocol::retire(world->slot);
      publish_next(*world);
    };
    return Programs{{writer, 0}, {daemon, 2}};
  };
  return make_scenario<FreeSlot>("slot_reused_before_its_writer_exits", programs);
}

Scenario adoption_frees_evicting() {
  return adoption_with("adoption_frees_evicting", [](ReadySlot& world, SlotState found) {
    if (found != SlotState::kEvicting) return;
    Protocol::retire(world.slot);
    publish_next(world);
  });
}

}  // namespace

std::vector<Scenario> broken_pin_scenarios() {
  return {reader_ignores_generation(),
          reader_looks_before_it_pins(),
          reader_reads_after_release(),
          evictor_scans_first(),
          evictor_keeps_generation(),
          pins_dropped_at_hangup(),
          channels_listed_before_the_exchange(),
          slot_reused_before_its_writer_exits(),
          adoption_frees_evicting()};
}

}  // namespace kvtier::explore
