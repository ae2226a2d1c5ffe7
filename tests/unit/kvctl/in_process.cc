#include "tests/unit/kvctl/in_process.h"

#include <gtest/gtest.h>

#include "tools/kvctl/command_line.h"

namespace kvtier::test {

Said run_kvctl(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"kvctl"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  Said said;
  testing::internal::CaptureStdout();
  try {
    ctl::CommandLine line;
    ctl::parse_command_line(static_cast<int>(argv.size()), argv.data(), line);
    said.status = line.run ? line.run() : line.exit_status;
  } catch (const ctl::Failure& failure) {
    said.status = failure.exit_status;
    said.code = failure.code;
    said.message = failure.what();
  }
  said.text = testing::internal::GetCapturedStdout();
  return said;
}

}  // namespace kvtier::test
