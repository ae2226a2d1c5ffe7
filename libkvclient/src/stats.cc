// kvc_stats and kvc_status: what the client knows without asking.

#include <algorithm>
#include <cstring>

#include "libkvclient/src/handles.h"
#include "libkvclient/src/options.h"

namespace kvtier::client {

// Reads Core under its mutex.
struct StatusReader {
  static kvc_client_status read(const Core& core) {
    kvc_client_status status{};
    const std::lock_guard lock(core.mutex_);
    status.connection = core.is_closed.load() ? std::uint32_t{KVC_CLOSED} : connection_of(core.state_);
    status.sessions_count = core.sessions_count_;
    status.resumed_count = core.resumed_count_;
    status.protocol_major = kProtocolMajor;
    status.protocol_minor = kProtocolMinor;
    status.daemon_protocol_major = core.daemon_major_;
    status.daemon_protocol_minor = core.daemon_minor_;
    copy_text(status.socket_path, core.options.socket_path);
    if (core.session_) add_session(status, *core.session_, core.state_);
    if (core.state_ != ConnectionState::kConnected) copy_text(status.last_error, core.last_error_.message());
    return status;
  }

  static void add_requests(const Core& core, kvc_client_stats& stats) {
    const std::lock_guard lock(core.mutex_);
    stats.requests = core.counts.requests_before;
    stats.requests_late = core.counts.late_before;
    if (!core.session_ || core.state_ != ConnectionState::kConnected) return;
    stats.requests += core.session_->requests->sent_count();
    stats.requests_late += core.session_->requests->late_count();
  }

 private:
  static std::uint32_t connection_of(ConnectionState state) {
    switch (state) {
      case ConnectionState::kConnected:
        return KVC_CONNECTED;
      case ConnectionState::kRefused:
        return KVC_REFUSED;
      case ConnectionState::kConnecting:
        break;
    }
    return KVC_CONNECTING;
  }

  static void add_session(kvc_client_status& status, const Session& session, ConnectionState state) {
    const Welcome& welcome = session.welcome;
    status.session_id = state == ConnectionState::kConnected ? welcome.session_id : 0;
    status.namespace_id = welcome.namespace_id;
    status.is_read_only = (welcome.flags & kWelcomeReadOnly) != 0 ? 1 : 0;
    status.mapped_bytes = session.mappings.mapped_bytes();
    status.slabs_count = session.mappings.slabs_count();
    copy_text(status.daemon_version,
              std::string(welcome.daemon_version, ::strnlen(welcome.daemon_version, kVersionBytes)));
  }

  template <std::size_t N>
  static void copy_text(char (&to)[N], const std::string& from) {
    std::memcpy(to, from.data(), std::min(from.size(), N - 1));
  }
};

namespace {

kvc_client_stats stats_of(const Core& core) {
  kvc_client_stats stats{};
  stats.match_calls = core.readers.total(Count::kMatchCalls);
  stats.match_keys = core.readers.total(Count::kMatchKeys);
  stats.match_ready = core.readers.total(Count::kMatchReady);
  stats.acquire_calls = core.readers.total(Count::kAcquireCalls);
  stats.acquire_keys = core.readers.total(Count::kAcquireKeys);
  stats.acquire_leased = core.readers.total(Count::kAcquireLeased);
  stats.leases_open = core.readers.total(Count::kLeasesBegun) - core.readers.total(Count::kLeasesEnded);
  stats.reserve_keys = core.counts.reserve_keys;
  stats.reserve_new = core.counts.reserve_new;
  stats.reserve_stocked = core.counts.reserve_stocked;
  stats.commit_blocks = core.counts.commit_blocks;
  stats.abort_blocks = core.counts.abort_blocks;
  stats.reservations_open = core.counts.reservations_open;
  stats.unavailable = core.counts.unavailable + core.readers.total(Count::kUnavailable);
  stats.deadline_exceeded = core.counts.deadline_exceeded;
  stats.acquire_unverified = core.counts.acquire_unverified;
  stats.acquire_corrupt = core.counts.acquire_corrupt;
  StatusReader::add_requests(core, stats);
  return stats;
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_status(kvc_client* client, kvc_client_status* status) try {
  client::clear_struct(status);
  if (client == nullptr || status == nullptr) {
    return client::report(Code::kInvalid, "kvc_status: client and status must not be NULL");
  }
  const Status alive = client::check_alive(*client);
  if (!alive.is_ok()) return client::report(alive);
  return client::report(
      client::write_struct("kvc_status", client::StatusReader::read(*client->core), *status));
} catch (...) {
  return client::report_exception();
}

extern "C" int kvc_stats(kvc_client* client, kvc_client_stats* stats) try {
  client::clear_struct(stats);
  if (client == nullptr || stats == nullptr) {
    return client::report(Code::kInvalid, "kvc_stats: client and stats must not be NULL");
  }
  const Status alive = client::check_alive(*client);
  if (!alive.is_ok()) return client::report(alive);
  return client::report(client::write_struct("kvc_stats", client::stats_of(*client->core), *stats));
} catch (...) {
  return client::report_exception();
}
