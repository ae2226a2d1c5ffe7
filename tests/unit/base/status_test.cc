#include "libkvclient/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <set>

#include "libkvclient/base/result.h"

namespace kvtier {
namespace {

TEST(Status, EveryCodeHasItsOwnWord) {
  std::set<std::string_view> words;
  for (std::uint8_t i = 0; i < kCodeCount; ++i) {
    const std::string_view word = code_name(static_cast<Code>(i));
    EXPECT_NE(word, "unknown");
    EXPECT_TRUE(words.insert(word).second) << word;
  }
  EXPECT_EQ(code_name(static_cast<Code>(kCodeCount)), "unknown");
  EXPECT_EQ(code_name(static_cast<Code>(255)), "unknown");
}

// Numbers are values of the wire and of the C ABI.
TEST(Status, NumbersStay) {
  EXPECT_EQ(static_cast<int>(Code::kOk), 0);
  EXPECT_EQ(static_cast<int>(Code::kNoSpace), 5);
  EXPECT_EQ(static_cast<int>(Code::kStale), 9);
  EXPECT_EQ(static_cast<int>(Code::kSystem), 14);
}

TEST(Status, DefaultIsOk) {
  EXPECT_TRUE(Status().is_ok());
  EXPECT_EQ(Status::ok().to_string(), "ok");
}

TEST(Status, ForwardingLevelsAddWhatTheyWereDoing) {
  const Status status = Status(Code::kNoSpace, "pool is full").while_doing("reserve").while_doing("put");
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_EQ(status.to_string(), "no_space: put: reserve: pool is full");
  EXPECT_TRUE(Status::ok().while_doing("put").is_ok());
}

TEST(Status, ErrnoIsNamedAndNumbered) {
  const Status status = Status::from_errno("open /x", ENOENT);
  EXPECT_EQ(status.code(), Code::kSystem);
  EXPECT_EQ(status.message(), "open /x: No such file or directory (errno 2)");
}

Status forward(const Status& status) {
  KV_RETURN_IF_ERROR(status);
  return {Code::kExists, "went on"};
}

TEST(Status, ReturnIfError) {
  EXPECT_EQ(forward(Status(Code::kBusy, "full")).code(), Code::kBusy);
  EXPECT_EQ(forward(Status::ok()).code(), Code::kExists);
}

TEST(Result, HoldsAValueOrAFailure) {
  const Result<int> good = 7;
  EXPECT_TRUE(good.is_ok());
  EXPECT_EQ(good.code(), Code::kOk);
  EXPECT_EQ(good.value(), 7);
  const Result<int> bad = Status(Code::kStale, "old");
  EXPECT_FALSE(bad.is_ok());
  EXPECT_EQ(bad.code(), Code::kStale);
}

TEST(Result, MovesWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 3);
}

TEST(ResultDeathTest, MisuseIsABug) {
  const Result<int> bad = Status(Code::kStale, "old");
  EXPECT_DEATH(static_cast<void>(bad.value()), "value\\(\\) of a failed Result");
  EXPECT_DEATH(static_cast<void>(Result<int>(Status::ok())), "needs a failure");
}

}  // namespace
}  // namespace kvtier
