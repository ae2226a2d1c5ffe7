// Acquire and evict as they are: readers, writers and daemons that come, reuse, die and return.
#include "tests/explore/pin_world.h"

namespace kvtier::explore {
namespace {

using namespace pin_world;

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

// The writer goes on reading: it pins before it says that it is done, and no eviction comes in between.
Scenario hold_through_commit() {
  return make_scenario<FreeSlot>("hold_through_commit", [](const Empty& world) {
    const auto writer = [world] {
      receive(world->message, 1);
      world->bytes.write(1);
      expect(Protocol::hold(world->pins[0], world->slot, 1) == 1, "a writer could not pin its slot");
      send(world->message, 2);
      receive(world->message, 3);
      expect(Protocol::keep(world->pins[0], world->slot, 1), "a block left between commit and lease");
      expect(world->bytes.read() == 1, "leased bytes are those of another generation");
      Protocol::release(world->pins[0]);
    };
    const auto daemon = [world] {
      const Generation generation = Protocol::begin_write(world->slot);
      send(world->message, 1);
      receive(world->message, 2);
      Protocol::publish(world->slot, generation);
      poke(world->entry, generation);
      evict_and_reuse(*world, pinned_by_any(*world));
      send(world->message, 3);
      evict_and_reuse(*world, pinned_by_any(*world));
    };
    return Programs{{writer, 0}, {reader(world, 1), 1}, {daemon, 2}};
  });
}

Scenario adoption() {
  return adoption_with("adoption", [](ReadySlot& world, SlotState found) {
    if (found == SlotState::kEvicting) Protocol::put_back(world.slot);
    if (found == SlotState::kWriting) Protocol::retire(world.slot, SlotState::kQuarantined);
  });
}

}  // namespace

std::vector<Scenario> pin_scenarios() {
  return {one_client(),        put_back(),     publish_by_writer(),   two_threads(),
          undo_beside_lease(), two_clients(),  generation_reuse(),    attach_during_scan(),
          client_death(),      writer_death(), hold_through_commit(), adoption()};
}

}  // namespace kvtier::explore
