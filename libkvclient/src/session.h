#pragma once
// One session with the daemon: channel, directory, slabs, socket. Outlives the connection for as long as
// leases or reservations of it are open; its memory stays mapped until then.

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "libkvclient/src/handshake.h"
#include "libkvclient/src/mappings.h"
#include "libkvclient/src/requests.h"
#include "libkvclient/src/view.h"

namespace kvtier::client {

class Session {
 public:
  /// Maps and checks what the daemon sent.
  static Result<std::shared_ptr<Session>> create(Handshake handshake, std::uint32_t serial,
                                                 std::uint32_t epoch);
  /// After the daemon's restart: same channel, same slabs; new socket, doorbell and directory. kStale: it is
  /// another channel, although the daemon said "resumed"; kInvalid, ...: as create.
  Status resume(Handshake& handshake, std::uint32_t epoch);
  Session(const Welcome& welcome, ShmMapping channel_memory, std::uint32_t serial_number);

  [[nodiscard]] std::byte* pins_base() const { return channel.data() + ChannelLayout::kPins; }
  [[nodiscard]] std::unique_ptr<View> make_view(const std::vector<std::uint32_t>& slabs_without, int wake);
  [[nodiscard]] ResumeProof proof() const {
    return {welcome.session_id, {welcome.secret[0], welcome.secret[1]}};
  }
  [[nodiscard]] bool has_stock() const {
    return welcome.protocol_minor >= kStockMinor && (welcome.flags & kWelcomeReadOnly) == 0;
  }
  [[nodiscard]] bool has_sums() const { return welcome.protocol_minor >= kSumsMinor; }
  [[nodiscard]] bool has_sync() const { return welcome.protocol_minor >= kSyncMinor; }
  [[nodiscard]] Stock stock() const { return Stock(channel.data() + ChannelLayout::kStock); }
  /// False: a refill that was asked for is not carried out yet, or another thread asks at this moment.
  bool stock_ask_begin();
  /// It was not sent.
  void stock_ask_undo() { stock_asked_.fetch_sub(1, std::memory_order_relaxed); }
  /// What the ring still holds was taken by the daemon, or the deadline passed.
  void drain(TimeNs deadline_ns) const;

  // constant after create, but for resume on the service thread
  Welcome welcome;
  ShmMapping channel;
  ino_t channel_inode = 0;
  const std::uint32_t serial;

  // service thread; Core's mutex where other threads look
  std::uint32_t epoch = 0;
  UniqueFd socket;
  ShmMapping directory;
  DirectoryReader directory_reader;
  std::shared_ptr<Requests> requests;

  Mappings mappings;
  std::atomic<std::uint64_t> users{0};  ///< leases and reservations: nothing is unmapped before it is 0

 private:
  Status attach_directory(int fd, std::uint64_t bytes);
  void forget_stock_asks();

  /// Refills asked for in this connection, counted on from the daemon's count of those that it carried out.
  std::atomic<std::uint32_t> stock_asked_{0};
  friend class Service;
};

}  // namespace kvtier::client
