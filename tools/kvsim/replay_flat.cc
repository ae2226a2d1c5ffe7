#include "tools/kvsim/replay.h"
#include "tools/kvsim/residents.h"

namespace kvtier::sim {
namespace {

void make_room(Residents& residents, Evictor& evictor) {
  const BlockId victim = evictor.coldest();
  evictor.remember(victim);
  evictor.remove(victim);
  residents.remove(victim);
}

void touch(Residents& residents, Evictor& evictor, BlockNumber number) {
  const BlockId block = residents.find(number);
  if (block != BlockId::kNone) return evictor.access(block);
  if (residents.is_full()) make_room(residents, evictor);
  evictor.insert(residents.add(number), BlockId::kNone);
}

std::size_t prefix_of(const Residents& residents, std::span<const BlockNumber> blocks) {
  std::size_t count = 0;
  while (count < blocks.size() && residents.find(blocks[count]) != BlockId::kNone) ++count;
  return count;
}

}  // namespace

std::uint64_t replay_flat(const Trace& trace, const Policy& policy, std::uint32_t capacity_blocks) {
  Residents residents(capacity_blocks, trace.unique);
  const std::unique_ptr<Evictor> evictor = policy.make(residents.table());
  evictor->set_capacity(capacity_blocks);
  std::uint64_t hits = 0;
  for (const Request& request : trace.requests) {
    const std::span<const BlockNumber> blocks = trace.blocks_of(request);
    hits += prefix_of(residents, blocks);
    for (std::size_t i = blocks.size(); i-- > 0;) touch(residents, *evictor, blocks[i]);
  }
  return hits;
}

}  // namespace kvtier::sim
