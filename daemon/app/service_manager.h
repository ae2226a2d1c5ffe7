#pragma once
// What the service manager is told (sd_notify) and what it handed over. The only user of libsystemd in app.
// Without a manager every call does nothing.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/fd_store.h"
#include "libkvclient/base/clock.h"

namespace kvtier::service_manager {

void ready();
void stopping();
void reloading(TimeNs now_ns);
void status(const std::string& text);
/// The start may take this much longer from now.
void extend_timeout(TimeNs duration_ns);
void watchdog();
/// How often watchdog() is due at least; 0: nobody waits for it.
TimeNs watchdog_period_ns();

/// Whether a manager runs us and keeps descriptors for the service.
bool has_fd_store();
bool store_fd(std::string_view name, int fd);
void remove_fd(std::string_view name);
/// LISTEN_FDS with their names, once.
std::vector<StoredFd> take_fds();

}  // namespace kvtier::service_manager
