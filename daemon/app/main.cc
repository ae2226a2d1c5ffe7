// kvtierd: reads its configuration, takes its memory, serves until a signal.

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <csignal>
#include <cstdio>

#include "daemon/app/arguments.h"
#include "daemon/app/daemon.h"
#include "daemon/app/exit_code.h"
#include "daemon/app/keeper_fd_store.h"
#include "daemon/app/service_manager.h"
#include "daemon/app/systemd_fd_store.h"

namespace kvtier {
namespace {

int exit_code_of(const Status& status) {
  switch (status.code()) {
    case Code::kExists:
      return kExitAlreadyRunning;
    case Code::kNoSpace:
      return kExitNoMemory;
    case Code::kInvalid:
    case Code::kDenied:
    case Code::kNotFound:
      return kExitUsage;
    default:
      return kExitFailure;
  }
}

int fail(const Status& status) {
  std::fprintf(stderr, "kvtierd: %s\n", status.message().c_str());
  service_manager::status(status.message());
  return exit_code_of(status);
}

UniqueFd block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ,
           SIG_IGN);  // a write beyond the file size limit fails with EFBIG: a path's failure, not ours
  return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Slabs, channels and sockets of many clients: as many descriptors as this process may have.
void raise_descriptor_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);  // refused: as many as before
}

Result<std::unique_ptr<FdStore>> open_fd_store() {
  Result<std::unique_ptr<KeeperFdStore>> keeper = KeeperFdStore::connect();
  if (!keeper.is_ok()) return keeper.status();
  if (keeper.value() != nullptr) return std::unique_ptr<FdStore>(std::move(keeper).value());
  if (service_manager::has_fd_store()) return std::unique_ptr<FdStore>(std::make_unique<SystemdFdStore>());
  return std::unique_ptr<FdStore>(std::make_unique<NoFdStore>());
}

// Until SIGTERM or SIGINT. Watchdog pings stop when an agent hangs: the service manager then ends this
// process.
void serve(Daemon& daemon, int signals, const ConfigSources& sources) {
  const TimeNs watchdog_ns = service_manager::watchdog_period_ns();
  const int pause_ms = watchdog_ns == 0 ? -1 : static_cast<int>(watchdog_ns / 3 / kNsPerMs);
  while (true) {
    pollfd entry{signals, POLLIN, 0};
    (void)::poll(&entry, 1, pause_ms);
    signalfd_siginfo info{};
    while (::read(signals, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGHUP) return;
      service_manager::reloading(SystemClock().now_ns());
      daemon.reload(load_config(sources, SystemIdentities()));
      service_manager::ready();
    }
    if (watchdog_ns == 0) continue;
    if (!daemon.is_frozen()) service_manager::watchdog();
    service_manager::status(daemon.summary());
  }
}

// nvme.recover: before_ready. Only progress asks the service manager for more time. A signal ends the wait.
void await_recovery(const Daemon& daemon, int signals) {
  constexpr int kLookMs = 100;
  constexpr TimeNs kExtensionNs = 60 * kNsPerSecond;
  std::string told;
  for (std::string text = daemon.recovery(); !text.empty(); text = daemon.recovery()) {
    if (text != told) {
      service_manager::extend_timeout(kExtensionNs);
      service_manager::status(text);
    }
    told = text;
    pollfd entry{signals, POLLIN, 0};
    if (::poll(&entry, 1, kLookMs) > 0) return;
  }
}

int run(const Arguments& arguments) {
  ConfigSources sources{
      .file = arguments.config_file, .environment = process_environment(), .sets = arguments.sets};
  const ConfigLoad loaded = load_config(sources, SystemIdentities());
  for (const Complaint& warning : loaded.warnings)
    std::fprintf(stderr, "kvtierd: warning: %s\n", to_string(warning).c_str());
  if (!loaded.is_ok()) return fail(loaded.status());
  if (arguments.is_check) return std::puts("configuration ok"), kExitOk;
  raise_descriptor_limit();
  const UniqueFd signals = block_signals();
  Result<std::unique_ptr<FdStore>> fds = open_fd_store();
  if (!fds.is_ok()) return fail(fds.status());
  Result<std::unique_ptr<Daemon>> daemon = Daemon::create(loaded.config, std::move(fds).value());
  if (!daemon.is_ok()) return fail(daemon.status());
  const Status started = daemon.value()->start();
  if (!started.is_ok()) return fail(started);
  await_recovery(*daemon.value(), signals.get());
  daemon.value()->say_serving();
  service_manager::ready();
  service_manager::status(daemon.value()->summary());
  serve(*daemon.value(), signals.get(), sources);
  service_manager::stopping();
  daemon.value()->log().info("stopping");
  daemon.value()->stop();
  return kExitOk;
}

}  // namespace
}  // namespace kvtier

int main(int argc, char** argv) {
  int exit_code = kvtier::kExitOk;
  const std::optional<kvtier::Arguments> arguments = kvtier::parse_arguments(argc, argv, exit_code);
  return arguments ? kvtier::run(*arguments) : exit_code;
}
