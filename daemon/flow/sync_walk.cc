#include "daemon/flow/sync_walk.h"

#include <cstring>

#include "daemon/flow/demote.h"
#include "daemon/flow/demote_group.h"

namespace kvtier {
namespace {

enum class Verdict : std::uint8_t { kNothing, kDurable, kUnsaved, kWait, kPutAgain };

// It was committed, and is there.
bool is_wanted(const SyncJob& job, const BlockRecord& record) {
  switch (record.state) {
    case BlockState::kReady:
    case BlockState::kCold:
    case BlockState::kRestoring:
      return sync_is_of(job, record);
    default:
      return false;
  }
}

// An item by its number: a record that is the target's, or a key's. kNone: there is none.
BlockId item(StoreState& state, const SyncJob& job, std::uint32_t number) {
  if (job.target.keys == 0) {
    const BlockId id{number};
    return is_wanted(job, state.blocks[id]) ? id : BlockId::kNone;
  }
  const Session* session = state.session(job.session, job.session_id);
  KV_CHECK(session != nullptr, "a sync ends with its session");
  Key key;  // the client's, who may change it: then another one is looked for
  std::memcpy(&key,
              session->channel.data() + ChannelLayout::kArena + job.target.arena_offset +
                  std::uint64_t{number} * sizeof key,
              sizeof key);
  const BlockId id = state.index->find(job.target.tenant, job.target.space, key);
  return id != BlockId::kNone && is_wanted(job, state.blocks[id]) ? id : BlockId::kNone;
}

Verdict judge_copy(const StoreState& state, SyncJob& job, BlockId id) {
  const bool is_sure = (state.blocks[id].flags & kBlockDoubtful) == 0 &&
                       state.disk->locators[index_of(id)].sequence > state.disk->unsure_to;
  if (is_sure) return Verdict::kDurable;
  sync_count_unsaved(job, Code::kSystem, Cause::kNone);
  return Verdict::kUnsaved;
}

Verdict judge(StoreState& state, SyncJob& job, BlockId id) {
  if (id == BlockId::kNone) {
    if (job.target.keys == 0) return Verdict::kNothing;
    sync_count_unsaved(job, Code::kNotFound, Cause::kNone);
    return Verdict::kUnsaved;
  }
  const BlockRecord& record = state.blocks[id];
  if ((record.flags & kBlockOnDisk) != 0) return judge_copy(state, job, id);
  const bool is_refused = state.space_of(record).is_unsavable;
  if (job.is_given_up || is_refused) {
    sync_count_unsaved(job, is_refused ? Code::kInvalid : Code::kUnavailable, Cause::kNone);
    return Verdict::kUnsaved;
  }
  // It is being put, or cannot be put yet: not verified, summed again, of a slab or space that the tier has yet to hear of.
  if (!demote_can_save(state, id)) return Verdict::kWait;
  if (!job.is_tried_again) return Verdict::kPutAgain;
  sync_count_unsaved(job, Code::kSystem, Cause::kNone);
  return Verdict::kUnsaved;
}

bool put(StoreState& state, BlockId id) {
  return demote_works(state) && demote_group(state, id) > 0;
}

// False: no put may be opened now.
bool put_next(StoreState& state, SyncJob& job) {
  const BlockId id = item(state, job, job.unput - 1);
  const bool is_put = id != BlockId::kNone && !job.is_given_up && demote_can_save(state, id);
  if (is_put && !put(state, id)) return false;
  --job.unput;
  return true;
}

// False: it is waited for.
bool look_next(StoreState& state, SyncJob& job) {
  const BlockId id = item(state, job, job.unlooked - 1);
  switch (judge(state, job, id)) {
    case Verdict::kWait:
      return false;
    case Verdict::kPutAgain:
      if (put(state, id)) job.is_tried_again = true;
      return false;
    case Verdict::kDurable:
      ++job.report.durable;
      break;
    case Verdict::kNothing:
    case Verdict::kUnsaved:
      break;
  }
  --job.unlooked;
  job.is_tried_again = false;
  job.progress_ns = state.now();
  return true;
}

}  // namespace

bool sync_is_of(const SyncJob& job, const BlockRecord& record) {
  const SyncTarget& target = job.target;
  return target.tenant == NamespaceId::kNone ||
         (record.tenant == index_of(target.tenant) &&
          (target.space == SpaceId::kNone || target.space == record.space));
}

void sync_count_unsaved(SyncJob& job, Code code, Cause cause) {
  ++job.report.unsaved;
  if (job.report.code != Code::kOk) return;
  job.report.code = code;
  job.report.cause = cause;
}

std::size_t sync_walk(StoreState& state, SyncJob& job, std::size_t looks_max) {
  std::size_t looked = 0;
  while (looked < looks_max && job.unput > 0 && put_next(state, job)) ++looked;
  while (looked < 2 * looks_max && job.unlooked > job.unput && look_next(state, job)) ++looked;
  return looked;
}

}  // namespace kvtier
