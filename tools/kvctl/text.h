#pragma once
// Values of answers as people read them. Texts of clients are made printable: a terminal obeys what it is
// sent.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kvtier::ctl {

using Json = nlohmann::ordered_json;

/// A number; 0 where there is none.
std::uint64_t number(const Json& row, std::string_view field);
/// A text, control characters replaced; "" where there is none.
std::string text(const Json& row, std::string_view field);
/// "12", "1.50 GiB", "3.2 s"
std::string count(const Json& row, std::string_view field);
std::string size(const Json& row, std::string_view field);
std::string duration_ms(const Json& row, std::string_view field);
/// The first digits of a key or digest; `inspect` takes them.
std::string short_key(const Json& row, std::string_view field);

std::string printable(std::string_view text);
/// Columns on a terminal: code points of UTF-8.
std::size_t columns_of(std::string_view text);

}  // namespace kvtier::ctl
