#include "daemon/flow/unanswered.h"

#include <algorithm>

#include "daemon/flow/rebalance.h"

namespace kvtier {
namespace {

bool is_silent(StoreState& state, const Slab& slab, const Session& asking) {
  if (slab.writer == SessionIndex::kNone || slab.writer == asking.index) return false;
  return slab.is_revoking || state.session(slab.writer)->life != Session::Life::kAttached;
}

Session* keeper_of_slab_on_its_way(StoreState& state) {
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    const Slab& slab = state.memory.slab(SlabIndex{i});
    if (slab.retire != nullptr && !slab.retire->mapped_by.empty())
      return state.session(slab.retire->mapped_by.front());
  }
  return nullptr;
}

struct Question {
  SessionIndex to = SessionIndex::kNone;
  TimeNs asked_ns = 0;
  TimeNs before_ns = 0;
};

bool is_named(const Session& session, const Question& question) {
  if (question.asked_ns < question.before_ns) return true;
  return session.refused_for_ns != 0 && session.refused_for_ns >= question.asked_ns;
}

void add(StoreState& state, std::vector<Unanswered>& list, const Question& question) {
  const Session* session = state.session(question.to);
  if (session == nullptr || session->life != Session::Life::kAttached) return;
  if (!is_named(*session, question)) return;
  auto found = std::ranges::find(list, session, &Unanswered::session);
  if (found == list.end()) found = list.insert(found, {.session = session, .since_ns = question.asked_ns});
  found->since_ns = std::min(found->since_ns, question.asked_ns);
  ++found->slabs;
}

}  // namespace

Session* unanswered_by(StoreState& state, const Tenant& tenant, std::uint32_t slot_class,
                       const Session& asking) {
  for (const SlabIndex index : tenant.classes[slot_class].slabs) {
    const Slab& slab = state.memory.slab(index);
    if (is_silent(state, slab, asking)) return state.session(slab.writer);
  }
  return rebalance_is_due(state, tenant) ? keeper_of_slab_on_its_way(state) : nullptr;
}

std::vector<Unanswered> unanswered_since(StoreState& state, TimeNs before_ns) {
  std::vector<Unanswered> list;
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    const Slab& slab = state.memory.slab(SlabIndex{i});
    if (slab.is_revoking) add(state, list, {slab.writer, slab.asked_ns, before_ns});
    if (slab.retire == nullptr) continue;
    for (const SessionIndex index : slab.retire->mapped_by)
      add(state, list, {index, slab.asked_ns, before_ns});
  }
  return list;
}

}  // namespace kvtier
