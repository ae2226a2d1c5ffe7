#include "daemon/app/arguments.h"

#include <CLI/CLI.hpp>

#include "daemon/app/exit_code.h"

namespace kvtier {

std::optional<Arguments> parse_arguments(int argc, const char* const* argv, int& exit_code) {
  Arguments arguments;
  CLI::App app("kvtierd: owns the memory in which the inference engines of this host keep KV cache");
  app.set_version_flag("--version", "kvtierd " KVTIER_VERSION);
  app.add_option("-c,--config", arguments.config_file, "YAML file; without it the built-in defaults hold");
  app.add_option("-s,--set", arguments.sets, "path=value, over file and environment; e.g. host.bytes=4GiB")
      ->take_all();
  app.add_flag("--check", arguments.is_check, "check the configuration, print what is wrong, and end");
  app.footer(
      "Settings: `kvctl config check [FILE]` lists them all with value, source and meaning; "
      "config/kvtierd.yaml\n"
      "(installed as share/kvtier/kvtierd.yaml) is every default, annotated.\n"
      "Exit status: 0 stopped on request, 1 failure at start, 2 usage or configuration, 3 already running,\n"
      "4 the host tier does not fit, 70 a thread failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? kExitOk : kExitUsage;
    return std::nullopt;
  }
  return arguments;
}

}  // namespace kvtier
