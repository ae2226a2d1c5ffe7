// kvctl kick ID

#include <cstdio>
#include <memory>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"

namespace kvtier::ctl {
namespace {

int run_kick(const Globals& globals, std::uint64_t id) {
  AdminClient client(globals);
  client.request({{"verb", "kick"}, {"id", id}});
  if (globals.is_json) {
    print_json({{"kicked", id}});
  } else {
    std::puts("session ended; its memory comes back when its process exits");
  }
  return kExitOk;
}

}  // namespace

void add_kick(CLI::App& app, CommandLine& line) {
  auto id = std::make_shared<std::uint64_t>(0);
  CLI::App* command = app.add_subcommand("kick", "ends the sessions of a client");
  command->add_option("ID", *id, "session or process, see kvctl clients")
      ->required()
      ->check(CLI::PositiveNumber);
  command->callback([&line, id] { line.run = [&line, id] { return run_kick(line.globals, *id); }; });
}

}  // namespace kvtier::ctl
