// kvctl config check [FILE]

#include <cstdio>
#include <memory>

#include "daemon/config/describe.h"
#include "daemon/config/load_config.h"
#include "tools/kvctl/command_line.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

Json json_of(const std::vector<Complaint>& complaints) {
  Json list = Json::array();
  for (const Complaint& complaint : complaints) {
    list.push_back({{"where", complaint.where},
                    {"line", complaint.line},
                    {"path", complaint.path},
                    {"what", complaint.what},
                    {"fix", complaint.fix}});
  }
  return list;
}

Json json_of(const Config& config) {
  Json list = Json::array();
  for (const ConfigRow& row : describe(config)) {
    list.push_back({{"path", row.path},
                    {"value", row.value},
                    {"unit", row.unit},
                    {"source", row.source},
                    {"reload", row.reload},
                    {"effect", row.effect}});
  }
  return list;
}

void print(const ConfigLoad& load) {
  for (const Complaint& complaint : load.errors)
    std::fprintf(stderr, "error: %s\n", printable(to_string(complaint)).c_str());
  for (const Complaint& complaint : load.warnings)
    std::fprintf(stderr, "warning: %s\n", printable(to_string(complaint)).c_str());
  if (!load.is_ok()) return;
  Table table({{"SETTING"}, {"VALUE"}, {"SOURCE"}, {"RELOAD"}, {"EFFECT"}});
  for (const ConfigRow& row : describe(*load.config)) {
    table.add({row.path, printable(row.value) + (row.unit.empty() ? "" : " " + row.unit),
               printable(row.source), row.reload, row.effect});
  }
  std::fputs(table.text().c_str(), stdout);
}

int run_config_check(const Globals& globals, const ConfigSources& options) {
  ConfigSources sources = options;
  sources.environment = process_environment();
  const ConfigLoad load = load_config(sources, SystemIdentities());
  if (globals.is_json) {
    print_json({{"ok", load.is_ok()},
                {"errors", json_of(load.errors)},
                {"warnings", json_of(load.warnings)},
                {"config", load.is_ok() ? json_of(*load.config) : Json::array()}});
  } else {
    print(load);
  }
  return load.is_ok() ? kExitOk : kExitDegraded;
}

}  // namespace

void add_config_check(CLI::App& app, CommandLine& line) {
  auto sources = std::make_shared<ConfigSources>();
  CLI::App* config = app.add_subcommand("config", "the daemon's configuration");
  config->require_subcommand(1);
  CLI::App* check = config->add_subcommand("check", "finds every mistake, and shows what would be in force");
  check->add_option("FILE", sources->file, "YAML file; without it the built-in defaults and the environment");
  check->add_option("-s,--set", sources->sets, "path=value, as of kvtierd");
  check->callback(
      [&line, sources] { line.run = [&line, sources] { return run_config_check(line.globals, *sources); }; });
}

}  // namespace kvtier::ctl
