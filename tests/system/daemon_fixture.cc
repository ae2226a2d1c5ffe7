#include "tests/system/daemon_fixture.h"

#include "libkvclient/wire/counters_reader.h"

namespace kvtier::test {

std::map<std::string, std::uint64_t> counters_of(const DaemonPlace& place) {
  std::map<std::string, std::uint64_t> values;
  const Result<CountersReader> reader = CountersReader::open(place.runtime_dir() + "/counters");
  if (!reader.is_ok()) return values;
  for (const CounterSample& each : reader.value().read()) values[each.name] = each.value;
  return values;
}

bool DaemonTest::start(const std::vector<std::string>& more) {
  daemon_ = place_.start(more);
  return daemon_ != nullptr;
}

int DaemonTest::kvctl(const std::vector<std::string>& words, const User& user) {
  std::vector<std::string> command = {program("kvctl"), "--socket", place_.admin_socket()};
  command.insert(command.end(), words.begin(), words.end());
  said_path_ =
      place_.file("kvctl" + std::to_string(++kvctl_calls_));  // else earlier words would count as said
  ChildProcess child({.command = command,
                      .environment = {},
                      .output_path = said_path_,
                      .uid = user.uid,
                      .groups = user.groups});
  return child.wait();
}

bool DaemonTest::counter_becomes(const std::string& name, std::uint64_t value) const {
  return eventually([&] { return counters_of(place_)[name] == value; });
}

bool DaemonTest::counter_reaches(const std::string& name, std::uint64_t least) const {
  return eventually([&] { return counters_of(place_)[name] >= least; });
}

}  // namespace kvtier::test
