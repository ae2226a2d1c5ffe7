#include "daemon/app/service_manager.h"

#include <fcntl.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace kvtier::service_manager {
namespace {

constexpr int kKeepEnvironment = 0;

void notify(const std::string& state) {
  (void)::sd_notify(kKeepEnvironment, state.c_str());
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

void ready() {
  notify("READY=1");
}

void stopping() {
  notify("STOPPING=1");
}

void reloading(TimeNs now_ns) {
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now_ns / kNsPerUs));
}

void status(const std::string& text) {
  notify("STATUS=" + one_line(text));
}

void extend_timeout(TimeNs duration_ns) {
  notify("EXTEND_TIMEOUT_USEC=" + std::to_string(duration_ns / kNsPerUs));
}

void watchdog() {
  notify("WATCHDOG=1");
}

TimeNs watchdog_period_ns() {
  std::uint64_t period_us = 0;
  return ::sd_watchdog_enabled(kKeepEnvironment, &period_us) > 0 ? period_us * kNsPerUs : 0;
}

// FDSTORE is set by systemd 254 and later. Before, FileDescriptorStoreMax cannot be seen from inside, so the
// unit file says it by a variable of our own.
bool has_fd_store() {
  return std::getenv("NOTIFY_SOCKET") != nullptr &&
         (std::getenv("FDSTORE") != nullptr || std::getenv("KVTIER_FD_STORE") != nullptr);
}

bool store_fd(std::string_view name, int fd) {
  // FDPOLL=0: a pidfd that reports its exit must stay; it is what the next instance wants to know.
  const std::string state = "FDSTORE=1\nFDPOLL=0\nFDNAME=" + std::string(name);
  return ::sd_pid_notify_with_fds(0, kKeepEnvironment, state.c_str(), &fd, 1) > 0;
}

void remove_fd(std::string_view name) {
  notify("FDSTOREREMOVE=1\nFDNAME=" + std::string(name));
}

std::vector<StoredFd> take_fds() {
  std::vector<StoredFd> stored;
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(1, &names);
  for (int i = 0; i < count; ++i) {
    const int fd = SD_LISTEN_FDS_START + i;
    (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);
    stored.push_back({names[i], UniqueFd(fd)});
    std::free(names[i]);
  }
  std::free(names);
  return stored;
}

}  // namespace kvtier::service_manager
