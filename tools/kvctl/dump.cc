// kvctl dump: what the files of the NVMe tier hold. Offline, and without writing a byte.

#include <memory>

#include "tools/kvctl/command_line.h"
#include "tools/kvctl/dump_report.h"
#include "tools/kvctl/store_reader.h"
#include "tools/kvctl/whole_number.h"

namespace kvtier::ctl {
namespace {

struct DumpOptions {
  StoreReading reading;
  std::uint32_t segment = 0;
  bool has_segment = false;
  bool has_records = false;
};

void check_segment(const StorePicture& picture, const DumpView& view) {
  if (view.segment < 0) return;
  for (const PicturePath& path : picture.paths) {
    if (view.segment < static_cast<std::int64_t>(path.segments.size())) return;
  }
  throw Failure(kExitFailed, "not_found", "there is no segment " + std::to_string(view.segment));
}

int run_dump(const Globals& globals, const DumpOptions& options) {
  StoreReading reading = options.reading;
  if (options.has_segment) reading.segment = options.segment;
  const StorePicture picture = read_store(reading);
  const DumpView view{
      .segment = reading.segment, .has_records = options.has_records, .was_checked = reading.is_checked};
  check_segment(picture, view);
  (globals.is_json ? print_dump_json : print_dump)(picture, view);
  bool is_right = picture.faults.total() == 0 && picture.spaces_corrupt == 0;
  for (const PicturePath& path : picture.paths) is_right = is_right && path.unreadable == 0;
  return is_right ? kExitOk : kExitDegraded;
}

}  // namespace

void add_dump(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<DumpOptions>();
  CLI::App* command = app.add_subcommand(
      "dump", "what the files of an NVMe tier hold, read without a daemon; 0 right, 1 faults or no store");
  command->add_option("FOLDER", options->reading.folders, "of each path of one store")->required();
  command->add_flag("--records", options->has_records, "every record: key, space, sequence, offsets, sizes");
  CLI::Option* segment = command->add_option("--segment", options->segment, "only this segment of each path")
                             ->check(whole_number(0, ~0U));
  command->add_flag("--check", options->reading.is_checked, "reads and verifies headers and payloads");
  command->add_flag("--live", options->reading.is_live_allowed,
                    "also where a daemon has the files open: a picture that moves");
  command->footer(
      "Nothing is written, nor locked for longer than it takes to ask. LIVE says which copy of a block the "
      "next\n"
      "start would find. An intact file of another format version, a foreign or truncated one: status 1, "
      "with\n"
      "the code version, invalid or corrupt. A record takes 100 bytes of memory.");
  command->callback([&line, options, segment] {
    options->has_segment = segment->count() > 0;
    line.run = [&line, options] { return run_dump(line.globals, *options); };
  });
}

}  // namespace kvtier::ctl
