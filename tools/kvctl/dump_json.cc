#include <cstdio>
#include <nlohmann/json.hpp>

#include "daemon/disk/format.h"
#include "tools/kvctl/dump_report.h"
#include "tools/kvctl/dump_words.h"
#include "tools/kvctl/row_printer.h"
#include "tools/kvctl/store_reader.h"

namespace kvtier::ctl {
namespace {

using Json = nlohmann::ordered_json;

Json faults_json(const FaultCounts& faults) {
  Json json = Json::object();
  for (std::uint8_t i = 1; i < kDiskFaultCount; ++i) {
    if (faults.counts[i] != 0)
      json[std::string(disk_fault_name(static_cast<DiskFault>(i)))] = faults.counts[i];
  }
  return json;
}

Json segment_json(const PictureSegment& segment) {
  return {{"segment", segment.number},
          {"state", segment_state_name(segment)},
          {"generation", segment.plan.identity.generation},
          {"epoch", segment.plan.identity.epoch},
          {"bytes_used", segment.used_bytes},
          {"blocks", segment.blocks},
          {"marks", segment.marks},
          {"blocks_live", segment.live_blocks},
          {"bytes_live", segment.live_bytes},
          {"faults", faults_json(segment.faults)}};
}

Json path_json(const PicturePath& path, const DumpView& view) {
  const Superblock& block = path.superblock.superblock;
  Json copies = Json::array();
  for (const DiskFault fault : path.superblock.faults) copies.push_back(copy_state(fault));
  Json segments = Json::array();
  for (const PictureSegment& segment : path.segments) {
    if (view.segment < 0 || view.segment == segment.number) segments.push_back(segment_json(segment));
  }
  return {{"dir", path.folder},
          {"live", path.is_live},
          {"bytes", path.file_bytes},
          {"store", store_text(block.store)},
          {"path", block.path},
          {"path_count", block.path_count},
          {"version", block.prefix.version},
          {"revision", block.revision},
          {"alignment", block.alignment},
          {"segment_bytes", block.segment_bytes},
          {"segment_count", block.segment_count},
          {"created_ns", block.created_ns},
          {"epoch", block.epoch},
          {"closed_epoch", block.closed_epoch},
          {"home_fsid", block.home_fsid},
          {"home_inode", block.home_inode},
          {"given_up", block.given_up},
          {"home_birth_ns", block.home_birth_ns},
          {"superblock_copies", std::move(copies)},
          {"reads_failed", path.unreadable},
          {"segments", std::move(segments)}};
}

Json scope_json(const PictureScope& scope) {
  return {{"namespace", scope.namespace_name},
          {"model", scope.model},
          {"namespace_digest", to_hex(scope.digests.tenant)},
          {"space_digest", to_hex(scope.digests.space)},
          {"blocks", scope.blocks},
          {"bytes", scope.bytes},
          {"blocks_live", scope.live_blocks},
          {"bytes_live", scope.live_bytes},
          {"marks", scope.marks}};
}

Json record_json(const StorePicture& picture, const PictureRecord& record, const DumpView& view) {
  Json json = {{"kind", record_kind_name(record.kind)},
               {"key", to_hex(record.key)},
               {"space", record.scope},
               {"dir", picture.paths[record.path].folder},
               {"segment", record.segment},
               {"sequence", record.sequence},
               {"born", record.born},
               {"header_offset", std::uint64_t{record.header_sector} * kSectorBytes},
               {"header_bytes", record.header_bytes},
               {"payload_offset", std::uint64_t{record.payload_sector} * kSectorBytes},
               {"payload_bytes", record.payload_bytes},
               {"block_bytes", record.block_bytes},
               {"live", record.is_live}};
  if (view.was_checked) json["fault"] = copy_state(record.fault);
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// Records are written as they are made: a million of them would not fit into one value.
void print_dump_json(const StorePicture& picture, const DumpView& view) {
  Json paths = Json::array();
  for (const PicturePath& path : picture.paths) paths.push_back(path_json(path, view));
  Json spaces = Json::array();
  for (const PictureScope& scope : picture.scopes) spaces.push_back(scope_json(scope));
  const Json head = {{"paths", std::move(paths)},
                     {"spaces", std::move(spaces)},
                     {"spaces_corrupt", picture.spaces_corrupt},
                     {"checked", view.was_checked},
                     {"payloads_unchecked", picture.unchecked},
                     {"faults", faults_json(picture.faults)}};
  if (!view.has_records) return print_json(head);
  std::string text = dumped(head);
  text.pop_back();
  std::fputs((text + ",\"records\":").c_str(), stdout);
  RowPrinter rows;
  for (const PictureRecord& record : picture.records) {
    if (view.segment < 0 || view.segment == record.segment) rows.add(record_json(picture, record, view));
  }
  rows.finish();
  std::fputs("}\n", stdout);
}

}  // namespace kvtier::ctl
