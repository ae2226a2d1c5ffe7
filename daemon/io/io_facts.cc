#include "daemon/io/io_facts.h"

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::string registered_text(const IoFacts& facts) {
  if (facts.registered_bytes.value == 0) return "off";
  if (facts.registered_bytes.value == facts.region_bytes) return "on";
  return format_size(facts.registered_bytes.value) + " of " + format_size(facts.region_bytes);
}

}  // namespace

std::string io_switch(bool is_on) {
  return is_on ? "on" : "off";
}

std::vector<IoFactRow> io_fact_rows(const IoFacts& facts) {
  return {{"engine", facts.engine.value, facts.engine.reason},
          {"depth", std::to_string(facts.depth.value), facts.depth.reason},
          {"registered_files", io_switch(facts.registered_files.value), facts.registered_files.reason},
          {"registered_buffers", registered_text(facts), facts.registered_bytes.reason},
          {"polled_io", io_switch(facts.polled.value), facts.polled.reason}};
}

}  // namespace kvtier
