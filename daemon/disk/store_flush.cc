#include "daemon/disk/store_flush.h"

#include <algorithm>

namespace kvtier {

StoreFlush::StoreFlush(StoreShared& shared, std::size_t paths_max)
    : shared_(shared), parts_(paths_max * shared.options.flushes_max), reported_failures_(paths_max) {
  jobs_.reserve(shared.options.flushes_max);
  for (std::size_t i = shared.options.flushes_max; i-- > 0;) free_parts_.push_back(i * paths_max);
}

bool StoreFlush::begin(std::uint64_t tag) {
  if (free_parts_.empty()) return false;
  Job job{.tag = tag, .parts = free_parts_.back()};
  free_parts_.pop_back();
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    part(job, i) = {.number = paths_[i].writer->numbers_taken(), .failures = paths_[i].path->sync.failures()};
    // A sync that failed since the last flush took its puts with it: this flush tells it.
    if (part(job, i).failures == reported_failures_[i]) continue;
    job.code = Code::kSystem;
    reported_failures_[i] = part(job, i).failures;
  }
  jobs_.push_back(job);
  return true;
}

void StoreFlush::step() {
  std::erase_if(jobs_, [&](Job& job) {
    bool is_over = true;
    for (std::size_t i = 0; i < paths_.size(); ++i) is_over = step_part(job, i) && is_over;
    if (!is_over) return false;
    ++shared_.stats.flushes;
    shared_.events.push_reserved({.kind = DiskEventKind::kFlushed, .code = job.code, .tag = job.tag});
    free_parts_.push_back(job.parts);
    return true;
  });
}

bool StoreFlush::step_part(Job& job, std::size_t at) {
  PathPart& each = part(job, at);
  StorePath& path = *paths_[at].path;
  if (each.is_over) return true;
  if (each.is_waiting) {
    if (!paths_[at].writer->is_settled_before(each.number)) return false;
    each.is_waiting = false;
    each.answered = path.answered;
    if (path.answered == path.flushed) return each.is_over = true;  // it has nothing new
    each.ticket = path.sync.take(SyncCause::kFlush);
  }
  const SyncResult result = path.sync.result(each.ticket);
  if (result == SyncResult::kPending) return false;
  each.is_over = true;
  if (result == SyncResult::kFailed || path.sync.failures() != each.failures) job.code = Code::kSystem;
  // Told, if not done: later flushes are about later puts.
  path.flushed = std::max(path.flushed, each.answered);
  if (job.code != Code::kOk) reported_failures_[at] = path.sync.failures();
  return true;
}

StoreMarks::StoreMarks(StoreShared& shared)
    : shared_(shared), tickets_(kPathsMax * std::size_t{shared.options.flushes_max}) {
  jobs_.reserve(shared.options.flushes_max);
  for (std::size_t i = shared.options.flushes_max; i-- > 0;) free_tickets_.push_back(i * kPathsMax);
}

Code StoreMarks::begin(const DiskMark& mark, std::uint64_t born) {
  if (free_tickets_.empty()) return Code::kBusy;
  std::uint32_t serving = 0;
  for (const JobPath& path : paths_) serving += path.path->health.is_serving() ? 1 : 0;
  if (serving == 0) return Code::kUnavailable;
  const std::uint32_t copies = serving == 1 ? 2 : 1;
  const RecordKind kind = mark.key.key.is_zero() ? RecordKind::kInvalidation : RecordKind::kTombstone;
  const RecordOrder order{.kind = kind,
                          .sequence = born,
                          .born = born,
                          .tenant = mark.key.tenant,
                          .space = mark.key.space,
                          .key = mark.key.key};
  if (!shared_.marks.admits(order, jobs_.size())) return Code::kNoSpace;
  for (const JobPath& path : paths_) {
    if (path.path->health.is_serving() && !path.writer->has_own_room(copies)) return Code::kBusy;
  }
  const DiskPut put{
      .key = mark.key, .born = born, .created_ns = mark.created_ns, .shape = &shape_, .tag = next_id_};
  for (const JobPath& path : paths_) {
    if (!path.path->health.is_serving()) continue;
    for (std::uint32_t i = 0; i < copies; ++i)
      KV_CHECK(path.writer->push_own(put, PutOrigin::kMark, kind), "there was room a moment ago");
  }
  jobs_.push_back({.id = next_id_++,
                   .tag = mark.tag,
                   .order = order,
                   .copies = copies * serving,
                   .tickets = free_tickets_.back()});
  free_tickets_.pop_back();
  return Code::kOk;
}

void StoreMarks::on_write(const OwnWrite& write) {
  const auto job =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& each) { return each.id == write.tag; });
  KV_CHECK(job != jobs_.end(), "a mark's job waits for all its copies");
  --job->copies;
  if (write.code != Code::kOk) job->code = write.code;
}

SyncResult StoreMarks::synced(const Job& job) const {
  SyncResult all = SyncResult::kDone;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const SyncResult one = paths_[i].path->sync.result(tickets_[job.tickets + i]);
    if (one == SyncResult::kPending) return one;
    if (one == SyncResult::kFailed) all = one;
  }
  return all;
}

void StoreMarks::step() {
  std::erase_if(jobs_, [&](Job& job) {
    if (job.copies > 0) return false;
    if (!job.is_syncing) {
      for (std::size_t i = 0; i < paths_.size(); ++i)
        tickets_[job.tickets + i] = paths_[i].path->sync.take(SyncCause::kMark);
      job.is_syncing = true;
    }
    const SyncResult result = synced(job);
    if (result == SyncResult::kPending) return false;
    if (result == SyncResult::kFailed) job.code = Code::kSystem;
    if (job.code == Code::kOk) shared_.marks.insert(job.order);
    ++shared_.stats.marks;
    shared_.events.push_reserved({.kind = DiskEventKind::kMarked, .code = job.code, .tag = job.tag});
    free_tickets_.push_back(job.tickets);
    return true;
  });
}

}  // namespace kvtier
