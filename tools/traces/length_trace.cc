#include "tools/traces/length_trace.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "tools/traces/line_file.h"

namespace kvtier::sim {
namespace {

constexpr std::string_view kHeader = "TIMESTAMP,ContextTokens,GeneratedTokens";

/// Takes a line apart from the left.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  template <class T>
  bool number(T& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return true;
  }
  bool skip(char wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// "2023-11-16 18:17:03.9799600"
bool take_time(Cursor& at, std::uint64_t& time_ms) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  const bool is_read = at.number(year) && at.skip('-') && at.number(month) && at.skip('-') &&
                       at.number(day) && at.skip(' ') && at.number(hour) && at.skip(':') &&
                       at.number(minute) && at.skip(':') && at.number(second);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!is_read || !date.ok() || year < 1970 || hour > 23 || minute > 59 || !(second >= 0 && second < 61))
    return false;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  const auto minutes = (static_cast<std::uint64_t>(days) * 24 + hour) * 60 + minute;
  time_ms = minutes * 60'000 + static_cast<std::uint64_t>(second * 1000);
  return true;
}

}  // namespace

Status LengthParser::add_line(std::string_view line) {
  if (requests_.empty() && line == kHeader) return Status::ok();
  LengthRequest request;
  Cursor at(line);
  const bool is_read = take_time(at, request.time_ms) && at.skip(',') && at.number(request.prompt) &&
                       at.skip(',') && at.number(request.output) && at.is_at_end();
  if (!is_read) return {Code::kInvalid, "it is not " + std::string(kHeader)};
  if (request.prompt == 0) return {Code::kInvalid, "a prompt has no token"};
  requests_.push_back(request);
  return Status::ok();
}

std::vector<LengthRequest> LengthParser::take() {
  const auto time_of = [](const LengthRequest& request) { return request.time_ms; };
  std::ranges::stable_sort(requests_, {}, time_of);
  const std::uint64_t first_ms = requests_.empty() ? 0 : requests_.front().time_ms;
  for (LengthRequest& request : requests_) request.time_ms -= first_ms;
  return std::exchange(requests_, {});
}

Result<std::vector<LengthRequest>> read_length_trace(const std::string& path) {
  LengthParser parser;
  KV_RETURN_IF_ERROR(read_lines_of(path, [&](std::string_view line) { return parser.add_line(line); }));
  std::vector<LengthRequest> requests = parser.take();
  if (requests.empty()) return Status(Code::kInvalid, path + " has no requests");
  return requests;
}

}  // namespace kvtier::sim
