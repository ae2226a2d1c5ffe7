#include "libkvclient/base/fault_point.h"

#ifdef KVTIER_FAULTS

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
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

bool parse_point(std::string_view text, Point& point) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  point.name = text.substr(0, equals);
  std::string rest(text.substr(equals + 1));
  if (const auto at = rest.find('@'); at != std::string::npos) {
    point.at_pass = std::strtoull(rest.c_str() + at + 1, nullptr, 10);
    rest.resize(at);
  } else if (const auto tilde = rest.find('~'); tilde != std::string::npos) {
    point.probability = std::strtod(rest.c_str() + tilde + 1, nullptr);
    rest.resize(tilde);
  }
  if (const auto colon = rest.find(':'); colon != std::string::npos) {
    const Result<TimeNs> delay = parse_duration(std::string_view(rest).substr(colon + 1));
    if (!delay.is_ok()) return false;
    point.delay_ns = delay.value();
    rest.resize(colon);
  }
  point.action = rest;
  return rest == "fail" || rest == "shorten" || rest == "delay" || rest == "crash";
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
  if (text != nullptr && !parse_all(text, all.points)) std::abort();
}

void sleep_ns(TimeNs ns) {
  const timespec time{static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
  nanosleep(&time, nullptr);
}

}  // namespace

Fault fault_point(std::string_view name) {
  Registry& all = registry();
  TimeNs delay_ns = 0;
  {
    const std::lock_guard lock(all.mutex);
    if (!all.is_loaded) load_from_environment(all);
    for (Point& point : all.points) {
      if (point.name != name) continue;
      ++point.passes;
      if (point.at_pass != 0 && point.passes != point.at_pass) continue;
      if (point.probability < 1.0 && all.chance.unit() >= point.probability) continue;
      if (point.action == "crash") raise(SIGKILL);
      if (point.action == "fail") return Fault::kFail;
      if (point.action == "shorten") return Fault::kShorten;
      delay_ns = point.delay_ns;
      break;
    }
  }
  if (delay_ns != 0) sleep_ns(delay_ns);
  return Fault::kNone;
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
