#include "tools/kvctl/command_line.h"

#include <algorithm>
#include <cstdlib>

#include "daemon/config/nearest_name.h"
#include "daemon/config/settings_table.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

// The daemon's own default, from its table, so that the two never differ.
std::string default_socket() {
  const char* path = std::getenv("KVTIER_ADMIN_SOCKET");
  if (path != nullptr && *path != '\0') return path;
  const Setting<Config>* setting = find_setting("admin_socket");
  return setting == nullptr ? "/run/kvtier/admin.sock" : std::string(setting->info.default_text);
}

// The innermost subcommand that was recognised.
const CLI::App& subcommand_of(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

// What stands where a subcommand is due and is none, with the nearest one; "": nothing does.
std::string wrong_subcommand(const CLI::App& app) {
  const CLI::App* at = &subcommand_of(app);
  const std::vector<const CLI::App*> known = at->get_subcommands([](const CLI::App*) { return true; });
  const std::vector<std::string> left = app.remaining(true);  // fallthrough: the parent has them
  const auto word =
      std::ranges::find_if(left, [](const std::string& each) { return !each.starts_with('-'); });
  if (known.empty() || word == left.end()) return "";
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const CLI::App* each : known) names.push_back(each->get_name());
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view nearest = nearest_name(*word, candidates);
  return "there is no subcommand \"" + printable(*word) + "\"; " +
         (nearest.empty() ? "there are " + joined_names(candidates)
                          : "did you mean " + std::string(nearest) + "?");
}

// CLI11's own words, which name the option and the value, and where to read on.
std::string usage_text(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = "kvctl";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return printable(error.what()) + "; see " + command + " --help";
}

}  // namespace

void add_filter_options(CLI::App& command, BlockFilterOptions& filter, const std::string& namespace_help) {
  command.add_option("-n,--namespace", filter.namespace_name, namespace_help);
  command.add_option("--space", filter.space, "of the namespace, only this space, see kvctl spaces")
      ->check(whole_number(1, ~0U));
}

void parse_command_line(int argc, const char* const* argv, CommandLine& line) {
  CLI::App app("kvctl: looks into a kvtier daemon and tends it");
  line.globals.socket = default_socket();
  app.add_option("--socket", line.globals.socket, "administration socket; else $KVTIER_ADMIN_SOCKET")
      ->capture_default_str();
  app.add_flag("--json", line.globals.is_json, "JSON for programs instead of text");
  app.add_option("--timeout", line.globals.timeout_s, "seconds to wait for each line of an answer")
      ->check(whole_number(1, 3600))
      ->capture_default_str();
  app.set_version_flag("--version", "kvctl " KVTIER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();  // global options may stand behind the subcommand
  app.footer(
      "Exit status: 0 ok; 1 degraded (status), hanging (stat), mistakes (config check), faults (verify, "
      "dump)\n"
      "or no store (dump); 2 no daemon, or no answer from it; 3 refused, such as no such key; 4 permission\n"
      "denied; 64 usage; 74 the output cannot be written.");
  for (const auto& add : {add_status, add_stat, add_health, add_namespaces, add_spaces, add_clients, add_ls,
                          add_tree, add_inspect, add_evict, add_flush, add_sync, add_kick, add_verify,
                          add_dump, add_plan, add_probe, add_config_check, add_version})
    add(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    line.run = nullptr;
    if (error.get_exit_code() == 0) {
      line.exit_status = app.exit(error);  // prints --help, --version
      return;
    }
    line.globals.is_json = std::any_of(argv, argv + argc, [](const char* word) {
      return std::string_view(word) == "--json";  // parsing may have ended before it
    });
    const std::string wrong = wrong_subcommand(app);
    throw Failure(kExitUsage, "usage", wrong.empty() ? usage_text(app, error) : wrong);
  }
}

}  // namespace kvtier::ctl
