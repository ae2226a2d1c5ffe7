#pragma once
// What a ring really uses, and why not more: data for `kvctl status`.

#include <cstdint>
#include <string>
#include <vector>

namespace kvtier {

/// One effective value. An empty reason: it is what was wished for.
template <class Value>
struct IoFact {
  Value value{};
  std::string reason;
};

struct IoFacts {
  IoFact<std::string> engine;              ///< "uring", "posix"
  IoFact<std::uint32_t> depth;             ///< operations under way at most
  IoFact<bool> registered_files;           ///< the kernel looks descriptors up once
  IoFact<std::uint64_t> registered_bytes;  ///< of memory that the kernel maps once
  std::uint64_t region_bytes = 0;          ///< of all memory on the table
  IoFact<bool> polled;                     ///< the device is polled, not waited for
};

/// One line of `kvctl status`.
struct IoFactRow {
  std::string name;
  std::string value;
  std::string reason;
};

std::vector<IoFactRow> io_fact_rows(const IoFacts& facts);
/// "on" or "off".
std::string io_switch(bool is_on);

}  // namespace kvtier
