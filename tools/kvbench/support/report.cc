#include "tools/kvbench/support/report.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "revision.h"
#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {
namespace {

using Json = nlohmann::ordered_json;

// Four significant digits: more would claim what no run on a shared machine can.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

void print_for_people(const Json& fields) {
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_array()) {
      std::printf("%-32s %s\n", name.c_str(),
                  value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
      continue;
    }
    std::printf("%s\n", name.c_str());
    for (const Json& row : value) std::printf("  %s\n", row.dump().c_str());
  }
}

}  // namespace

struct Report::Fields {
  Json json = Json::object();
};

Report::Report(std::unique_ptr<Fields> fields) : fields_(std::move(fields)) {}
Report::Report(Report&&) noexcept = default;
Report& Report::operator=(Report&&) noexcept = default;
Report::~Report() = default;

Report::Report(std::string_view bench) : Report(std::make_unique<Fields>()) {
  add("bench", bench);
  add("version", std::string_view(KVTIER_VERSION));
  add("revision", std::string_view(KVBENCH_REVISION));
  add("cores", std::uint64_t{std::thread::hardware_concurrency()});
}

Report Report::row() {
  return Report(std::make_unique<Fields>());
}

void Report::add(std::string_view name, double value) {
  fields_->json[std::string(name)] = rounded(value);
}
void Report::add(std::string_view name, std::uint64_t value) {
  fields_->json[std::string(name)] = value;
}
void Report::add(std::string_view name, std::string_view value) {
  fields_->json[std::string(name)] = std::string(value);
}
void Report::add(std::string_view name, const std::vector<Report>& rows) {
  Json list = Json::array();
  for (const Report& row : rows) list.push_back(row.fields_->json);
  fields_->json[std::string(name)] = std::move(list);
}

void Report::add_json(std::string_view prefix, const std::string& text) {
  const Json other = Json::parse(text, nullptr, false);
  need(other.is_object(), "not a JSON object: " + text);
  for (const auto& [name, value] : other.items()) fields_->json[std::string(prefix) + name] = value;
}

int Report::finish(bool is_json) {
  add("errors", errors_);
  if (is_json) {
    std::printf("%s\n", fields_->json.dump().c_str());
  } else {
    print_for_people(fields_->json);
  }
  std::fflush(stdout);
  return errors_ == 0 ? 0 : 1;
}

}  // namespace kvtier::bench
