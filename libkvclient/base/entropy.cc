#include "libkvclient/base/entropy.h"

#include <sys/random.h>

#include <cerrno>

#include "libkvclient/base/check.h"

namespace kvtier {

std::uint64_t entropy64() {
  std::uint64_t value = 0;
  ssize_t got = 0;
  do {
    got = ::getrandom(&value, sizeof value, 0);
  } while (got < 0 && errno == EINTR);
  KV_CHECK(got == static_cast<ssize_t>(sizeof value), "getrandom of eight bytes always succeeds");
  return value;
}

}  // namespace kvtier
