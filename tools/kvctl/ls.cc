// kvctl ls

#include <cstdio>
#include <memory>

#include "tools/kvctl/admin_client.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint32_t kPageRows = 500;

struct LsOptions {
  BlockFilterOptions filter;
  std::string state;
  bool is_leased = false;
  bool is_pinned = false;
  std::uint64_t limit = 1000;  ///< 0: all
};

std::string pin_text(const Json& row) {
  return number(row, "pinned_ms") == 0 ? "-" : duration_ms(row, "pinned_ms");
}

bool matches(const LsOptions& options, const Json& row) {
  if (!options.state.empty() && text(row, "state") != options.state) return false;
  if (options.is_pinned && number(row, "pinned_ms") == 0) return false;
  return !options.is_leased || number(row, "leases") > 0;
}

// A page is printed as it comes: a table of a million rows has no business in memory.
class LsPrinter {
 public:
  explicit LsPrinter(bool is_json) : is_json_(is_json) {}

  void add(const Json& row) {
    if (is_json_) return json_.add(row);
    table_.add({short_key(row, "key"), text(row, "namespace"), count(row, "space"), text(row, "state"),
                size(row, "bytes"), count(row, "depth"), count(row, "children"), count(row, "hits"),
                duration_ms(row, "age_ms"), count(row, "leases"), pin_text(row)});
    if (++rows_ % kPageRows == 0) flush();
  }
  void finish() {
    if (is_json_) return json_.finish();
    if (rows_ == 0 || !table_.is_empty()) flush();
  }

 private:
  static Table empty_table() {
    return Table({{"KEY"},
                  {"NAMESPACE"},
                  {"SPACE", true},
                  {"STATE"},
                  {"BYTES", true},
                  {"DEPTH", true},
                  {"CHILDREN", true},
                  {"HITS", true},
                  {"IDLE", true},
                  {"LEASES", true},
                  {"PINNED FOR", true}});
  }
  void flush() {
    std::fputs(table_.text().c_str(), stdout);
    std::destroy_at(&table_);
    std::construct_at(&table_, empty_table());
  }

  const bool is_json_;
  RowPrinter json_;
  Table table_ = empty_table();
  std::uint64_t rows_ = 0;
};

int run_ls(const Globals& globals, const LsOptions& options) {
  AdminClient client(globals);
  Json request = filtered("ls", options.filter);
  request["limit"] = kPageRows;
  LsPrinter printer(globals.is_json);
  std::uint64_t shown = 0;
  bool is_cut = false;
  client.rows(std::move(request), [&](const Json& row) {
    if (!matches(options, row)) return true;
    is_cut = options.limit != 0 && shown == options.limit;
    if (is_cut) return false;
    printer.add(row);
    ++shown;
    return true;
  });
  printer.finish();
  if (is_cut) std::fprintf(stderr, "kvctl: there are more blocks; --limit 0 lists all\n");
  return kExitOk;
}

}  // namespace

void add_ls(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<LsOptions>();
  CLI::App* command = app.add_subcommand("ls", "blocks, in no order that means anything");
  add_filter_options(*command, options->filter, "only of this namespace");
  command
      ->add_option("--state", options->state,
                   "only in this state; cold: on disk only, restoring: on its way from there")
      ->check(CLI::IsMember({"ready", "writing", "draining", "quarantined", "cold", "restoring"}));
  command->add_flag("--leased", options->is_leased, "only those that somebody leases now");
  command->add_flag("--pinned", options->is_pinned, "only those that are pinned");
  command->add_option("--limit", options->limit, "at most so many; 0: all")
      ->check(whole_number(0))
      ->capture_default_str();
  command->callback(
      [&line, options] { line.run = [&line, options] { return run_ls(line.globals, *options); }; });
}

}  // namespace kvtier::ctl
