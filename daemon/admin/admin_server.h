#pragma once
// The administration socket: JSON lines over SOCK_STREAM. A request is one object a line; its answer is one
// or more lines, of which the last has "done":true. Thread: its own; what concerns the store is asked of the
// conductor through the port. A peer that is slow, silent or hostile costs its own place only.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/admin/admin_connection.h"
#include "daemon/admin/admin_facts.h"
#include "daemon/admin/admin_port.h"
#include "daemon/admin/verify_desk.h"
#include "daemon/agent/agent.h"
#include "daemon/agent/mailbox.h"
#include "daemon/session/listener.h"
#include "daemon/session/poller.h"

namespace kvtier {

struct AdminServerOptions {
  /// Who may evict, flush, kick and verify beside root and the daemon's own uid.
  std::vector<std::uint32_t> admin_uids;
  std::vector<std::uint32_t> admin_gids;
  AdminFacts facts;
  DiskChannel* disk = nullptr;  ///< of the NVMe tier; null: there is none. Outlives the server
};

/// Agent and the place where it sleeps, as the conductor is: AgentRunner(server, server, clock, ...).
class AdminServer final : public Agent, public Waiter {
 public:
  static constexpr std::size_t kConnectionsMax = 32;

  /// The socket alone, `group` being that of its file: taken before the rest of a daemon is there. Failures:
  /// those of Listener::open.
  static Result<std::unique_ptr<Listener>> listen(const std::string& path, std::optional<gid_t> group);
  /// `conductor` is woken with each command and outlives the server.
  static Result<std::unique_ptr<AdminServer>> create(AdminServerOptions options,
                                                     std::unique_ptr<Listener> listener, Waiter& conductor);
  ~AdminServer() override = default;

  /// For the conductor: port().serve(store) once a round.
  AdminPort& port() { return port_; }
  /// Any thread: AdminFacts::config_json after a reload. False: two earlier ones still wait.
  bool set_config(std::string config_json) { return configs_.push(std::move(config_json)); }

  [[nodiscard]] std::string_view name() const override { return "kv-admin"; }
  std::size_t do_work(TimeNs now_ns) override;
  [[nodiscard]] TimeNs next_deadline_ns() const override;

  void wait(TimeNs now_ns, TimeNs until_ns) override;
  void wake() override;

 private:
  struct Place {
    std::unique_ptr<AdminConnection> connection;  ///< null: free
    std::uint32_t generation = 0;
  };

  AdminServer(AdminServerOptions options, Waiter& conductor, std::unique_ptr<Listener> listener,
              Poller poller, UniqueFd wake);
  std::size_t poll(TimeNs now_ns);
  void keep_socket(TimeNs now_ns);
  std::size_t accept(TimeNs now_ns);
  void admit(UniqueFd socket, TimeNs now_ns);
  Place* find_place();
  std::size_t take_answers(TimeNs now_ns);
  std::size_t run(std::size_t index, TimeNs now_ns);
  std::size_t begin_request(std::size_t index, TimeNs now_ns);
  std::size_t answer(AdminConnection& connection, TimeNs now_ns);
  static std::size_t expire(AdminConnection& connection);
  void update_interest(std::size_t index);
  void close(std::size_t index);
  [[nodiscard]] bool may_change(const Peer& peer) const;

  // constant after construction
  const std::uint32_t own_uid_;
  const std::unique_ptr<Listener> listener_;
  const UniqueFd wake_;
  // the server's thread
  UniqueFd spare_;  ///< given up when there is no other descriptor
  AdminServerOptions options_;
  VerifyDesk verify_;
  TimeNs verify_again_ns_ = kNever;  ///< the tier's mailbox was full
  Poller poller_;
  std::array<Place, kConnectionsMax> places_;
  std::uint64_t next_ticket_ = 1;  ///< a job's ticket is this times kConnectionsMax, plus its place
  TimeNs socket_check_ns_ = 0;     ///< when it is looked again whether the socket's file is there
  TimeNs accept_again_ns_ = 0;     ///< not 0: out of descriptors, the listener is not watched until then
  // both
  AdminPort port_;
  Mailbox<std::string> configs_{2, *this};
};

}  // namespace kvtier
