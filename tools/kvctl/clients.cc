// kvctl clients

#include <cstdio>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

// All that is left of it are pins: who it was is known, but nothing of it goes on.
bool is_closed(const Json& row) {
  return text(row, "state") == "closed";
}

std::string access(const Json& row) {
  if (is_closed(row)) return "-";
  return row.value("read_only", false) ? "read" : "read, write";
}

int run_clients(const Globals& globals) {
  AdminClient client(globals);
  RowPrinter json;
  Table table({{"ID", true},
               {"PID", true},
               {"UID", true},
               {"NAMESPACE"},
               {"NAME"},
               {"VERSION"},
               {"STATE"},
               {"ACCESS"},
               {"LEASED", true},
               {"WRITING", true},
               {"STOCK", true},
               {"SLABS", true},
               {"PINNED", true},
               {"CONNECTED", true}});
  client.rows({{"verb", "clients"}}, [&](const Json& row) {
    if (globals.is_json) {
      json.add(row);
    } else {
      table.add(
          {count(row, "id"), count(row, "pid"), count(row, "uid"), text(row, "namespace"), text(row, "name"),
           text(row, "version"), text(row, "state"), access(row),
           count(row, "leased_blocks") + " (" + size(row, "leased_bytes") + ")", count(row, "writing_blocks"),
           count(row, "stocked_blocks") + " (" + size(row, "stocked_bytes") + ")", count(row, "slabs_lent"),
           count(row, "pinned_blocks") + " (" + size(row, "pinned_bytes") + ")",
           is_closed(row) ? "-" : duration_ms(row, "connected_ms")});
    }
    return true;
  });
  if (globals.is_json) {
    json.finish();
  } else {
    std::fputs(table.is_empty() ? "no clients\n" : table.text().c_str(), stdout);
  }
  return kExitOk;
}

}  // namespace

void add_clients(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("clients", "who is connected, and what each holds");
  command->callback([&line] { line.run = [&line] { return run_clients(line.globals); }; });
}

}  // namespace kvtier::ctl
