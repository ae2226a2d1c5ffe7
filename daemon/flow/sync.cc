#include "daemon/flow/sync.h"

#include <algorithm>

#include "daemon/flow/demote.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/sync_walk.h"

namespace kvtier {
namespace {

// Records looked at a turn: cache misses, some microseconds.
constexpr std::size_t kLooksStep = 256;
// A tier that takes no puts does not say when it does again.
constexpr TimeNs kLookAgainNs = 10 * kNsPerMs;

using Phase = SyncJob::Phase;

void end(StoreState& state, SyncJob& job) {
  job.phase = Phase::kOver;
  ++state.stats.syncs;
  if (job.report.code != Code::kOk) ++state.stats.syncs_incomplete;
  Session* session = state.session(job.session, job.session_id);
  if (session == nullptr) return;
  --session->requests_open;
  state.complete(*session, {.request_id = job.request_id,
                            .code = job.report.code,
                            .cause = job.report.cause,
                            .count = static_cast<std::uint32_t>(job.report.durable),
                            .value = job.report.unsaved});
}

// Nothing is known to be behind an fdatasync.
void end_without_flush(StoreState& state, SyncJob& job, Code code) {
  job.report.unsaved += job.report.durable;
  job.report.durable = 0;
  job.report.code = code;
  job.report.cause = Cause::kNone;
  end(state, job);
}

std::size_t give_up_when_late(StoreState& state, SyncJob& job) {
  if (job.is_given_up || state.now() < job.progress_ns + kSyncPatienceNs) return 0;
  job.is_given_up = true;
  const bool is_over_budget = state.disk->port.wants_evidence() && !state.disk->port.takes_puts();
  if (job.report.code != Code::kOk) return 1;
  job.report.code = is_over_budget ? Code::kNoSpace : Code::kUnavailable;
  job.report.cause = is_over_budget ? Cause::kWriteBudget : Cause::kNone;
  return 1;
}

void flush(StoreState& state, SyncJob& job) {
  if (!disk_has_room(state, 1)) return;
  disk_send(state, {.kind = DiskCommandKind::kFlush, .tag = make_tag(DiskTag::kSync, job.number)});
  job.phase = Phase::kFlushing;
}

std::size_t step(StoreState& state, SyncJob& job) {
  if (job.phase == Phase::kOver) return 0;
  if (job.deadline_ns <= state.now()) return end_without_flush(state, job, Code::kDeadline), 1;
  if (state.disk->life > DiskTier::Life::kReady) return end_without_flush(state, job, Code::kUnavailable), 1;
  if (job.phase == Phase::kFlushing) return 0;
  if (state.disk->life < DiskTier::Life::kReady) {
    job.progress_ns = state.now();  // it opens: nothing is late
    return 0;
  }
  const std::size_t looked = sync_walk(state, job, kLooksStep);
  if (job.unlooked == 0) return flush(state, job), looked + 1;
  return looked + give_up_when_late(state, job);
}

void forget_ended(StoreState& state) {
  std::erase_if(state.syncs, [](const SyncJob& job) { return job.phase == Phase::kOver; });
}

SyncJob make_job(StoreState& state, const SyncTarget& target) {
  SyncJob job{.number = ++state.next_sync, .target = target, .progress_ns = state.now()};
  job.unput = job.unlooked = target.keys > 0 ? target.keys : state.blocks.limit();
  return job;
}

// Without a tier to be asked; kOk: there is one.
Code refusal(const StoreState& state) {
  if (state.disk) return Code::kOk;
  return state.options.is_disk_absent ? Code::kUnavailable : Code::kUnsupported;
}

}  // namespace

bool sync_start(const Command& command) {
  const Submission& submission = command.submission;
  const bool has_keys = submission.count > 0;
  if (has_keys && (submission.count > kRequestKeysMax ||
                   command_arena(command, std::uint64_t{submission.count} * sizeof(Key)).empty()))
    return false;
  StoreState& state = command.state;
  if (command.session.request.is_read_only) return command.answer(Code::kDenied), true;
  if (command_space(command) == nullptr) return true;
  if (const Code code = refusal(state); code != Code::kOk)
    return command.answer(code, 0, submission.count), true;
  const auto open =
      static_cast<std::size_t>(std::ranges::count(state.syncs, command.session.id, &SyncJob::session_id));
  if (open >= kSyncsMaxSession || state.syncs.size() >= kSyncsMax) return command.answer(Code::kBusy), true;
  SyncJob job = make_job(state, {.tenant = command.session.tenant,
                                 .space = submission.space,
                                 .arena_offset = submission.arena_offset,
                                 .keys = submission.count});
  job.session = command.session.index;
  job.session_id = command.session.id;
  job.request_id = submission.request_id;
  job.deadline_ns = submission.deadline_ns == 0 ? kNever : submission.deadline_ns;
  ++command.session.requests_open;
  state.syncs.push_back(job);
  return true;
}

std::uint64_t sync_begin(StoreState& state, const SyncTarget& target) {
  if (state.syncs.size() >= kSyncsMax) forget_ended(state);  // nobody looked at the end of those
  if (state.syncs.size() >= kSyncsMax) return 0;
  state.syncs.push_back(make_job(state, target));
  SyncJob& job = state.syncs.back();
  if (const Code code = refusal(state); code != Code::kOk) end_without_flush(state, job, code);
  return job.number;
}

std::optional<SyncView> sync_look(StoreState& state, std::uint64_t number) {
  const auto job = std::ranges::find(state.syncs, number, &SyncJob::number);
  if (job == state.syncs.end()) return std::nullopt;
  const SyncView view{job->number, job->phase == Phase::kOver, job->unlooked, job->report};
  if (view.is_over) state.syncs.erase(job);
  return view;
}

void syncs_forget(StoreState& state, const Session& session) {
  std::erase_if(state.syncs, [&](const SyncJob& job) { return job.session_id == session.id; });
}

std::size_t sync_step(StoreState& state) {
  if (state.syncs.empty()) return 0;
  std::size_t work = 0;
  for (std::size_t i = 0; i < state.syncs.size() && work == 0; ++i)
    work = step(state, state.syncs[state.sync_turn++ % state.syncs.size()]);
  std::erase_if(state.syncs,
                [](const SyncJob& job) { return job.phase == Phase::kOver && job.session_id != 0; });
  return work;
}

TimeNs syncs_next_ns(const StoreState& state) {
  TimeNs next = kNever;
  for (const SyncJob& job : state.syncs) {
    if (job.phase == Phase::kOver) continue;
    next = std::min(next, job.deadline_ns);
    if (job.phase == Phase::kWalking) next = std::min(next, state.now() + kLookAgainNs);
  }
  return next;
}

void sync_on_flushed(StoreState& state, const DiskNews& news) {
  if (news.code != Code::kOk) {
    // What it was for may be gone from the device's cache, and no later flush says anything about it.
    state.disk->unsure_to = state.disk->sequence_max;
    for (SyncJob& job : state.syncs) job.is_unsure = true;
  }
  if (tag_kind(news.tag) != DiskTag::kSync) return;
  const auto job = std::ranges::find(state.syncs, tag_number(news.tag), &SyncJob::number);
  if (job == state.syncs.end() || job->phase != Phase::kFlushing) return;
  if (job->is_unsure) return end_without_flush(state, *job, Code::kSystem);
  if (job->report.unsaved == 0) job->report.code = Code::kOk;  // what was refused went in at the second try
  if (job->report.unsaved == 0) job->report.cause = Cause::kNone;
  end(state, *job);
}

void sync_on_refused(StoreState& state, BlockId id, const DiskNews& news) {
  for (SyncJob& job : state.syncs) {
    if (job.phase != Phase::kWalking) continue;
    if (news.is_over_budget) job.is_given_up = true;
    if (job.report.code != Code::kOk || news.code != Code::kNoSpace) continue;
    if (!news.is_over_budget && !sync_is_of(job, state.blocks[id])) continue;
    job.report.code = Code::kNoSpace;
    job.report.cause = news.is_over_budget ? Cause::kWriteBudget : Cause::kDiskFull;
  }
}

void sync_on_unsaved(StoreState& state, BlockId id) {
  for (SyncJob& job : state.syncs) {
    const bool is_its = job.phase == Phase::kWalking && job.target.keys == 0 && index_of(id) < job.unlooked &&
                        sync_is_of(job, state.blocks[id]);
    if (is_its) sync_count_unsaved(job, Code::kNotFound, Cause::kNone);
  }
}

}  // namespace kvtier
