// Acquire and evict. One slot; its bytes are one non-atomic datum whose right value is the generation, so
// that a lease on rewritten bytes is a wrong value or a race. The directory entry is one relaxed cell with
// the generation: the weakest directory that there can be. Processes: 0 and 1 clients, 2 the daemon, 3 the
// next daemon.
#include "libkvclient/wire/pins.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

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

using World = std::shared_ptr<ReadySlot>;
using Empty = std::shared_ptr<FreeSlot>;
using Programs = std::vector<Program>;

Scenario one_client() {
  return make_scenario<ReadySlot>("one_client", [](const World& world) {
    const auto twice = [world] {
      look_up_and_read(*world, world->pins[0]);
      look_up_and_read(*world, world->pins[0]);
    };
    return Programs{{twice, 0}, {evictor(world), 2}};
  });
}

Scenario two_threads() {
  return make_scenario<ReadySlot>("two_threads_of_one_client", [](const World& world) {
    return Programs{{reader(world, 0), 0}, {reader(world, 0), 0}, {evictor(world), 2}};
  });
}

// One thread's failed acquire goes through the same counter as the other's lease.
Scenario undo_beside_lease() {
  return make_scenario<ReadySlot>("undo_beside_lease", [](const World& world) {
    const auto stale = [world] { lease_and_read(*world, world->pins[0], 9); };
    return Programs{{reader(world, 0), 0}, {stale, 0}, {evictor(world), 2}};
  });
}

Scenario two_clients() {
  return make_scenario<ReadySlot>("two_clients", [](const World& world) {
    return Programs{{reader(world, 0), 0}, {reader(world, 1), 1}, {evictor(world), 2}};
  });
}

// A handle from before, used any time while the slot gets its second and third block.
Scenario generation_reuse() {
  return make_scenario<ReadySlot>("generation_reuse", [](const World& world) {
    const auto stale = [world] { lease_and_read(*world, world->pins[0], 1); };
    const auto twice = [world] {
      evict_and_reuse(*world, pinned_by_any(*world));
      evict_and_reuse(*world, pinned_by_any(*world));
    };
    return Programs{{stale, 0}, {reader(world, 1), 1}, {twice, 2}};
  });
}

void write_granted(FreeSlot& world) {
  receive(world.message, 1);
  world.bytes.write(1);
  send(world.message, 2);
}

Scenario publish_by_writer() {
  return make_scenario<FreeSlot>("publish_by_writer", [](const Empty& world) {
    const auto writer = [world] { write_granted(*world); };
    const auto daemon = [world] {
      const Generation generation = Protocol::begin_write(world->slot);
      send(world->message, 1);
      receive(world->message, 2);
      Protocol::publish(world->slot, generation);
      poke(world->entry, generation);
    };
    return Programs{{writer, 0}, {reader(world, 1), 1}, {daemon, 2}};
  });
}

// One reader holds the slot during the attempt; the other leases what was put back.
Scenario put_back() {
  return make_scenario<FreeSlot>("put_back", [](const Empty& world) {
    const auto daemon = [world] {
      publish_next(*world);
      Protocol::try_evict(world->slot, pinned_by_any(*world));
    };
    return Programs{{reader(world, 0), 0}, {reader(world, 1), 1}, {daemon, 2}};
  });
}

/// The daemon attaches client 1 at a step that is chosen; the list of channels is its own.
struct Attaching {
  ReadySlot& world;
  std::uint64_t when;
  std::size_t attached_count = 1;

  void at_step(std::uint64_t now) {
    if (now != when) return;
    attached_count = 2;
    send(world.message, 1);
  }
  bool scan() {
    at_step(1);
    for (std::size_t i = 0; i < attached_count; ++i) {
      if (Protocol::is_pinned(world.pins[i])) return true;
      at_step(2 + i);
    }
    return false;
  }
};

Scenario attach_during_scan() {
  return make_scenario<ReadySlot>("attach_during_scan", [](const World& world) {
    const auto newcomer = [world] {
      receive(world->message, 1);
      look_up_and_read(*world, world->pins[1]);
    };
    const auto daemon = [world] {
      Attaching channels{*world, choose(3)};
      channels.at_step(0);
      evict_and_reuse(*world, [&] { return channels.scan(); });
    };
    return Programs{{reader(world, 0), 0}, {newcomer, 1}, {daemon, 2}};
  });
}

Scenario client_death() {
  const auto programs = [](const World& world) {
    const auto daemon = [world] {
      bool gone = false;
      const auto scan = [&] {
        gone = gone || see_exit(0);
        return (!gone && Protocol::is_pinned(world->pins[0])) || Protocol::is_pinned(world->pins[1]);
      };
      evict_and_reuse(*world, scan);
      evict_and_reuse(*world, scan);
    };
    return Programs{{reader(world, 0), 0}, {reader(world, 1), 1}, {daemon, 2}};
  };
  return make_scenario<ReadySlot>("client_death", programs, 1U << 0);
}

Scenario writer_death() {
  const auto programs = [](const Empty& world) {
    const auto writer = [world] { write_granted(*world); };
    const auto daemon = [world] {
      (void)Protocol::begin_write(world->slot);
      send(world->message, 1);
      Protocol::retire(world->slot, SlotState::kQuarantined);
      await_exit(0);
      Protocol::retire(world->slot);
      publish_next(*world);
    };
    return Programs{{writer, 0}, {reader(world, 1), 1}, {daemon, 2}};
  };
  return make_scenario<FreeSlot>("writer_death", programs, 1U << 0);
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

Scenario adoption() {
  return adoption_with("adoption", [](ReadySlot& world, SlotState found) {
    if (found == SlotState::kEvicting) Protocol::put_back(world.slot);
    if (found == SlotState::kWriting) Protocol::retire(world.slot, SlotState::kQuarantined);
  });
}

// ---- mistakes ----

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

std::vector<Scenario> pin_scenarios() {
  return {one_client(),        put_back(),     publish_by_writer(), two_threads(),
          undo_beside_lease(), two_clients(),  generation_reuse(),  attach_during_scan(),
          client_death(),      writer_death(), adoption()};
}

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
