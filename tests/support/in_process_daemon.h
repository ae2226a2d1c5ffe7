#pragma once
// The session layer over the real store in the test's own process: a store, a log and a conductor that listens on a
// socket in a directory of their own. Whoever derives from it turns the conductor, on a thread of its choice.

#include <memory>
#include <sstream>
#include <string>

#include "daemon/flow/stats.h"
#include "daemon/flow/store.h"
#include "daemon/session/conductor.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::test {

/// Members may be used and replaced by the test: they are what it is about.
template <class TestClock, class TestFdStore>
class InProcessDaemon {
 protected:
  InProcessDaemon(std::string namespace_name, const StoreOptions& options) : options_(options) {
    namespace_.name = std::move(namespace_name);
    start();
  }
  ~InProcessDaemon() = default;

  void start() {
    make_store();
    make_conductor();
  }
  /// As if it were killed: sockets close, memory and channels stay in the descriptor store.
  void drop() {
    conductor_.reset();
    store_.reset();
  }
  void make_store() {
    store_.reset();
    store_ = Store::create(options_, clock_, fds_).value();
  }
  void make_conductor() {
    conductor_.reset();
    std::unique_ptr<Listener> listener = Listener::open({.path = path_}).value();
    conductor_ = Conductor::create({.clients_max = options_.sessions_max, .namespaces = {namespace_}},
                                   *store_, log_, std::move(listener))
                     .value();
  }

  StoreOptions options_;
  NamespaceConfig namespace_;
  ScratchDir dir_;
  const std::string path_ = dir_.file("d.sock");
  TestClock clock_;
  TestFdStore fds_;
  std::ostringstream log_text_;
  Log log_{LogOptions{.stream = &log_text_}};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Conductor> conductor_;
};

}  // namespace kvtier::test
