#include "tests/unit/disk/format_document.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace kvtier::test {
namespace {

std::string trim(const std::string& cell) {
  const std::size_t begin = cell.find_first_not_of(" `");
  return begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(" `") - begin + 1);
}

template <class Map>
const typename Map::mapped_type& find_or_empty(const Map& map, const std::string& key) {
  static const typename Map::mapped_type none;
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

}  // namespace

FormatDocument::FormatDocument() {
  std::ifstream file(std::string(KVTIER_SOURCE_DIR) + "/daemon/disk/FORMAT.md");
  for (std::string line; std::getline(file, line);) read_line(line);
}

const std::vector<TableRow>& FormatDocument::table(const std::string& heading) const {
  return find_or_empty(tables_, heading);
}

const std::vector<std::byte>& FormatDocument::dump(const std::string& name) const {
  return find_or_empty(dumps_, name);
}

void FormatDocument::read_line(const std::string& line) {
  if (line.starts_with("```hex ")) {
    dump_ = line.substr(7);
  } else if (line.starts_with("```")) {
    dump_.clear();
  } else if (!dump_.empty()) {
    read_dump(line);
  } else if (line.starts_with("#")) {
    heading_ = trim(line.substr(line.find(' ')));
  } else if (line.starts_with("|")) {
    read_row(line);
  }
}

void FormatDocument::read_row(const std::string& line) {
  TableRow row;
  std::istringstream cells(line.substr(1));
  for (std::string cell; std::getline(cells, cell, '|');) row.push_back(trim(cell));
  std::vector<TableRow>& rows = tables_[heading_];
  if (row.front().starts_with("---")) {
    rows.clear();  // what came before is the table's head
  } else {
    rows.push_back(std::move(row));
  }
}

void FormatDocument::read_dump(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;  // the offset
  while (words >> word) dumps_[dump_].push_back(static_cast<std::byte>(std::stoul(word, nullptr, 16)));
}

std::string format_dump(const std::vector<std::byte>& bytes) {
  std::size_t size = bytes.size();
  while (size > 0 && bytes[size - 1] == std::byte{0}) --size;
  std::string text;
  std::array<char, 24> word{};
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 32 == 0) {
      std::snprintf(word.data(), word.size(), "%s%04zx ", i == 0 ? "" : "\n", i);
      text += word.data();
    }
    std::snprintf(word.data(), word.size(), " %02x", static_cast<unsigned>(bytes[i]));
    text += word.data();
  }
  return text;
}

}  // namespace kvtier::test
