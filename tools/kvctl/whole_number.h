#pragma once
// Numbers of the command line are what they look like, or are refused by name.

#include <cstdint>

#include "tools/kvctl/command_line.h"

namespace kvtier::ctl {

/// For CLI::Option::check: decimal digits, min to max. CLI11 alone reads -1 as 2^64 - 1 and 010 as 8.
CLI::Validator whole_number(std::uint64_t min, std::uint64_t max = ~std::uint64_t{0});

}  // namespace kvtier::ctl
