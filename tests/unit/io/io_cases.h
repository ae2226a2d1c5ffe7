#pragma once
// The backends that the conformance suite runs on.

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "daemon/io/io_backend.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"
#include "tests/support/sim_disk.h"

namespace kvtier::test {

/// A backend and an empty file for it. The disk goes last.
struct IoUnderTest {
  std::unique_ptr<SimDisk> disk;  ///< null: the kernel's
  UniqueFd file;                  ///< of the kernel
  std::unique_ptr<IoBackend> backend;
  int fd = -1;  ///< as set_file() takes it
  std::uint32_t alignment = 1;
};

struct IoCase {
  std::string name;
  std::function<Result<IoUnderTest>(std::uint32_t depth)> open;
};

/// For messages of GoogleTest.
inline void PrintTo(const IoCase& each, std::ostream* out) {
  *out << each.name;
}

std::vector<IoCase> all_io_cases();
/// Those that call the kernel and nothing around it.
std::vector<IoCase> kernel_io_cases();

}  // namespace kvtier::test
