// kvctl inspect KEY: a chain by its two ends, as tree prints it.

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <vector>

#include "libkvclient/base/counted.h"
#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/key_argument.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

std::string checksum_text(const Json& row) {
  const std::string sum = text(row, "checksum");
  return sum.empty() ? "unsummed" : sum;
}

std::string pin_text(const Json& row) {
  return number(row, "pinned_ms") == 0 ? "none" : duration_ms(row, "pinned_ms") + " left";
}

std::string place_text(const Json& row) {
  const bool is_on_disk = row.value("on_disk", false);
  if (text(row, "state") == "cold") return "on disk only";
  return "slab " + count(row, "slab") + ", slot " + count(row, "slot") + ", generation " +
         count(row, "generation") + (is_on_disk ? "; and on disk" : "");
}

void print(const Json& row) {
  const std::string parent = text(row, "parent");
  const std::vector<std::pair<const char*, std::string>> lines = {
      {"key", text(row, "key")},
      {"parent", parent.empty() ? "none resident" : parent},
      {"namespace", text(row, "namespace") + ", space " + count(row, "space")},
      {"state", text(row, "state")},
      {"bytes", size(row, "bytes")},
      {"place", place_text(row)},
      {"tree", "depth " + count(row, "depth") + ", " + counted(number(row, "children"), "child", "children")},
      {"use", counted(number(row, "hits"), "hit") + ", idle " + duration_ms(row, "age_ms")},
      {"leases", count(row, "leases")},
      {"pin", pin_text(row)},
      {"checksum", checksum_text(row)}};
  for (const auto& [name, value] : lines) std::printf("%-10s %s\n", name, value.c_str());
  if (const std::uint64_t pid = number(row, "writer_pid"); pid != 0)
    std::printf("%-10s pid %lu\n", "writer", static_cast<unsigned long>(pid));
}

int run_inspect(const Globals& globals, const std::string& key) {
  const KeyArgument argument = parse_key_argument(key);
  AdminClient client(globals);
  std::vector<Json> blocks = find_blocks(client, argument.first);
  if (!argument.last.empty())
    std::ranges::move(find_blocks(client, argument.last), std::back_inserter(blocks));
  RowPrinter json;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (globals.is_json) {
      json.add(blocks[i]);
    } else {
      if (i > 0) std::puts("");
      print(blocks[i]);
    }
  }
  if (globals.is_json) json.finish();
  return kExitOk;
}

}  // namespace

void add_inspect(CLI::App& app, CommandLine& line) {
  auto key = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("inspect", "everything about the blocks of a key, or of the two ends of a chain");
  command->add_option("KEY", *key, kKeyHelp)->required();
  command->callback([&line, key] { line.run = [&line, key] { return run_inspect(line.globals, *key); }; });
}

}  // namespace kvtier::ctl
