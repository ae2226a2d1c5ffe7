#pragma once
// FORMAT.md as data: its tables and its hexadecimal dumps.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace kvtier::test {

using TableRow = std::vector<std::string>;

class FormatDocument {
 public:
  FormatDocument();

  /// The rows of the table below a heading, without its first two lines; cells without spaces around and backquotes.
  [[nodiscard]] const std::vector<TableRow>& table(const std::string& heading) const;
  /// The bytes of the block fenced as ```hex NAME.
  [[nodiscard]] const std::vector<std::byte>& dump(const std::string& name) const;

 private:
  void read_line(const std::string& line);
  void read_row(const std::string& line);
  void read_dump(const std::string& line);

  std::map<std::string, std::vector<TableRow>> tables_;
  std::map<std::string, std::vector<std::byte>> dumps_;
  std::string heading_;
  std::string dump_;  ///< name of the one that is open
};

/// As the document has it: offset, then 32 bytes a line; zeros at the end are left out.
std::string format_dump(const std::vector<std::byte>& bytes);

}  // namespace kvtier::test
