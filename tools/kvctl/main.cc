// kvctl: see command_line.cc for the commands and exit statuses.

#include <csignal>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>

#include "tools/kvctl/command_line.h"
#include "tools/kvctl/output.h"

namespace {

using kvtier::ctl::Failure;

int report(const kvtier::ctl::CommandLine& line, const Failure& failure) {
  if (line.globals.is_json) {
    const nlohmann::ordered_json json = {{"error", {{"code", failure.code}, {"message", failure.what()}}}};
    std::puts(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
  }
  std::fprintf(stderr, "kvctl: %s\n", failure.what());
  return failure.exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  kvtier::ctl::CommandLine line;
  try {
    kvtier::ctl::parse_command_line(argc, argv, line);
    const int status = line.run ? line.run() : line.exit_status;
    kvtier::ctl::finish_output();
    return status;
  } catch (const Failure& failure) {
    return report(line, failure);
  } catch (const std::exception& error) {
    return report(line, {kvtier::ctl::kExitFailed, "system", error.what()});
  }
}
