// kvctl spaces

#include <cstdio>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

bool is_invalidated(const Json& row) {
  return row.value("invalidated", false);
}

int run_spaces(const Globals& globals) {
  AdminClient client(globals);
  RowPrinter json;
  Table table({{"NAMESPACE"},
               {"SPACE", true},
               {"MODEL"},
               {"REVISION"},
               {"ADAPTER"},
               {"TOKENS", true},
               {"BLOCK", true},
               {"SLOT", true},
               {"BLOCKS", true},
               {"DIGEST"},
               {"STATE"}});
  client.rows({{"verb", "spaces"}}, [&](const Json& row) {
    if (globals.is_json) {
      json.add(row);
    } else {
      table.add({text(row, "namespace"), count(row, "space"), text(row, "model"), text(row, "revision"),
                 text(row, "adapter"), count(row, "block_tokens"), size(row, "block_bytes"),
                 size(row, "slot_bytes"), count(row, "blocks"), short_key(row, "digest"),
                 is_invalidated(row) ? "invalidated" : "in use"});
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

void add_spaces(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("spaces", "what the blocks mean: model, revision, block size");
  command->callback([&line] { line.run = [&line] { return run_spaces(line.globals); }; });
}

}  // namespace kvtier::ctl
