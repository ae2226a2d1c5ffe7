#pragma once
// From a waiting connection to a session: accepts, gives each stranger a deadline, checks its Hello, its
// right to the namespace and its pidfd, opens or resumes the session, answers Welcome or Refused. A silent
// stranger costs a place until its deadline; when places run out the oldest one goes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/session/hello.h"
#include "daemon/session/listener.h"
#include "daemon/session/namespace_access.h"
#include "daemon/session/sessions.h"

namespace kvtier {

class Greeter {
 public:
  static constexpr TimeNs kHelloDeadlineNs = 2 * kNsPerSecond;
  static constexpr TimeNs kAcceptPauseNs = 100 * kNsPerMs;  ///< after the process ran out of descriptors
  static constexpr TimeNs kSocketCheckNs = 5 * kNsPerSecond;
  static constexpr std::uint32_t kStrangersMax = 64;
  static constexpr int kAcceptsPerTurn = 16;

  Greeter(Sessions& sessions, std::unique_ptr<Listener> listener, std::vector<NamespaceConfig> namespaces);
  /// Watches the socket. Closed: who connects waits in its queue until open().
  Status start(bool is_open);
  void open();

  /// Accepts a bounded number. Returns how many.
  std::size_t accept(TimeNs now_ns);
  /// Makes the socket again if its file was deleted; looks now and then only.
  void keep_socket(TimeNs now_ns);
  /// Reads the Hello of a stranger, if it is there.
  void hear(std::uint32_t index);
  /// Closes strangers that are late. Cheap when none is.
  void expire(TimeNs now_ns);
  [[nodiscard]] TimeNs next_deadline() const;
  /// The rules of a reloaded configuration hold for sessions opened from now on.
  [[nodiscard]] const std::vector<NamespaceConfig>& namespaces() const { return namespaces_; }
  void set_namespaces(std::vector<NamespaceConfig> namespaces) { namespaces_ = std::move(namespaces); }

 private:
  struct Admission {
    SessionRequest request;
    UniqueFd pidfd;
    UniqueFd doorbell;
    SessionGrant grant;
    bool is_resumed = false;
    std::optional<ClientRings> rings;
  };
  void admit(UniqueFd socket, TimeNs now_ns);
  bool turn_away(const Status& why);
  void refuse(std::uint32_t index, std::uint32_t sequence, const Status& why);
  Status greet(std::uint32_t index, const HelloRequest& hello, std::uint32_t sequence, UniqueFd offered);
  Status prepare(const Connection& connection, const HelloRequest& hello, UniqueFd offered,
                 Admission& admission);
  Status open_session(const HelloRequest& hello, Admission& admission);
  bool is_same_process(SessionIndex session, int pidfd);
  Status watch(Admission& admission);
  void take_back(const Admission& admission);
  Status welcome(Connection& connection, std::uint32_t sequence, const Admission& admission);
  Status settle(std::uint32_t index, Admission admission);

  // constant after construction
  Sessions& sessions_;
  const std::unique_ptr<Listener> listener_;
  const bool takes_pidfds_;
  // owned by the conductor
  std::vector<NamespaceConfig> namespaces_;
  UniqueFd spare_;  ///< given up for a moment when there is no other
  bool is_open_ = false;
  TimeNs accept_paused_until_ns_ = 0;
  TimeNs socket_check_ns_ = 0;
};

}  // namespace kvtier
