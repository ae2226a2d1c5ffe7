// kvbench: measures kvtier beside a reference in the same run. Exit status: 0 measured, all bytes right; 1
// wrong bytes; 2 could not measure.

#include <cstdio>
#include <exception>

#include "tools/kvbench/options.h"

int main(int argc, char** argv) {
  try {
    const kvtier::bench::CommandLine line = kvtier::bench::parse_command_line(argc, argv);
    return line.run ? line.run().finish(line.common.is_json) : line.exit_status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvbench: %s\n", error.what());
    return 2;
  }
}
