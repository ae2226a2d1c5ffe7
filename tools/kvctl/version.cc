// kvctl version

#include <cstdio>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

// Of both sides; without a daemon, of this one, which is no failure.
int run_version(const Globals& globals) {
  Json both = {{"kvctl", KVTIER_VERSION}, {"kvtierd", nullptr}};
  std::string why;
  try {
    AdminClient client(globals);
    both["kvtierd"] = client.request({{"verb", "version"}})["version"];
  } catch (const Failure& failure) {
    why = failure.what();
  }
  if (why.empty() && both["kvtierd"] != KVTIER_VERSION)
    std::fputs("kvctl: kvtierd is of another version; use the kvctl that came with it\n", stderr);
  if (globals.is_json) {
    print_json(both);
  } else {
    std::printf("kvctl   %s\nkvtierd %s\n", KVTIER_VERSION,
                why.empty() ? text(both, "kvtierd").c_str() : ("unknown: " + why).c_str());
  }
  return kExitOk;
}

}  // namespace

void add_version(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("version", "of this program and of the daemon");
  command->callback([&line] { line.run = [&line] { return run_version(line.globals); }; });
}

}  // namespace kvtier::ctl
