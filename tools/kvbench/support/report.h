#pragma once
// What a run found: ordered names and values, printed as one JSON object or as a table for people.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvtier::bench {

class Report {
 public:
  /// Begins with bench, version, revision, cores.
  explicit Report(std::string_view bench);
  Report(Report&&) noexcept;
  Report& operator=(Report&&) noexcept;
  ~Report();

  void add(std::string_view name, double value);
  void add(std::string_view name, std::uint64_t value);
  void add(std::string_view name, std::string_view value);
  /// A list of sub-reports, such as one a count of clients.
  void add(std::string_view name, const std::vector<Report>& rows);
  /// A row of such a list.
  static Report row();

  /// Takes over the JSON object's entries of another program, each name with `prefix` in front.
  void add_json(std::string_view prefix, const std::string& text);

  /// Wrong bytes or answers. Any of them makes the exit status 1.
  void count_errors(std::uint64_t errors) { errors_ += errors; }
  /// Prints, and gives the exit status.
  int finish(bool is_json);

 private:
  struct Fields;
  explicit Report(std::unique_ptr<Fields> fields);
  std::unique_ptr<Fields> fields_;
  std::uint64_t errors_ = 0;
};

}  // namespace kvtier::bench
