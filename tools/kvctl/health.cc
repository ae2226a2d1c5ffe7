// kvctl health

#include <algorithm>
#include <cstdio>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"

namespace kvtier::ctl {
namespace {

constexpr unsigned kHealthTimeoutS = 2;  // the daemon itself gives its working thread 1 s

int run_health(Globals globals) {
  globals.timeout_s = std::min(globals.timeout_s, kHealthTimeoutS);
  AdminClient client(globals);
  const Json answer = client.request({{"verb", "health"}});
  if (globals.is_json) {
    print_answer(answer);
  } else {
    std::puts("the daemon answers");
  }
  return kExitOk;
}

}  // namespace

void add_health(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("health", "an echo through the daemon's working thread; fails after 2 s");
  command->callback([&line] { line.run = [&line] { return run_health(line.globals); }; });
}

}  // namespace kvtier::ctl
