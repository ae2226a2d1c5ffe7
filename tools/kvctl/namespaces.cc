// kvctl namespaces

#include <cstdio>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

std::string limit_text(const Json& row) {
  return number(row, "bytes_max") == 0 ? "none" : size(row, "bytes_max");
}

int run_namespaces(const Globals& globals) {
  AdminClient client(globals);
  RowPrinter json;
  Table table({{"NAMESPACE"},
               {"BLOCKS", true},
               {"USED", true},
               {"MEMORY", true},
               {"LIMIT", true},
               {"PINNED", true},
               {"SLABS", true},
               {"DIRECTORY", true},
               {"CLIENTS", true}});
  client.rows({{"verb", "namespaces"}}, [&](const Json& row) {
    if (globals.is_json) {
      json.add(row);
    } else {
      table.add({text(row, "namespace"), count(row, "blocks"), size(row, "used_bytes"), size(row, "bytes"),
                 limit_text(row), size(row, "pinned_bytes"), count(row, "slabs"),
                 count(row, "directory_entries") + "/" + count(row, "directory_capacity"),
                 count(row, "clients")});
    }
    return true;
  });
  if (globals.is_json) {
    json.finish();
  } else {
    std::fputs(table.text().c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace

void add_namespaces(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("namespaces", "tenants: blocks, memory, limits");
  command->callback([&line] { line.run = [&line] { return run_namespaces(line.globals); }; });
}

}  // namespace kvtier::ctl
