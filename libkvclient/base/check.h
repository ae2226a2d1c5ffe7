#pragma once
// KV_CHECK: a broken invariant of our own code stops the process, in every build.
// Never on bytes of a client, a disk or the environment: those return a Status.

namespace kvtier {

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* message);

}  // namespace kvtier

#define KV_CHECK(condition, message)                                   \
  do {                                                                 \
    if (__builtin_expect(!(condition), 0)) {                           \
      ::kvtier::check_failed(__FILE__, __LINE__, #condition, message); \
    }                                                                  \
  } while (false)
