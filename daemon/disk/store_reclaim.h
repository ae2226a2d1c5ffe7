#pragma once
// Gains segments: takes the one that gives most for its cost (SegmentTable::pick_victim), asks the owner about each of
// its blocks, moves what is to be kept, makes that durable, erases the segment, and frees it when that is durable too. One
// at a time in a store.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/footer_load.h"
#include "daemon/disk/job_step.h"
#include "daemon/disk/path_writer.h"
#include "daemon/disk/reclaim_answer.h"

namespace kvtier {

/// About one block of the segment that is being emptied.
struct ReclaimQuestion {
  DiskKey key;
  Key parent{};
  DiskLocator locator;  ///< alive only if the index names exactly this (D-16)
  std::uint64_t born = 0;
  std::uint32_t block_bytes = 0;
};

class StoreReclaim {
 public:
  static constexpr std::size_t kQuestionsMax = 64;
  static constexpr std::size_t kMovesMax = 16;

  struct Path {
    StorePath* path = nullptr;
    PathWriter* writer = nullptr;
  };

  /// `index`: the memory of a footer; `moves`: what a block and its header take.
  StoreReclaim(StoreShared& shared, std::span<std::byte> index, std::span<std::byte> moves);
  void set_paths(std::vector<Path> paths) {
    paths_ = std::move(paths);
    tickets_.resize(paths_.size());
  }

  void step(TimeNs now_ns);
  [[nodiscard]] ReclaimView view(const StorePath& path) const;
  [[nodiscard]] bool is_idle() const { return step_ == Step::kIdle; }
  /// When it tries again what could not be done.
  [[nodiscard]] TimeNs next_deadline_ns() const {
    return step_ == Step::kIdle && not_before_ns_ > now_ns_ ? not_before_ns_ : kNever;
  }
  /// Begins no other segment.
  void stop() { is_stopped_ = true; }

  /// Those of the last kAsk; in their order answered once.
  [[nodiscard]] std::span<const ReclaimQuestion> questions() const { return questions_; }
  void answer(std::span<const ReclaimAnswer> answers);
  void on_write(const OwnWrite& write);

 private:
  enum class Step : std::uint8_t {
    kIdle,
    kLoad,
    kGather,
    kAsk,
    kRead,
    kWrite,
    kMovedSync,
    kDrain,
    kErase,
    kErasedSync
  };
  struct Move {
    ReclaimQuestion question;
    std::span<std::byte> header;   ///< the units that hold it
    std::span<std::byte> payload;  ///< with its padding
    DiskRecord record;
    bool is_done = false;
  };

  [[nodiscard]] Path& path() { return paths_[path_]; }
  void begin(TimeNs now_ns);
  void after_load();
  void gather();
  [[nodiscard]] bool is_all_serving() const;
  [[nodiscard]] bool keep_mark(const IndexEntry& entry, const IndexScope& scope);
  [[nodiscard]] std::uint64_t oldest_elsewhere() const;
  void begin_moves(TimeNs now_ns);
  [[nodiscard]] bool plan_move(const ReclaimQuestion& question, std::size_t& used, TimeNs now_ns);
  void after_reads();
  void write_moves();
  void drop(const ReclaimQuestion& question, DiskFault fault = DiskFault::kNone);
  void finish_moves(TimeNs now_ns);
  void take_tickets();
  [[nodiscard]] SyncResult synced() const;
  void erase(TimeNs now_ns);
  void tell(DiskEvent event);
  void release_events();
  void give_up();

  StoreShared& shared_;
  std::vector<Path> paths_;
  FooterLoad footer_;
  IoPieces pieces_;
  const std::span<std::byte> move_buffer_;
  std::vector<ReclaimQuestion> questions_;
  std::vector<ReclaimAnswer> answers_;
  std::vector<Move> moves_;
  std::size_t moves_count_ = 0;    ///< of moves_, in use
  std::size_t moves_written_ = 0;  ///< handed to the writer
  std::size_t writes_open_ = 0;    ///< moves and marks that are not answered
  std::size_t next_answer_ = 0;
  DiskRecord mark_shape_{};  ///< marks have neither parts nor sums
  JobStep<Step> step_{shared_.io.changes(), Step::kIdle};
  std::size_t path_ = 0;
  std::size_t next_path_ = 0;
  std::uint32_t segment_ = 0;
  std::uint32_t next_entry_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t kept_bytes_max_ = 0;
  bool has_failed_ = false;  ///< something could not be kept that must be: the segment stays
  bool is_stopped_ = false;
  std::uint64_t ticket_ = 0;
  std::vector<std::uint64_t> tickets_;  ///< a path
  std::size_t events_reserved_ = 0;
  TimeNs now_ns_ = 0;
  TimeNs not_before_ns_ = 0;
};

}  // namespace kvtier
