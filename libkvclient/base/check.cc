#include "libkvclient/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kvtier {

void check_failed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "kvtier: bug at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace kvtier
