// Readers of a client's view and the service thread that replaces it. A view's content is a non-atomic datum that the
// writer overwrites where the product unmaps: a reader that is still there is a race.
#include "libkvclient/src/grace_period.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

using Protocol = client::GraceProtocol<ModelMemory>;
using Programs = std::vector<Program>;

constexpr std::uint64_t kGone = 99;

struct Views {
  ModelMemory::Cell32 parity;
  ModelMemory::Cell32 inside[2];
  ModelMemory::Cell32 shown;
  Data contents[3] = {Data(0), Data(1), Data(2)};
};
using World = std::shared_ptr<Views>;

void read_shown(Views& views) {
  const std::uint32_t view = Protocol::look(views.shown);
  expect(views.contents[view].read() == view, "a view that is gone");
}

void read_once(Views& views) {
  const unsigned parity = Protocol::enter(views.parity, views.inside);
  read_shown(views);
  Protocol::leave(views.inside, parity);
}

void wait_empty(Views& views, unsigned parity) {
  ModelMemory::await(views.inside[parity], 0, at<Site::kGraceWait>);
}

template <class Wait>
void replace_twice(Views& views, Wait&& wait) {
  for (std::uint32_t next = 1; next <= 2; ++next) {
    Protocol::show(views.shown, next);
    wait([&](unsigned parity) { wait_empty(views, parity); });
    views.contents[next - 1].write(kGone);
  }
}

Program writer(const World& views) {
  const auto wait = [views](auto&& empty) { Protocol::wait_for_readers(views->parity, empty); };
  return {[views, wait] { replace_twice(*views, wait); }, 0};
}

Scenario one_reader_twice() {
  return make_scenario<Views>("grace_one_reader_twice", [](const World& views) {
    const auto reader = [views] {
      read_once(*views);
      read_once(*views);
    };
    return Programs{{reader, 0}, writer(views)};
  });
}

Scenario two_readers() {
  return make_scenario<Views>("grace_two_readers", [](const World& views) {
    const auto reader = [views] { read_once(*views); };
    return Programs{{reader, 0}, {reader, 0}, writer(views)};
  });
}

// ---- mistakes ----

Scenario one_round() {
  return make_scenario<Views>("grace_one_round", [](const World& views) {
    const auto reader = [views] { read_once(*views); };
    const auto wait = [views](auto&& empty) { Protocol::wait_for_readers<1>(views->parity, empty); };
    return Programs{{reader, 0}, {[views, wait] { replace_twice(*views, wait); }, 0}};
  });
}

Scenario reader_looks_before_it_counts() {
  return make_scenario<Views>("grace_looks_before_it_counts", [](const World& views) {
    const auto reader = [views] {
      const std::uint32_t view = Protocol::look(views->shown);
      const unsigned parity = Protocol::enter(views->parity, views->inside);
      expect(views->contents[view].read() == view, "a view that is gone");
      Protocol::leave(views->inside, parity);
    };
    return Programs{{reader, 0}, writer(views)};
  });
}

Scenario reader_reads_after_it_left() {
  return make_scenario<Views>("grace_reads_after_it_left", [](const World& views) {
    const auto reader = [views] {
      const unsigned parity = Protocol::enter(views->parity, views->inside);
      const std::uint32_t view = Protocol::look(views->shown);
      Protocol::leave(views->inside, parity);
      expect(views->contents[view].read() == view, "a view that is gone");
    };
    return Programs{{reader, 0}, writer(views)};
  });
}

}  // namespace

std::vector<Scenario> grace_scenarios() {
  return {one_reader_twice(), two_readers()};
}

std::vector<Scenario> broken_grace_scenarios() {
  return {one_round(), reader_looks_before_it_counts(), reader_reads_after_it_left()};
}

}  // namespace kvtier::explore
