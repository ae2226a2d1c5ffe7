#pragma once
// Names that people misspell: the nearest valid one by edit distance.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvtier {

/// Inserted, removed, replaced or swapped neighbouring characters (optimal string alignment).
std::size_t edit_distance(std::string_view left, std::string_view right);

/// The candidate with the least distance, or "" when none is near enough to be meant.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

std::vector<std::string_view> split_names(std::string_view text, char separator);
/// "off, try, require"
std::string joined_names(std::span<const std::string_view> names);

}  // namespace kvtier
