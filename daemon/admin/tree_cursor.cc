#include "daemon/admin/tree_cursor.h"

#include <array>
#include <charconv>

namespace kvtier {
namespace {

constexpr std::size_t kNumbers = 7;
constexpr std::array<std::uint64_t, kNumbers> kMax = {~0U, ~0U, ~0U, kGenerationMax, ~0U, ~0U, 1};

}  // namespace

std::string tree_cursor_to_text(const TreeCursor& cursor) {
  const std::array<std::uint64_t, kNumbers> numbers = {
      cursor.record, index_of(cursor.at.id), cursor.at.slot.bits, cursor.at.generation,
      cursor.depth,  cursor.level,           cursor.is_climbing};
  std::string text;
  for (const std::uint64_t number : numbers) text += (text.empty() ? "" : "-") + std::to_string(number);
  return text;
}

std::optional<TreeCursor> tree_cursor_from_text(std::string_view text) {
  std::array<std::uint64_t, kNumbers> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < kNumbers; ++i) {
    if (i > 0 && (at == end || *at++ != '-')) return std::nullopt;
    const auto [after, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] > kMax[i]) return std::nullopt;
    at = after;
  }
  if (at != end) return std::nullopt;
  const auto narrow = [](std::uint64_t number) { return static_cast<std::uint32_t>(number); };
  return TreeCursor{.record = numbers[0],
                    .at = {BlockId{narrow(numbers[1])}, SlotRef{narrow(numbers[2])}, numbers[3]},
                    .depth = narrow(numbers[4]),
                    .level = narrow(numbers[5]),
                    .is_climbing = numbers[6] == 1};
}

}  // namespace kvtier
