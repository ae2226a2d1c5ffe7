#pragma once
// Why io_uring is not to be had, or not all of it, in words that say what to change.

#include <cstdint>
#include <string>

#include "libkvclient/base/status.h"

namespace kvtier {

/// The ring as a whole: kDenied, kUnsupported or kNoSpace.
Status uring_refusal(std::string_view call, int error_number);
/// A ring that opened with fewer places than wished for.
std::string uring_depth_reason(std::uint32_t wished, std::uint32_t depth, int error_number);
/// One region that could not be registered.
std::string uring_region_reason(std::uint64_t bytes, int error_number);

}  // namespace kvtier
