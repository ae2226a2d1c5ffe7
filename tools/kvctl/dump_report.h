#pragma once
// A store's picture as one JSON object, or as tables.

#include "tools/kvctl/store_picture.h"

namespace kvtier::ctl {

struct DumpView {
  std::int64_t segment = -1;  ///< only this one of each path; -1: all
  bool has_records = false;
  bool was_checked = false;
};

void print_dump_json(const StorePicture& picture, const DumpView& view);
void print_dump(const StorePicture& picture, const DumpView& view);

}  // namespace kvtier::ctl
