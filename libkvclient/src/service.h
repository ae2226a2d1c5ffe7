#pragma once
// The service thread of a client: connects and reconnects, takes in what the daemon says on the socket,
// unmaps. Blocked in poll when there is nothing to do. It is the only writer of Core's session and view.

#include <cstdint>
#include <memory>
#include <vector>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/prng.h"
#include "libkvclient/src/core.h"

namespace kvtier::client {

/// How often the service thread looks again for what says nothing when it happens: a lease that ends, a late answer, a
/// call that lets go of its session. Only while it waits for such a thing.
inline constexpr TimeNs kLookAgainNs = 20 * kNsPerMs;

class Service {
 public:
  explicit Service(Core& core);
  /// Until the client is closed and its last lease and reservation have ended.
  void run();

 private:
  struct Removal {
    std::uint32_t slab;
    std::uint32_t epoch;
  };

  // service.cc: the loop
  void turn();
  [[nodiscard]] TimeNs next_wake_ns() const;
  void wait_for_events(TimeNs until_ns);
  /// What waits for room in the socket. True: something still does.
  bool flush_outgoing();
  void drain_wake() const;
  void do_chores();
  void collect_retired();

  // service_close.cc
  void shut_down();
  void end_calls();
  bool take_last_session(std::shared_ptr<Session>& last);
  void let_close_return();
  void end_session(std::shared_ptr<Session> last);
  void wait_for_calls(const std::shared_ptr<Session>& last);
  void say_goodbye(int socket);

  // service_connect.cc
  void try_to_connect();
  void failed(const Status& why);
  Status install(Handshake handshake);
  Status resume(Handshake& handshake, std::uint32_t epoch);
  Status begin(Handshake handshake, std::uint32_t epoch);
  void retire_session();
  void announce(bool is_resumed);
  void register_spaces();
  void hang_up(const Status& why);
  void disconnect(const Status& why);

  // service_messages.cc
  void take_messages();
  Status handle(const Message& message);
  Status slab_add(const Message& message);
  Status slab_revoke(const Message& message);
  Status slab_remove(const Message& message);
  Status directory_moved(const Message& message);
  Status space_ready(const Message& message);
  Status refused(const Message& message);
  void finish_removals();
  void acknowledge_released();
  void acknowledge(std::uint32_t slab, std::uint32_t epoch, SlabState state);
  /// Sent, or kept until there is room; a dead socket shows in the next receive.
  template <class T>
  void say(const T& message) {
    const std::lock_guard lock(core_.mutex_);
    core_.say(std::as_bytes(std::span(&message, 1)));
  }
  std::shared_ptr<Space> space_by_sequence(std::uint32_t sequence) const;

  /// Replaces the view by one of the present session (or none), and waits until the old one is out of use. Not under
  /// Core's mutex: a reader may be slow, and all calls would wait for it.
  void publish_view(bool is_connected);
  /// The first half: the old view, which readers may still look at.
  std::unique_ptr<const View> show_view(bool is_connected);
  /// The second half: ends it when its readers have left.
  void drop_view(std::unique_ptr<const View> old);
  [[nodiscard]] Session& session() const { return *core_.session_; }
  [[nodiscard]] bool is_connected() const { return is_connected_; }

  Core& core_;
  Prng chance_;
  std::unique_ptr<const View> view_;
  bool is_connected_ = false;
  bool has_more_pages_ = false;
  std::uint32_t failures_count_ = 0;
  TimeNs next_attempt_ns_ = 0;
  std::uint32_t next_epoch_ = 1;
  std::vector<Removal> removals_;
};

}  // namespace kvtier::client
