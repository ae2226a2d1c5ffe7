// kvctl kick ID | --pid PID | --session ID

#include <sys/types.h>

#include <cstdio>
#include <limits>
#include <memory>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

struct KickOptions {
  std::uint64_t id = 0;  ///< session or process
  std::uint64_t pid = 0;
  std::uint64_t session = 0;
};

int run_kick(const Globals& globals, const KickOptions& options) {
  const int given = (options.id != 0) + (options.pid != 0) + (options.session != 0);
  if (given != 1)
    throw Failure(kExitUsage, "usage", "kick needs an ID, or --pid, or --session, and only one");
  const char* field = options.id != 0 ? "id" : options.pid != 0 ? "pid" : "session";
  const std::uint64_t number = options.id + options.pid + options.session;
  AdminClient client(globals);
  client.request({{"verb", "kick"}, {field, number}});
  if (globals.is_json) {
    print_json({{"kicked", number}});
  } else {
    std::puts(
        "session ended; a process that reconnects goes on with what it leases, another gives it back at its "
        "exit");
  }
  return kExitOk;
}

}  // namespace

void add_kick(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<KickOptions>();
  CLI::App* command = app.add_subcommand("kick", "ends the sessions of a client");
  command->add_option("ID", options->id, "session or process, see kvctl clients; refused if it may be either")
      ->check(whole_number(1));
  command->add_option("--pid", options->pid, "all sessions of this process")
      ->check(whole_number(1, std::numeric_limits<pid_t>::max()));
  command->add_option("--session", options->session, "this session only")->check(whole_number(1));
  command->callback(
      [&line, options] { line.run = [&line, options] { return run_kick(line.globals, *options); }; });
}

}  // namespace kvtier::ctl
