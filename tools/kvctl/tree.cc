// kvctl tree

#include <cstdio>
#include <memory>
#include <vector>

#include "libkvclient/base/counted.h"
#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/tree_drawing.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

struct TreeOptions {
  BlockFilterOptions filter;
  std::uint64_t limit = 1000;  ///< nodes; 0: all
};

std::string describe(const Json& node) {
  const std::string first = text(node, "first").substr(0, 8);
  const std::string last = text(node, "last").substr(0, 8);
  std::string out = first == last ? first : first + ".." + last;
  out += "  " + counted(number(node, "blocks"), "block") + ", depth " + count(node, "depth") + ", " +
         counted(number(node, "hits"), "hit") + ", idle " + duration_ms(node, "age_ms");
  if (const std::uint64_t branches = number(node, "branches"); branches > 0)
    out += ", " + counted(branches, "branch", "branches");
  if (const std::uint64_t pinned = number(node, "pinned"); pinned > 0)
    out += ", " + std::to_string(pinned) + " pinned";
  return out;
}

std::string heading(const Json& space) {
  std::string model = text(space, "model");
  if (const std::string adapter = text(space, "adapter"); !adapter.empty()) model += " + " + adapter;
  return "namespace " + text(space, "namespace") + ", space " + count(space, "space") + ": " + model + ", " +
         count(space, "block_tokens") + " tokens and " + size(space, "block_bytes") + " a block";
}

// What was named and is not there is refused by the daemon, as in ls: not taken for an empty tree.
void check_there(AdminClient& client, const BlockFilterOptions& filter) {
  if (filter.namespace_name.empty() && filter.space == 0) return;
  Json request = filtered("tree", filter);
  request["limit"] = 1;
  client.request(request);
}

// Each space has trees of its own.
std::vector<Json> spaces_of(AdminClient& client, const TreeOptions& options) {
  std::vector<Json> spaces;
  client.rows({{"verb", "spaces"}}, [&](const Json& row) {
    const bool is_meant = (options.filter.namespace_name.empty() ||
                           row.value("namespace", "") == options.filter.namespace_name) &&
                          (options.filter.space == 0 || number(row, "space") == options.filter.space);
    if (is_meant) spaces.push_back(row);
    return true;
  });
  return spaces;
}

class TreePrinter {
 public:
  TreePrinter(const Globals& globals, const TreeOptions& options) : globals_(globals), options_(options) {}

  void add_space(AdminClient& client, const Json& space) {
    if (!globals_.is_json) std::puts(heading(space).c_str());
    TreeDrawing drawing;
    const BlockFilterOptions own = {space.value("namespace", ""),
                                    static_cast<std::uint32_t>(number(space, "space"))};
    client.rows(filtered("tree", own), [&](const Json& node) {
      if (options_.limit != 0 && shown_ == options_.limit) return !(is_cut_ = true);
      ++shown_;
      add_node(space, node, drawing);
      return true;
    });
  }
  void finish() {
    if (globals_.is_json) json_.finish();
    if (!globals_.is_json && shown_ == 0) std::puts("no blocks");
    if (is_cut_) std::fprintf(stderr, "kvctl: the tree goes on; --limit 0 shows all of it\n");
  }

 private:
  void add_node(const Json& space, Json node, TreeDrawing& drawing) {
    if (globals_.is_json) {
      node["namespace"] = space["namespace"];
      node["space"] = space["space"];
      return json_.add(node);
    }
    const std::string strokes = drawing.strokes(static_cast<std::uint32_t>(number(node, "level")),
                                                static_cast<std::uint32_t>(number(node, "branches")));
    std::puts((strokes + describe(node)).c_str());
  }

  const Globals& globals_;
  const TreeOptions& options_;
  RowPrinter json_;
  std::uint64_t shown_ = 0;
  bool is_cut_ = false;
};

int run_tree(const Globals& globals, const TreeOptions& options) {
  AdminClient client(globals);
  check_there(client, options.filter);
  TreePrinter printer(globals, options);
  for (const Json& space : spaces_of(client, options)) printer.add_space(client, space);
  printer.finish();
  return kExitOk;
}

}  // namespace

void add_tree(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<TreeOptions>();
  CLI::App* command = app.add_subcommand("tree", "prefixes and what branches from them; chains are one line");
  add_filter_options(*command, options->filter, "only of this namespace");
  command->add_option("--limit", options->limit, "at most so many lines; 0: all")
      ->check(whole_number(0))
      ->capture_default_str();
  command->callback(
      [&line, options] { line.run = [&line, options] { return run_tree(line.globals, *options); }; });
}

}  // namespace kvtier::ctl
