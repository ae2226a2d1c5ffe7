#include "daemon/flow/sums.h"

#include <cstring>

#include "daemon/flow/checksums.h"
#include "daemon/flow/doubts.h"
#include "daemon/flow/wait.h"
#include "libkvclient/wire/limits.h"

namespace kvtier {
namespace {

// The block that an entry names, if clients may lease it and it is of the session's own; another's is as if there were none.
BlockId find(StoreState& state, NamespaceId tenant, SpaceId space, const SumEntry& entry) {
  if (entry.slot.slab() >= state.memory.slab_count()) return BlockId::kNone;
  const Slab& slab = state.slab_of(entry.slot);
  const BlockId id = slab.owner() == tenant ? slab.block(entry.slot.slot()) : BlockId::kNone;
  if (id == BlockId::kNone) return id;
  const BlockRecord& record = state.blocks[id];
  const bool is_it = record.state == BlockState::kReady && record.space == space &&
                     record.slot == entry.slot && record.generation == entry.generation &&
                     (record.flags & kBlockUnverified) == 0;
  return is_it ? id : BlockId::kNone;
}

std::span<std::byte> arena_of(const Session& session, const SumsAsked& asked) {
  return session.channel.bytes().subspan(ChannelLayout::kArena + asked.arena_offset,
                                         asked.count * sizeof(SumEntry));
}

std::vector<SumEntry>& copy_entries(StoreState& state, const Session& session, const SumsAsked& asked) {
  std::vector<SumEntry>& entries = state.scratch.sums;
  entries.resize(asked.count);
  std::memcpy(entries.data(), arena_of(session, asked).data(), asked.count * sizeof(SumEntry));
  return entries;
}

// A block without a sum has nothing to be compared with: the doubt is a question for it.
bool is_waited_for(StoreState& state, BlockId id, bool is_doubt) {
  if ((state.blocks[id].flags & kBlockSummed) != 0) return is_doubt && doubt_add(state, id);
  checksum_hurry(state, id);
  return true;
}

std::vector<BlockId>& find_waited_for(StoreState& state, const Session& session, const SumsAsked& asked) {
  std::vector<BlockId>& blocks = state.scratch.blocks;
  blocks.clear();
  for (const SumEntry& entry : copy_entries(state, session, asked)) {
    const BlockId id = find(state, session.tenant, asked.space, entry);
    if (id != BlockId::kNone && is_waited_for(state, id, asked.is_doubt)) blocks.push_back(id);
  }
  return blocks;
}

}  // namespace

bool sums_start(const Command& command) {
  const Submission& submission = command.submission;
  Session& session = command.session;
  const bool is_doubt = (submission.flags & kFlagDoubt) != 0;
  if (submission.count == 0 || submission.count > (is_doubt ? kDoubtsMax : kRequestKeysMax)) return false;
  if (command_arena(command, submission.count * sizeof(SumEntry)).empty()) return false;
  Wait wait{.session = session.index, .session_id = session.id, .request_id = submission.request_id};
  wait.deadline_ns = submission.deadline_ns == 0 ? kNever : submission.deadline_ns;
  wait.sums = {submission.arena_offset, submission.count, submission.space, is_doubt};
  const bool is_too_much = submission.count > kSumsWaitingMax - session.sums_waited_for;
  if (is_too_much || (is_doubt && session.is_doubting)) {
    wait_answer(command.state, wait, Code::kBusy);
  } else {
    wait_begin(command.state, session, wait, find_waited_for(command.state, session, wait.sums));
  }
  return true;
}

// The arena is the client's: what it changed since is looked at as it is now.
std::uint32_t sums_write(StoreState& state, const Session& session, const SumsAsked& asked) {
  std::vector<SumEntry>& entries = copy_entries(state, session, asked);
  std::uint32_t count = 0;
  for (SumEntry& entry : entries) {
    const BlockId id = find(state, session.tenant, asked.space, entry);
    const bool is_summed = id != BlockId::kNone && (state.blocks[id].flags & kBlockSummed) != 0;
    const Code missing = id == BlockId::kNone ? Code::kNotFound : Code::kPending;
    entry.code = is_summed ? Code::kOk : missing;
    entry.sum = is_summed ? state.blocks[id].checksum : 0;
    count += is_summed ? 1 : 0;
  }
  std::memcpy(arena_of(session, asked).data(), entries.data(), entries.size() * sizeof(SumEntry));
  return count;
}

}  // namespace kvtier
