#include "tools/kvctl/progress.h"

#include <unistd.h>

#include <cstdio>

namespace kvtier::ctl {

Json request_with_progress(const Globals& globals, const Json& request,
                           const std::function<void(const Json&)>& show) {
  AdminClient client(globals);
  const bool is_shown = ::isatty(STDERR_FILENO) != 0;
  bool is_begun = false;
  Json report = client.request(request, [&](const Json& line) {
    const auto progress = line.find("progress");
    if (!is_shown || progress == line.end()) return;
    is_begun = true;
    show(*progress);
  });
  if (is_begun) std::fputs("\n", stderr);
  return report;
}

}  // namespace kvtier::ctl
