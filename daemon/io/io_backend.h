#pragma once
// What moves bytes below a ring: io_uring, threads, or a double. One operation is one system call's worth and may
// come out short, failed or interrupted; the ring above makes whole requests of them.

#include <span>

#include "daemon/io/io_facts.h"
#include "daemon/io/io_types.h"
#include "libkvclient/base/status.h"

namespace kvtier {

struct IoOperation {
  IoKind kind = IoKind::kRead;
  IoFile file{};
  IoRegion region = IoRegion::kNone;  ///< kNone: memory that was never registered
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;
  std::byte* data = nullptr;
  std::uint32_t slot = 0;  ///< names it until it is completed
};

struct IoCompletion {
  std::uint32_t slot = 0;
  std::int32_t result = 0;  ///< bytes moved, or -errno
};

/// Thread: the agent that owns the ring, for all calls. Destruction waits until the device has given all memory back.
class IoBackend {
 public:
  IoBackend() = default;
  IoBackend(const IoBackend&) = delete;
  IoBackend& operator=(const IoBackend&) = delete;
  virtual ~IoBackend() = default;

  /// -1 takes the file off the table. The descriptor is borrowed. No operation of that place is under way.
  virtual Status set_file(IoFile file, int fd) = 0;
  /// An empty span takes the memory off the table. Memory that cannot be registered is used unregistered, which
  /// facts() tells; so this fails only for a place beyond the table.
  virtual Status set_region(IoRegion region, std::span<std::byte> memory) = 0;

  /// Takes the operation for the next flush(). False: no room, ask again after a reap().
  [[nodiscard]] virtual bool start(const IoOperation& operation) = 0;
  /// Hands what was started to the device, in one batch where it can.
  virtual void flush(TimeNs now_ns) = 0;
  /// Every started operation comes out here exactly once, also those that could not be handed over.
  virtual std::size_t reap(TimeNs now_ns, std::span<IoCompletion> completions) = 0;
  /// Asks the device to give up. The completion still comes, whatever it says.
  virtual void cancel(std::uint32_t slot) = 0;

  /// Readable when reap() has something; -1: nothing to wait for, time alone moves it.
  [[nodiscard]] virtual int completion_fd() const = 0;
  /// When flush() or reap() is due although the descriptor is not readable.
  [[nodiscard]] virtual TimeNs next_deadline_ns() const { return kNever; }
  /// Operations under way at most.
  [[nodiscard]] virtual std::uint32_t depth() const = 0;
  [[nodiscard]] virtual IoFacts facts() const = 0;
};

}  // namespace kvtier
