#include "tools/kvctl/dump_report.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "daemon/disk/format.h"
#include "libkvclient/base/counted.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/dump_words.h"
#include "tools/kvctl/store_reader.h"
#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

void print_line(const char* name, const std::string& value) {
  std::printf("%-11s %s\n", name, value.c_str());
}

std::string faults_text(const FaultCounts& faults, const char* none) {
  std::string text;
  for (std::uint8_t i = 1; i < kDiskFaultCount; ++i) {
    if (faults.counts[i] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::string(disk_fault_name(static_cast<DiskFault>(i))) + " " +
            std::to_string(faults.counts[i]);
  }
  return text.empty() ? none : text;
}

std::string copies_text(const SuperblockChoice& choice) {
  std::string text;
  for (const DiskFault fault : choice.faults)
    text += (text.empty() ? "" : " ") + std::string(copy_state(fault));
  return text;
}

void print_superblock(const PicturePath& path) {
  const Superblock& block = path.superblock.superblock;
  const bool is_clean = block.epoch == block.closed_epoch;
  print_line("path", printable(path.folder) + ", " + std::to_string(block.path) + " of " +
                         counted(block.path_count, "path") + " of store " + store_text(block.store));
  if (path.is_live)
    print_line("",
               "a daemon has it open and writes: the picture moves while it is taken, and faults may be "
               "records on their way");
  print_line("superblock", "copies " + copies_text(path.superblock) + "; revision " +
                               std::to_string(block.revision) + ", format version " +
                               std::to_string(block.prefix.version));
  print_line("epoch",
             std::to_string(block.epoch) + (is_clean ? ", ended cleanly"
                                                     : ", not ended cleanly: the last clean end was of " +
                                                           std::to_string(block.closed_epoch)));
  print_line("file", format_size(path.file_bytes) + ", " + counted(block.segment_count, "segment") + " of " +
                         format_size(block.segment_bytes) + ", alignment " + std::to_string(block.alignment));
  if (path.unreadable != 0)
    print_line("unreadable", counted(path.unreadable, "read") + " failed: " + std::strerror(path.error));
}

std::uint64_t count_of(const PicturePath& path, std::string_view state) {
  return static_cast<std::uint64_t>(std::ranges::count(path.segments, state, segment_state_name));
}

void print_segments(const PicturePath& path, const DumpView& view) {
  Table table({{"SEGMENT", true},
               {"STATE"},
               {"GENERATION", true},
               {"EPOCH", true},
               {"USED", true},
               {"BLOCKS", true},
               {"MARKS", true},
               {"LIVE", true},
               {"LIVE BYTES", true},
               {"FAULTS"}});
  for (const PictureSegment& each : path.segments) {
    const std::string state(segment_state_name(each));
    if (view.segment < 0 ? state == "free" : view.segment != each.number) continue;
    table.add({std::to_string(each.number), state, std::to_string(each.plan.identity.generation),
               std::to_string(each.plan.identity.epoch), format_size(each.used_bytes),
               std::to_string(each.blocks), std::to_string(each.marks), std::to_string(each.live_blocks),
               format_size(each.live_bytes), faults_text(each.faults, "-")});
  }
  if (!table.is_empty()) std::printf("\n%s", table.text().c_str());
  if (view.segment < 0) std::printf("%s free\n", counted(count_of(path, "free"), "segment").c_str());
  if (count_of(path, "cut") != 0)
    std::printf("the file is truncated: it ends before %s that it once had\n",
                counted(count_of(path, "cut"), "segment").c_str());
}

std::string name_or(const std::string& name, const Digest& digest) {
  if (!name.empty()) return printable(name);
  return digest.is_zero() ? "(all)" : "(" + to_hex(digest).substr(0, 12) + ")";
}

void print_scopes(const StorePicture& picture) {
  Table table({{"NAMESPACE"},
               {"MODEL"},
               {"SPACE"},
               {"BLOCKS", true},
               {"BYTES", true},
               {"LIVE", true},
               {"LIVE BYTES", true},
               {"MARKS", true}});
  for (const PictureScope& scope : picture.scopes) {
    table.add({name_or(scope.namespace_name, scope.digests.tenant), name_or(scope.model, scope.digests.space),
               to_hex(scope.digests.space).substr(0, 12), std::to_string(scope.blocks),
               format_size(scope.bytes), std::to_string(scope.live_blocks), format_size(scope.live_bytes),
               std::to_string(scope.marks)});
  }
  if (!table.is_empty()) std::printf("\n%s", table.text().c_str());
}

Table record_table(bool has_fault) {
  std::vector<Table::Column> columns = {
      {"KIND"},         {"KEY"},           {"SPACE"},        {"SEGMENT", true}, {"SEQUENCE", true},
      {"HEADER", true}, {"PAYLOAD", true}, {"STORED", true}, {"BLOCK", true},   {"LIVE"}};
  if (has_fault) columns.push_back({"CHECK"});
  return Table(std::move(columns));
}

void print_records(const StorePicture& picture, const DumpView& view) {
  Table table = record_table(view.was_checked);
  for (const PictureRecord& each : picture.records) {
    if (view.segment >= 0 && view.segment != each.segment) continue;
    std::vector<std::string> cells = {std::string(record_kind_name(each.kind)),
                                      to_hex(each.key),
                                      to_hex(picture.scopes[each.scope].digests.space).substr(0, 12),
                                      std::to_string(picture.paths[each.path].superblock.superblock.path) +
                                          "/" + std::to_string(each.segment),
                                      std::to_string(each.sequence),
                                      std::to_string(std::uint64_t{each.header_sector} * kSectorBytes),
                                      std::to_string(std::uint64_t{each.payload_sector} * kSectorBytes),
                                      std::to_string(each.payload_bytes),
                                      std::to_string(each.block_bytes),
                                      each.is_live ? "live" : "dead"};
    if (view.was_checked) cells.emplace_back(copy_state(each.fault));
    table.add(std::move(cells));
  }
  if (!table.is_empty()) std::printf("\n%s", table.text().c_str());
}

}  // namespace

void print_dump(const StorePicture& picture, const DumpView& view) {
  for (const PicturePath& path : picture.paths) {
    if (&path != &picture.paths.front()) std::puts("");
    print_superblock(path);
    print_segments(path, view);
  }
  const Superblock& block = picture.paths.front().superblock.superblock;
  if (picture.paths.size() < block.path_count)
    std::printf("\n%zu of %u paths of the store were given: what is live here may be dead by the others\n",
                picture.paths.size(), block.path_count);
  print_scopes(picture);
  if (view.has_records) print_records(picture, view);
  std::printf("\nfaults: %s%s\n", faults_text(picture.faults, "none").c_str(),
              view.was_checked ? "" : " (payloads were not read; --check does)");
  if (picture.spaces_corrupt != 0)
    std::printf("damaged records of the files of spaces: %s\n",
                std::to_string(picture.spaces_corrupt).c_str());
  if (picture.unchecked != 0)
    std::printf("too large to be checked: %s\n", counted(picture.unchecked, "payload").c_str());
}

}  // namespace kvtier::ctl
