#include "libkvclient/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace kvtier {
namespace {

bool is_open(int fd) {
  return fcntl(fd, F_GETFD) != -1;
}

UniqueFd open_null() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(UniqueFd, ClosesAtItsEnd) {
  int number = -1;
  {
    const UniqueFd fd = open_null();
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, MovesAndReplaces) {
  UniqueFd first = open_null();
  const int number = first.get();
  UniqueFd second = std::move(first);
  EXPECT_FALSE(first.is_open());  // NOLINT: a moved-from UniqueFd owns nothing
  EXPECT_EQ(second.get(), number);
  second = open_null();
  EXPECT_TRUE(second.is_open());
  UniqueFd& self = second;
  second = std::move(self);
  EXPECT_TRUE(is_open(second.get()));
}

TEST(UniqueFd, ReleaseGivesUpOwnership) {
  UniqueFd fd = open_null();
  const int number = fd.release();
  EXPECT_FALSE(fd.is_open());
  EXPECT_TRUE(is_open(number));
  fd.reset(number);
  fd.reset();
  EXPECT_FALSE(is_open(number));
}

}  // namespace
}  // namespace kvtier
