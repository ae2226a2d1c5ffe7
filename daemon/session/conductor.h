#pragma once
// The conductor: the one agent that runs sockets, rings, store and outbox in turn. It decides nothing itself.
// Thread: one. Tests and the simulation call do_work() and wait() by hand, with a time of their own.

#include <memory>
#include <vector>

#include "daemon/agent/agent.h"
#include "daemon/config/config.h"
#include "daemon/session/control.h"
#include "daemon/session/delivery.h"
#include "daemon/session/greeter.h"
#include "daemon/session/ring_server.h"
#include "daemon/session/sessions.h"

namespace kvtier {

struct ConductorOptions {
  std::uint32_t clients_max = 256;
  std::vector<NamespaceConfig> namespaces;
  /// Clients are answered once what is on disk is known; those that come earlier wait.
  bool is_disk_first = false;
};

class Conductor final : public Agent, public Waiter {
 public:
  /// Watches the processes of adopted sessions too. The store and the log outlive the conductor.
  static Result<std::unique_ptr<Conductor>> create(const ConductorOptions& options, Store& store, Log& log,
                                                   std::unique_ptr<Listener> listener);

  [[nodiscard]] std::string_view name() const override { return "conductor"; }

  /// One bounded round: sockets, rings, store, outbox. Returns the work done; 0: nothing was there.
  std::size_t do_work(TimeNs now_ns) override;
  [[nodiscard]] TimeNs next_deadline_ns() const override;

  /// Blocks until a client rings, a socket or a process speaks, wake() is called, or `until_ns`; not at all
  /// when a ring has work already. What ended it is served by this call.
  void wait(TimeNs now_ns, TimeNs until_ns) override;
  void wake() override;

  /// A reloaded configuration: rights of those who connect from now on, limits of all.
  void set_namespaces(std::vector<NamespaceConfig> namespaces);
  [[nodiscard]] const SessionStats& stats() { return sessions_.stats(); }

 private:
  Conductor(const ConductorOptions& options, Store& store, Log& log, std::unique_ptr<Listener> listener,
            Poller poller, UniqueFd wake);
  Status start(bool is_disk_first);
  void limit_namespaces(const std::vector<NamespaceConfig>& namespaces);
  std::size_t serve(std::span<const PollEvent> events, TimeNs now_ns);
  void serve(const PollEvent& event, TimeNs now_ns);
  void connection_event(const PollEvent& event);
  void process_event(const PollEvent& event);

  Sessions sessions_;
  Greeter greeter_;
  Control control_{sessions_};
  RingServer rings_{sessions_};
  Delivery delivery_{sessions_};
  const UniqueFd wake_;  ///< eventfd of our own
};

}  // namespace kvtier
