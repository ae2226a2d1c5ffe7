#include "libkvclient/base/fault_point.h"

#ifdef KVTIER_FAULTS

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libkvclient/base/prng.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

struct Point {
  std::string name;
  std::string action;
  TimeNs delay_ns = 0;
  std::uint64_t at_pass = 0;  // 0: every pass
  double probability = 1.0;
  std::uint64_t passes = 0;
};

struct Registry {
  std::mutex mutex;
  std::vector<Point> points;
  Prng chance{1};
  bool is_loaded = false;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

bool parse_pass(const std::string& text, std::uint64_t& pass) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pass);
  return error == std::errc() && end == text.data() + text.size() && pass > 0;
}

bool parse_probability(const std::string& text, double& probability) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), probability);
  return error == std::errc() && end == text.data() + text.size() && probability > 0 && probability <= 1;
}

// Takes what follows `mark` off the end of `text`.
std::optional<std::string> cut_after(std::string& text, char mark) {
  const auto at = text.find(mark);
  if (at == std::string::npos) return std::nullopt;
  std::string rest = text.substr(at + 1);
  text.resize(at);
  return rest;
}

// A text that is nearly right is refused: armed at every pass, or never, it would test something else.
bool parse_point(std::string_view text, Point& point) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  point.name = text.substr(0, equals);
  std::string rest(text.substr(equals + 1));
  const std::optional<std::string> pass = cut_after(rest, '@');
  if (pass.has_value() && !parse_pass(*pass, point.at_pass)) return false;
  const std::optional<std::string> probability = cut_after(rest, '~');
  if (probability.has_value() && !parse_probability(*probability, point.probability)) return false;
  const std::optional<std::string> argument = cut_after(rest, ':');
  point.action = rest;
  if (rest != "delay")
    return !argument.has_value() && (rest == "fail" || rest == "shorten" || rest == "crash");
  const Result<TimeNs> delay = parse_duration(argument.value_or(""));
  if (delay.is_ok()) point.delay_ns = delay.value();
  return delay.is_ok();
}

bool parse_all(std::string_view text, std::vector<Point>& points) {
  while (!text.empty()) {
    const auto end = text.find(';');
    const std::string_view item = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (item.empty()) continue;
    Point point;
    if (!parse_point(item, point)) return false;
    points.push_back(std::move(point));
  }
  return true;
}

void load_from_environment(Registry& all) {
  all.is_loaded = true;
  if (const char* seed = std::getenv("KVTIER_FAULT_SEED"))
    all.chance = Prng(std::strtoull(seed, nullptr, 10));
  const char* text = std::getenv("KVTIER_FAULTS");
  if (text == nullptr || parse_all(text, all.points)) return;
  std::fprintf(stderr, "KVTIER_FAULTS=%s: cannot be parsed; see fault_point.h\n", text);
  std::abort();
}

bool is_due(Point& point, Prng& chance) {
  ++point.passes;
  if (point.at_pass != 0 && point.passes != point.at_pass) return false;
  return point.probability >= 1.0 || chance.unit() < point.probability;
}

void sleep_ns(TimeNs ns) {
  const timespec time{static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
  nanosleep(&time, nullptr);
}

}  // namespace

Fault fault_point(std::string_view name) {
  Registry& all = registry();
  TimeNs delay_ns = 0;
  Fault fault = Fault::kNone;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.is_loaded) load_from_environment(all);
    for (Point& point : all.points) {
      if (point.name != name || !is_due(point, all.chance)) continue;
      if (point.action == "crash") raise(SIGKILL);
      if (point.action == "fail") fault = Fault::kFail;
      if (point.action == "shorten") fault = Fault::kShorten;
      delay_ns += point.delay_ns;
    }
  }
  if (delay_ns != 0) sleep_ns(delay_ns);
  return fault;
}

bool fault_arm(std::string_view text, std::uint64_t seed) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.is_loaded = true;
  all.chance = Prng(seed);
  all.points.clear();
  return parse_all(text, all.points);
}

}  // namespace kvtier

#endif
