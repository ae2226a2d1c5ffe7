#include "tests/unit/io/io_cases.h"

#include <fcntl.h>

#include <cerrno>

#include "daemon/io/io_engine.h"
#include "daemon/io/probe_file.h"
#include "tests/support/faulty_backend.h"
#include "tests/support/sim_disk_backend.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kDirectAlignment = 4096;

Result<IoUnderTest> open_kernel(const IoEngineOptions& options, int flags) {
  IoUnderTest result;
  Result<UniqueFd> file = open_probe_file(".", flags);
  if (!file.is_ok()) return file.status();
  Result<std::unique_ptr<IoBackend>> backend = open_io_engine(options);
  if (!backend.is_ok()) return backend.status();
  result.file = std::move(file).value();
  result.fd = result.file.get();
  result.backend = std::move(backend).value();
  result.alignment = (flags & O_DIRECT) != 0 ? kDirectAlignment : 1;
  return result;
}

Result<IoUnderTest> open_simulated(std::uint32_t depth) {
  IoUnderTest result;
  result.disk = std::make_unique<SimDisk>(7);
  result.fd = result.disk->create("file", 0);
  result.backend = std::make_unique<SimDiskBackend>(*result.disk, SimDiskOptions{.depth = depth});
  result.alignment = kSimSectorBytes;
  return result;
}

/// Faults that a request survives: a ring on such a device looks to its caller like one on a good device.
Result<IoUnderTest> with_bad_days(Result<IoUnderTest> inner) {
  if (!inner.is_ok()) return inner;
  IoUnderTest& under = inner.value();
  auto faulty = std::make_unique<FaultyBackend>(std::move(under.backend), 11);
  faulty->sometimes({.fault = IoFault::kShorten, .bytes = 4096}, 0.3);
  faulty->sometimes({.fault = IoFault::kFail, .error = EINTR}, 0.1);
  faulty->sometimes({.fault = IoFault::kFail, .error = EAGAIN}, 0.1);
  faulty->sometimes({.fault = IoFault::kDelay}, 0.2);
  faulty->sometimes({.fault = IoFault::kReorder}, 0.2);
  under.backend = std::move(faulty);
  return inner;
}

IoCase kernel_case(const std::string& name, const IoEngineOptions& options, int flags) {
  return {name, [options, flags](std::uint32_t depth) {
            IoEngineOptions sized = options;
            sized.depth = depth;
            return open_kernel(sized, flags);
          }};
}

IoCase faulty_case(const IoCase& inner) {
  return {"faulty_" + inner.name, [inner](std::uint32_t depth) { return with_bad_days(inner.open(depth)); }};
}

}  // namespace

std::vector<IoCase> kernel_io_cases() {
  return {kernel_case("uring", {.engine = IoEngine::kUring}, 0),
          kernel_case("uring_direct", {.engine = IoEngine::kUring}, O_DIRECT),
          kernel_case("uring_unregistered", {.engine = IoEngine::kUring, .use_registered_buffers = false}, 0),
          kernel_case("posix", {.engine = IoEngine::kPosix}, 0),
          kernel_case("posix_direct", {.engine = IoEngine::kPosix}, O_DIRECT)};
}

std::vector<IoCase> all_io_cases() {
  std::vector<IoCase> cases = kernel_io_cases();
  cases.push_back({"simulated", open_simulated});
  for (const std::size_t at : {1, 3, 5}) cases.push_back(faulty_case(cases[at]));
  return cases;
}

}  // namespace kvtier::test
