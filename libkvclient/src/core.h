#pragma once
// What all handles of one client share. The service thread (service.h) keeps it connected; verbs read from
// it. Lock order: mutex_ here, then Mappings', then Requests'. No lock is held while waiting for the daemon.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "kvclient/kvclient.h"
#include "libkvclient/src/fork_guard.h"
#include "libkvclient/src/outgoing.h"
#include "libkvclient/src/session.h"
#include "libkvclient/src/space.h"

namespace kvtier::client {

/// A connected session as a verb saw it; stays usable, and says kUnavailable once it is over.
struct Link {
  std::shared_ptr<Session> session;
  std::shared_ptr<Requests> requests;
  std::uint32_t epoch = 0;
  bool has_stock = false;  ///< the daemon knows stocks, and this session may write
  bool has_sums = false;   ///< the daemon tells checksums
  bool has_sync = false;   ///< the daemon says when blocks are on disk
};

/// A link in which a space is registered.
struct BoundLink {
  Link link;
  Binding binding;
};

/// A reserve without claim: `missing` of the slots say KVC_OK and want a slot of the stock.
struct StockCall {
  Key parent;
  std::span<const Key> keys;
  std::span<kvc_slot> slots;
  std::uint32_t missing;
  std::uint64_t block_bytes;
};

/// Why there is no session may be over at the next attempt: the daemon is away, full, or short of something. The rest a
/// person has to mend: what was asked for, or who asks.
inline bool is_passing(Code why) {
  switch (why) {
    case Code::kInvalid:
    case Code::kDenied:
    case Code::kNotFound:
    case Code::kVersion:
    case Code::kUnsupported:
      return false;
    default:
      return true;
  }
}

enum class ConnectionState : std::uint8_t { kConnecting, kConnected, kRefused };

/// How far the service thread is with the end of a client that is closed: what close() waits for.
enum class Ending : std::uint8_t {
  kNotReached,
  kLeftAlone,  ///< leases, slots, calls or the daemon take long: it goes on without close()
  kDone
};

/// Counters of the slow path. relaxed everywhere: statistics.
struct SlowCounts {
  std::atomic<std::uint64_t> reserve_keys{0}, reserve_new{0}, reserve_stocked{0};
  std::atomic<std::uint64_t> commit_blocks{0}, abort_blocks{0};
  std::atomic<std::uint64_t> reservations_open{0}, unavailable{0}, deadline_exceeded{0};
  std::atomic<std::uint64_t> acquire_unverified{0}, acquire_corrupt{0};
  std::atomic<std::uint64_t> requests_before{0}, late_before{0};  ///< of sessions that are over
};

class Core : public std::enable_shared_from_this<Core> {
 public:
  /// Starts the service thread and waits for its first attempt to connect. A refusal is an error, absence
  /// only where the options require the daemon.
  static Result<std::shared_ptr<Core>> open(ClientOptions options);
  explicit Core(ClientOptions options);
  void close();

  // constant after construction
  const ClientOptions options;
  const ForkGuard guard;

  // the read path
  Readers readers;
  ViewPointer view{nullptr};
  std::atomic<bool> is_closed{false};  ///< from here on every call is stale, and every wait ends

  // ---- verbs ----
  [[nodiscard]] Result<Link> link() const;
  [[nodiscard]] Result<BoundLink> bound_link(const Space& space) const;
  /// The session with this serial number: the present one, or one that waits for its last user.
  [[nodiscard]] std::shared_ptr<Session> session_of(std::uint32_t serial) const;
  Status space_add(const std::shared_ptr<Space>& space, TimeNs deadline_ns);
  void space_remove(const Space& space);
  /// Notes a granted slot and counts it as a user of the session; waits for the slab's announcement, which
  /// travels on the socket, to be taken in. kNotFound: not before the deadline; kStale, kUnavailable: the
  /// session is over.
  Result<std::byte*> lend(const BoundLink& bound, const Grant& grant, std::uint64_t block_bytes,
                          TimeNs deadline_ns);
  /// Until `is_true`, which is asked under the mutex after every change of the session or its slabs. False: not
  /// before the deadline, or the close.
  bool wait_for_change(const std::function<bool()>& is_true, TimeNs deadline_ns);
  /// A slot of the session's stock for each key whose slot says KVC_OK. False: there are not enough, or the connection is
  /// another one by now; then none is taken. No message, no allocation.
  bool take_stock(const BoundLink& bound, const StockCall& call);
  void wake_service() const;
  /// kStale when the client was closed meanwhile and `status` is one that a close brings about: the session is over, or
  /// a wait has ended. Everything else stays what it is.
  [[nodiscard]] Status or_closed(const Status& status) const;

  SlowCounts counts;

 private:
  friend class Service;
  friend struct StatusReader;

  // mutex_ held
  bool take_entry(const BoundLink& bound, const StockCall& call, std::uint32_t entry, kvc_slot& slot);
  void untake_entry(Session& session, const kvc_slot& slot);

  /// A template, because a std::function may allocate. Defined in core.cc, its only user.
  template <class Predicate>
  bool wait_locked(std::unique_lock<std::mutex>& lock, const Predicate& is_true, TimeNs deadline_ns);
  Status wait_for_first_attempt(std::unique_lock<std::mutex>& lock, TimeNs deadline_ns);
  void send_registration(Space& space);
  void say(std::span<const std::byte> message);

  const UniqueFd wake_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  ///< anything below, or a slab
  // guarded by mutex_
  ConnectionState state_ = ConnectionState::kConnecting;
  Status last_error_;
  std::shared_ptr<Session> session_;  ///< while not connected: the one to resume
  std::vector<std::shared_ptr<Session>> retired_;
  std::vector<std::shared_ptr<Space>> spaces_;
  Outgoing outgoing_;
  std::uint32_t next_sequence_ = 2;
  std::uint64_t attempts_count_ = 0;
  std::uint64_t sessions_count_ = 0;
  std::uint64_t resumed_count_ = 0;
  std::uint32_t daemon_major_ = 0;
  std::uint32_t daemon_minor_ = 0;
  Ending ending_ = Ending::kNotReached;

  std::thread service_;
};

}  // namespace kvtier::client
