#pragma once
// One administrator's connection: bounded buffers in both directions, one request at a time, deadlines.
// Thread: the server's.

#include <optional>
#include <string>

#include "daemon/admin/admin_job.h"
#include "daemon/session/peer.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/base/units.h"

namespace kvtier {

class AdminConnection {
 public:
  static constexpr std::size_t kOutputBytesMax = 64 * kKiB;  ///< nothing is added above it
  static constexpr TimeNs kIdleNs = 60 * kNsPerSecond;       ///< between two requests
  static constexpr TimeNs kStallNs = 10 * kNsPerSecond;      ///< half a line sent, or answers not read

  AdminConnection(UniqueFd socket, Peer peer, TimeNs now_ns)
      : socket_(std::move(socket)), peer_(std::move(peer)), progress_ns_(now_ns) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const Peer& peer() const { return peer_; }

  /// Takes what the peer sent, up to one longest line. Returns the bytes.
  std::size_t receive(TimeNs now_ns);
  /// The next whole line; none: not yet.
  std::optional<std::string> take_line(TimeNs now_ns);
  /// A line longer than any request: nothing after it can be understood.
  [[nodiscard]] bool is_line_too_long() const;

  void add_output(std::string_view line) { output_ += line; }
  [[nodiscard]] bool has_room() const { return output_.size() < kOutputBytesMax; }
  [[nodiscard]] bool has_output() const { return !output_.empty(); }
  /// Sends what the peer takes. Returns the bytes.
  std::size_t send(TimeNs now_ns);

  /// No more requests; what is left of the output is still sent.
  void end_input() { is_input_over_ = true; }
  void break_off() { is_broken_ = true; }
  /// Nothing more will come of it.
  [[nodiscard]] bool is_over() const { return is_broken_ || (is_input_over_ && !job && output_.empty()); }
  [[nodiscard]] bool wants_input() const {
    return !is_input_over_ && !job && input_.size() <= kAdminLineBytesMax;
  }

  [[nodiscard]] TimeNs deadline_ns() const;
  [[nodiscard]] TimeNs progress_ns() const { return progress_ns_; }

  std::optional<AdminJob> job;  ///< the request that is being answered
  std::uint32_t watched = 0;    ///< epoll flags, kept by the server

 private:
  const UniqueFd socket_;
  const Peer peer_;
  std::string input_;
  std::string output_;
  bool is_input_over_ = false;
  bool is_broken_ = false;
  TimeNs progress_ns_;  ///< last byte out, or last request begun
  TimeNs line_began_ns_ = 0;
};

}  // namespace kvtier
