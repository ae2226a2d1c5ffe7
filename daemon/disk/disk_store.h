#pragma once
// A store of blocks on one or several paths. Work in by put, get, flush and mark; answers and news out by poll(), as
// data. What a locator leads to is checked byte by byte before it is said to be right, and what a flush answered is
// there after any crash; README.md says what is promised, and what is not.
//
//   DiskStore store(options, ring, files);
//   while (...) { store.do_work(clock.now_ns()); while (store.poll(event)) handle(event); }
//
// Thread: the agent that owns it and its ring. Nothing is allocated after kReady. Every locator that an event hands out
// is the owner's until it is forgotten, once; those that do not lead anywhere any more too.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/block_reader.h"
#include "daemon/disk/job_step.h"
#include "daemon/disk/scratch_arena.h"
#include "daemon/disk/store_flush.h"
#include "daemon/disk/store_opening.h"
#include "daemon/disk/store_reclaim.h"
#include "daemon/disk/store_recovery.h"
#include "daemon/disk/store_verify.h"

namespace kvtier {

class DiskStore {
 public:
  /// `ring` has the files on its table, and is the store's alone from now on; it is idle, or gone, before the store goes.
  /// Takes all memory; begins to open.
  DiskStore(const DiskStoreOptions& options, IoRing& ring, std::span<const StoreFile> files);
  ~DiskStore();
  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  /// One bounded round. 0: until the ring's descriptor is readable, next_deadline_ns(), or a call, there is no work.
  std::size_t do_work(TimeNs now_ns);
  /// The next event; false: none.
  [[nodiscard]] bool poll(DiskEvent& event);
  /// When the next round is due although the ring's descriptor is not readable.
  [[nodiscard]] TimeNs next_deadline_ns() const;

  /// A prefix, to be laid out together, or any blocks: all on one path. kOk: each will be answered. Else nothing was
  /// taken: kBusy (a queue is full, again later), kUnavailable (not open, or no path serves), kNoSpace (full),
  /// kInvalid (larger than block_bytes_max or a segment, or memory that is too small).
  [[nodiscard]] Code put(std::span<const DiskPut> puts);
  /// kOk: each will be answered. Else nothing was taken: kBusy, kUnavailable, kInvalid.
  [[nodiscard]] Code get(std::span<const DiskGet> gets);
  [[nodiscard]] Code flush(std::uint64_t tag);
  /// What is born from now on is not voided. kNoSpace: marks_max.
  [[nodiscard]] Code mark(const DiskMark& mark);
  /// A time for DiskPut::born: before every later mark.
  [[nodiscard]] std::uint64_t stamp() { return shared_.next_sequence(); }
  void forget(const DiskLocator& locator);

  /// Of the last kAsk, to be answered once.
  [[nodiscard]] std::span<const ReclaimQuestion> questions() const { return reclaim_.questions(); }
  void answer(std::span<const ReclaimAnswer> answers) { reclaim_.answer(answers); }

  /// Checks every record on disk in the background; what is bad is told as kDropped. One at a time: the last one asked for.
  void verify(std::uint64_t tag);
  void stop_verify(std::uint64_t tag) { verify_.stop(tag); }
  [[nodiscard]] const VerifyReport& verify_report() const { return verify_.report(); }

  /// Takes no more work, seals what is open, and notes the clean end: kClosed.
  void close(std::uint64_t tag);

  [[nodiscard]] bool is_ready() const { return step_ == Step::kServing; }
  /// Why it is not open.
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const DiskStats& stats() const { return shared_.stats; }
  [[nodiscard]] std::uint64_t epoch() const { return shared_.epoch; }
  /// The last daemon ended with kClosed, or would have: nothing had to be scanned.
  [[nodiscard]] bool was_closed() const { return opening_->was_closed(); }
  /// The store on disk has a path that is not among these. Right once recovery has begun.
  [[nodiscard]] bool is_path_missing() const { return shared_.is_path_missing; }
  [[nodiscard]] std::uint32_t paths_given_up() const { return shared_.paths_given_up; }
  /// In the order of the files that were given.
  [[nodiscard]] const StorePath& path(std::size_t i) const { return *store_paths_[i]; }
  [[nodiscard]] PathState path_state(std::size_t i) const;
  /// Memory that it does I/O with, apart from slots.
  [[nodiscard]] std::uint64_t scratch_bytes() const { return arena_.all().size(); }
  /// What of the paths' files is in use: segments that are not free. Right from kReady on.
  [[nodiscard]] std::uint64_t used_bytes() const;
  [[nodiscard]] std::uint64_t live_bytes() const;

 private:
  enum class Step : std::uint8_t {
    kOpening,
    kRecovering,
    kServing,
    kClosing,
    kClosedSync,
    kClosedWrite,
    kClosed,
    kRefused
  };
  struct Path {
    StorePath* path = nullptr;
    std::unique_ptr<PathWriter> writer;
    PathState told = PathState::kOk;
    bool is_in = true;
  };

  void make_paths(std::span<const StoreFile> files);
  void begin_recovery();
  void begin_serving(TimeNs now_ns);
  void refuse(const Status& status);
  void step_jobs(TimeNs now_ns);
  void step_upkeep(TimeNs now_ns);
  [[nodiscard]] bool is_busy() const;
  void step_close();
  void end_close(Code code);
  void tell_progress();
  void tell_path_states();
  void route_own_writes();
  [[nodiscard]] Code check(std::span<const DiskPut> puts) const;
  [[nodiscard]] PathWriter* choose_path(std::size_t count);

  // constant after construction
  ScratchArena arena_;
  StoreShared shared_;
  std::vector<std::unique_ptr<StorePath>> store_paths_;
  std::vector<Path> paths_;            ///< of the same positions
  std::vector<StorePath*> by_number_;  ///< once open
  std::span<std::byte> index_buffer_;
  std::span<std::byte> move_buffer_;
  // owned by the agent
  std::unique_ptr<StoreOpening> opening_;
  std::unique_ptr<StoreRecovery> recovery_;
  BlockReader reader_;
  StoreReclaim reclaim_;
  StoreVerify verify_;  ///< in the memory of reclaim
  StoreFlush flush_;
  StoreMarks marks_;
  JobStep<Step> step_{shared_.io.changes(), Step::kOpening};
  Status status_;
  std::uint64_t told_progress_ = 0;
  std::uint64_t close_tag_ = 0;
  std::vector<std::uint64_t> close_tickets_;
  std::size_t next_path_ = 0;
};

}  // namespace kvtier
