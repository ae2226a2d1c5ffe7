// kvtier-keeper -- kvtierd [arguments]

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "daemon/app/exit_code.h"
#include "daemon/app/keeper.h"

namespace {

constexpr const char* kUsage =
    "usage: kvtier-keeper [--] kvtierd [arguments]\n"
    "Runs kvtierd and keeps its memory. Ends with kvtierd's exit status after SIGTERM or SIGINT, and when\n"
    "kvtierd ends with 0 or with what no restart mends: 2 settings, 3 already running, 4 memory. After a\n"
    "signal or any other status it starts kvtierd again, over the same memory, with a pause from 20 ms that\n"
    "doubles up to 5 s until a run has lasted 10 s, or 2 s and served. When 5 starts in a row have failed "
    "(ended within 10 s "
    "and\n"
    "before kvtierd served anybody) it gives up and ends with the last one's status, 128 + signal for a "
    "signal.\n";

}  // namespace

int main(int argc, char** argv) {
  int first = 1;
  if (first < argc && (std::strcmp(argv[first], "--help") == 0 || std::strcmp(argv[first], "-h") == 0))
    return std::fputs(kUsage, stdout), 0;
  if (first < argc && std::strcmp(argv[first], "--version") == 0)
    return std::puts("kvtier-keeper " KVTIER_VERSION), 0;
  if (first < argc && std::strcmp(argv[first], "--") == 0) ++first;
  if (first >= argc || argv[first][0] == '-') {
    std::fputs(kUsage, stderr);
    return kvtier::kExitUsage;
  }
  return kvtier::keep(std::vector<std::string>(argv + first, argv + argc));
}
