#include "daemon/io/probe.h"

#include <fcntl.h>

#include <algorithm>

#include "daemon/io/probe_file.h"
#include "daemon/io/round_trip.h"
#include "daemon/io/uring_backend.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kAlignmentMin = 512;

/// What is tried needs little of everything.
IoEngineOptions small(const IoEngineOptions& options) {
  IoEngineOptions result = options;
  result.depth = 1;
  result.files_max = result.regions_max = 1;
  return result;
}

Result<IoFacts> try_engine(const IoEngineOptions& options, int fd, std::uint32_t alignment) {
  Result<std::unique_ptr<IoBackend>> backend = open_io_engine(small(options));
  if (!backend.is_ok()) return backend.status();
  return round_trip(std::move(backend).value(), {fd, alignment});
}

Status try_polling(int fd, std::uint32_t alignment) {
  Result<std::unique_ptr<IoBackend>> backend =
      open_uring({.depth = 1, .files_max = 1, .regions_max = 1, .use_polling = true});
  if (!backend.is_ok()) return backend.status();
  return round_trip(std::move(backend).value(), {fd, alignment}).status();
}

void set_direct_off(PathProbe& probe, const std::string& reason) {
  probe.direct = {false, reason};
  probe.alignment = {1, "no O_DIRECT"};
}

/// The alignment, or the refusal of the largest one.
Result<std::uint32_t> find_alignment(const IoEngineOptions& options, int fd) {
  Status refused;
  for (std::uint32_t alignment = kAlignmentMin; alignment <= kRoundTripBytesMax; alignment *= 2) {
    const Result<IoFacts> tried = try_engine(options, fd, alignment);
    if (tried.is_ok()) return alignment;
    refused = tried.status();
  }
  return refused;
}

void probe_direct(PathProbe& probe, const IoEngineOptions& options, int fd) {
  const Result<std::uint32_t> alignment = find_alignment(options, fd);
  if (!alignment.is_ok()) return set_direct_off(probe, alignment.status().message());
  const Result<bool> is_cached = is_in_page_cache(fd, 2 * std::uint64_t{alignment.value()});
  if (!is_cached.is_ok()) return set_direct_off(probe, is_cached.status().message());
  if (is_cached.value())
    return set_direct_off(probe, probe.file_system + " takes O_DIRECT and caches all the same");
  probe.direct = {true, {}};
  probe.alignment = {alignment.value(), {}};
}

void probe_polling(PathProbe& probe, int fd) {
  if (probe.engine.value != "uring") {
    probe.polled = {false, "engine is " + probe.engine.value};
  } else if (!probe.direct.value) {
    probe.polled = {false, "no O_DIRECT"};
  } else {
    const Status status = try_polling(fd, probe.alignment.value);
    probe.polled = {status.is_ok(),
                    status.is_ok() ? "" : status.message() + " (NVMe: the kernel module's poll_queues)"};
  }
}

}  // namespace

Result<PathProbe> probe_path(const std::string& folder, const IoEngineOptions& options) {
  const Result<UniqueFd> file = open_probe_file(folder, 0);
  if (!file.is_ok()) return file.status();
  const Result<IoFacts> facts = try_engine(options, file.value().get(), 1);
  if (!facts.is_ok()) return facts.status().while_doing("trying " + folder);
  PathProbe probe{
      .folder = folder, .file_system = file_system_name(file.value().get()), .engine = facts.value().engine};
  probe.registered_buffers = {facts.value().registered_bytes.value > 0,
                              facts.value().registered_bytes.reason};
  const Result<UniqueFd> direct = open_probe_file(folder, O_DIRECT);
  if (direct.is_ok()) {
    probe_direct(probe, options, direct.value().get());
  } else {
    set_direct_off(probe, direct.status().message());
  }
  probe_polling(probe, direct.is_ok() ? direct.value().get() : -1);
  return probe;
}

std::vector<IoFactRow> probe_rows(const PathProbe& probe) {
  return {{"path", probe.folder, {}},
          {"file_system", probe.file_system, {}},
          {"engine", probe.engine.value, probe.engine.reason},
          {"direct_io", io_switch(probe.direct.value), probe.direct.reason},
          {"alignment", std::to_string(probe.alignment.value), probe.alignment.reason},
          {"registered_buffers", io_switch(probe.registered_buffers.value), probe.registered_buffers.reason},
          {"polled_io", io_switch(probe.polled.value), probe.polled.reason}};
}

}  // namespace kvtier
