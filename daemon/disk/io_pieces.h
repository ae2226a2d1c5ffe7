#pragma once
// The requests of one job: handed in as the ring takes them, their ends recorded until the job looks. A piece stands
// for a few of the job's records, so that a job can tell whose I/O failed.

#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/disk_io.h"

namespace kvtier {

struct IoPiece {
  enum class State : std::uint8_t {
    kWaiting,  ///< for room in the ring
    kRunning,
    kDone,
    kFailed,  ///< see outcome and error
    kHeld,    ///< failed, and the device still has the memory
    kSplit,   ///< failed, and other pieces try its parts again
  };
  IoRequest request;
  WriteCause cause = WriteCause::kPayloads;
  std::uint16_t first = 0;  ///< record
  std::uint16_t count = 0;  ///< records
  bool is_retry = false;
  State state = State::kWaiting;
  IoOutcome outcome = IoOutcome::kDone;
  int error = 0;
  std::uint32_t bytes = 0;  ///< moved
};

class IoPieces final : public IoClient {
 public:
  IoPieces(DiskIo& io, std::size_t pieces_max);

  /// Only when is_released().
  void clear();
  void add(const IoPiece& piece);
  /// Hands in what waits.
  void step();
  void on_io(std::uint32_t piece, const IoEvent& event) override;

  [[nodiscard]] bool is_empty() const { return pieces_.empty(); }
  /// Every piece has its end, held ones included.
  [[nodiscard]] bool is_settled() const { return open_count_ == 0; }
  /// And the device has nothing of them.
  [[nodiscard]] bool is_released() const { return is_settled() && held_count_ == 0; }
  /// The first that failed; nullptr: none. Split pieces have not.
  [[nodiscard]] const IoPiece* first_failed() const;
  [[nodiscard]] std::span<IoPiece> pieces() { return pieces_; }
  [[nodiscard]] std::span<const IoPiece> pieces() const { return pieces_; }

 private:
  DiskIo& io_;
  const std::uint32_t client_;
  const std::size_t pieces_max_;
  std::vector<IoPiece> pieces_;
  std::size_t next_ = 0;  ///< all before were handed in
  std::size_t open_count_ = 0;
  std::size_t held_count_ = 0;
};

/// Cuts one range of a file and memory that follows it into requests of at most kIoBytesMax.
inline constexpr std::uint32_t kIoBytesMax = 2U << 20;
/// How many those are.
constexpr std::size_t range_pieces(std::uint64_t bytes) {
  return static_cast<std::size_t>((bytes + kIoBytesMax - 1) / kIoBytesMax);
}
void add_range(IoPieces& pieces, IoPiece piece, std::uint64_t bytes);

/// What went wrong, for an event's code.
Code io_code(const IoPiece& piece);

}  // namespace kvtier
