#include "daemon/disk/disk_store.h"

#include <algorithm>

namespace kvtier {
namespace {

constexpr std::uint64_t kFooterBytes = kIndexBytesMax + kAlignmentMax;

std::uint64_t path_bytes() {
  return kSuperblockCopies * std::uint64_t{kHeaderBytesMax} + kFooterBytes +
         PathWriter::kGroups * PathWriter::kHeadersBytes + kAlignmentMax + kAlignmentMin;
}

std::uint64_t move_bytes(const DiskStoreOptions& options) {
  const std::uint64_t payload =
      round_up(options.block_bytes_max, kAlignmentMax) + 2 * std::uint64_t{kAlignmentMax};
  return SegmentScan::kHeadersBytes + std::max<std::uint64_t>(payload, 256 * kKiB);
}

std::uint64_t arena_bytes(const DiskStoreOptions& options, std::size_t paths) {
  return paths * path_bytes() + kFooterBytes + move_bytes(options) +
         BlockReader::kRuns * BlockReader::kHeadersBytes;
}

// Two for each put and get: its answer, and the release of its memory.
std::size_t events_max(const DiskStoreOptions& options, std::size_t paths) {
  return 2 * (paths * options.puts_max + options.gets_max) + std::size_t{2} * options.flushes_max + 1024;
}

}  // namespace

DiskStore::DiskStore(const DiskStoreOptions& options, IoRing& ring, std::span<const StoreFile> files)
    : arena_(arena_bytes(options, files.size())),
      shared_(ring, options, events_max(options, files.size())),
      by_number_(kPathsMax),
      index_buffer_(arena_.take(kFooterBytes)),
      move_buffer_(arena_.take(move_bytes(options))),
      reader_(shared_, by_number_, arena_.take(BlockReader::kRuns * BlockReader::kHeadersBytes)),
      reclaim_(shared_, index_buffer_, move_buffer_),
      verify_(shared_, index_buffer_, move_buffer_),
      flush_(shared_, files.size()),
      marks_(shared_),
      close_tickets_(files.size()) {
  KV_CHECK(!files.empty() && files.size() <= kPathsMax, "a store has a path, and at most kPathsMax");
  KV_CHECK(options.free_segments_low >= 2, "reclaim begins while there is a segment to move into");
  make_paths(files);
  opening_ = std::make_unique<StoreOpening>(shared_, store_paths_);
  const Status status = ring.set_region(options.scratch_region, arena_.all());
  if (!status.is_ok() || !options.refusal.is_ok()) refuse(status.is_ok() ? options.refusal : status);
}

DiskStore::~DiskStore() = default;

void DiskStore::make_paths(std::span<const StoreFile> files) {
  for (const StoreFile& file : files) {
    store_paths_.push_back(
        std::make_unique<StorePath>(shared_.io, file, shared_.options, arena_.take(kAlignmentMin)));
    StorePath& path = *store_paths_.back();
    path.superblock_scratch = arena_.take(kSuperblockCopies * std::uint64_t{kHeaderBytesMax});
    path.footer_scratch = arena_.take(kFooterBytes);
    const std::span<std::byte> headers = arena_.take(PathWriter::kGroups * PathWriter::kHeadersBytes);
    paths_.push_back(
        {.path = &path,
         .writer = std::make_unique<PathWriter>(shared_, path, headers, arena_.take(kAlignmentMax))});
  }
}

void DiskStore::refuse(const Status& status) {
  status_ = status;
  step_ = Step::kRefused;
  shared_.events.push({.kind = DiskEventKind::kRefused, .code = status.code()});
}

std::size_t DiskStore::do_work(TimeNs now_ns) {
  const std::uint64_t changes = shared_.io.changes();
  std::size_t work = shared_.io.poll(now_ns);
  if (step_ == Step::kOpening) {
    opening_->step(now_ns);
    if (opening_->is_refused()) refuse(opening_->status());
    if (opening_->is_done()) begin_recovery();
  }
  if (step_ == Step::kRecovering) {
    recovery_->step(now_ns);
    tell_progress();
    if (recovery_->is_done()) begin_serving(now_ns);
  }
  if (step_ != Step::kOpening && step_ != Step::kRefused) step_jobs(now_ns);
  if (step_ >= Step::kClosing && step_ < Step::kClosed) step_close();
  if (step_ == Step::kClosedWrite) opening_->step(now_ns);
  for (const auto& path : store_paths_) path->sync.step(now_ns);
  work += shared_.io.poll(now_ns);
  return work + (shared_.events.is_empty() ? 0 : 1) + (shared_.io.changes() - changes);
}

void DiskStore::step_jobs(TimeNs now_ns) {
  for (Path& path : paths_) {
    if (!path.is_in) continue;
    path.path->health.step(now_ns);
    path.writer->step(now_ns, step_ == Step::kRecovering ? ReclaimView{} : reclaim_.view(*path.path));
  }
  route_own_writes();
  reader_.step(now_ns);
  if (step_ != Step::kRecovering) step_upkeep(now_ns);
  flush_.step();
  marks_.step();
  tell_path_states();
}

// Reclaim and scrub have one memory, and take turns.
void DiskStore::step_upkeep(TimeNs now_ns) {
  if (!verify_.is_holding()) reclaim_.step(now_ns);
  if (!reclaim_.is_idle()) return verify_.lose_footer();
  verify_.step(now_ns, is_busy());
}

bool DiskStore::is_busy() const {
  return !reader_.is_idle() || std::any_of(paths_.begin(), paths_.end(),
                                           [](const Path& path) { return path.writer->queued_count() > 0; });
}

void DiskStore::route_own_writes() {
  OwnWrite write;
  for (Path& path : paths_) {
    while (path.writer->pop_own(write)) {
      if (write.origin == PutOrigin::kMark) {
        marks_.on_write(write);
      } else {
        reclaim_.on_write(write);
      }
    }
  }
}

void DiskStore::begin_recovery() {
  std::vector<StoreRecovery::Path> recovered;
  std::vector<StoreReclaim::Path> reclaimed;
  std::vector<StoreVerify::Path> verified;
  std::vector<JobPath> jobs;
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    Path& path = paths_[i];
    path.is_in = opening_->has_path(i);
    if (!path.is_in) continue;
    by_number_[path.path->number] = path.path;
    recovered.push_back({path.path, path.writer.get(), &opening_->found(i)});
    reclaimed.push_back({path.path, path.writer.get()});
    verified.push_back({path.path, path.writer.get()});
    jobs.push_back({path.path, path.writer.get()});
  }
  reclaim_.set_paths(std::move(reclaimed));
  verify_.set_paths(std::move(verified));
  flush_.set_paths(jobs);
  marks_.set_paths(std::move(jobs));
  recovery_ = std::make_unique<StoreRecovery>(shared_, std::move(recovered), index_buffer_, move_buffer_);
  step_ = Step::kRecovering;
}

void DiskStore::begin_serving(TimeNs now_ns) {
  if (!shared_.events.has_room(1)) return;
  step_ = Step::kServing;
  resume_budget(shared_.budget, shared_.stats, now_ns + shared_.options.wall_minus_monotonic_ns);
  shared_.events.push({.kind = DiskEventKind::kReady});
}

void DiskStore::tell_progress() {
  const std::uint64_t done = recovery_->done();
  if (done == told_progress_ || !shared_.events.has_room(kGroupRecordsMax)) return;
  told_progress_ = done;
  shared_.events.push({.kind = DiskEventKind::kProgress, .done = done, .total = recovery_->total()});
}

void DiskStore::tell_path_states() {
  for (Path& path : paths_) {
    const PathState state = path.is_in ? path.path->health.state() : PathState::kFailed;
    if (state == path.told || !shared_.events.has_room(1)) continue;
    path.told = state;
    shared_.events.push({.kind = DiskEventKind::kPath,
                         .code = state == PathState::kOk ? Code::kOk : Code::kUnavailable,
                         .path = static_cast<std::uint8_t>(path.path->number)});
  }
}

TimeNs DiskStore::next_deadline_ns() const {
  TimeNs next_ns =
      std::min({shared_.io.next_deadline_ns(), reclaim_.next_deadline_ns(), verify_.next_deadline_ns()});
  for (const auto& path : store_paths_) next_ns = std::min(next_ns, path->health.next_probe_ns());
  return next_ns;
}

PathState DiskStore::path_state(std::size_t i) const {
  return paths_[i].is_in ? paths_[i].path->health.state() : PathState::kFailed;
}

std::uint64_t DiskStore::used_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& path : store_paths_) {
    const std::uint32_t used = path->segments.count() - path->segments.count(SegmentState::kFree);
    bytes += used * path->geometry.segment_bytes;
  }
  return bytes;
}

std::uint64_t DiskStore::live_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& path : store_paths_) bytes += path->segments.live_bytes();
  return bytes;
}

}  // namespace kvtier
