#pragma once
// From folders to a picture of their store. Throws Failure where a folder holds none that this program can read.

#include <string>
#include <vector>

#include "tools/kvctl/store_picture.h"

namespace kvtier::ctl {

struct StoreReading {
  std::vector<std::string> folders;
  bool is_live_allowed = false;  ///< read what a daemon has open, too
  bool is_checked = false;       ///< headers and payloads are verified
  std::int64_t segment = -1;     ///< only this one's are; -1: all
};

StorePicture read_store(const StoreReading& reading);

/// "free", "sealed", "unsealed" (open, or left open by a crash), "dropped" (damaged beyond use), "other_version", "cut".
std::string_view segment_state_name(const PictureSegment& segment);

}  // namespace kvtier::ctl
