// kvctl kick: whom a number means.

#include <algorithm>

#include "daemon/flow/admin.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

using Kind = KickTarget::Kind;

class Kick : public StoreFixture {
 protected:
  // Sessions 1, 2, 3; the first process has as pid the number of the third session, as happens in containers.
  void SetUp() override {
    make_store(16);
    first_ = &add_client("main", 3);
    second_ = &add_client("main", 3);
    third_ = &add_client("main", 777);
    ASSERT_EQ(third_->grant().session_id, 3U);
  }
  Status kick(std::uint64_t number, Kind kind) {
    Status status = store_->admin().kick({number, kind});
    deliver();
    return status;
  }
  [[nodiscard]] std::vector<bool> ended() const {
    return {first_->is_ended(), second_->is_ended(), third_->is_ended()};
  }
  SimClient* first_ = nullptr;
  SimClient* second_ = nullptr;
  SimClient* third_ = nullptr;
};

TEST_F(Kick, a_number_that_means_two_processes_ends_nobody_and_says_how_to_choose) {
  const Status refused = kick(3, Kind::kEither);
  EXPECT_EQ(refused.code(), Code::kInvalid);
  for (const char* part : {"pid 3", "session 3 of pid 777", "--pid 3", "--session 3"})
    EXPECT_NE(refused.message().find(part), std::string::npos) << refused.message();
  EXPECT_EQ(ended(), (std::vector{false, false, false}));
}

TEST_F(Kick, a_pid_ends_all_its_sessions_only) {
  EXPECT_TRUE(kick(3, Kind::kProcess).is_ok());
  EXPECT_EQ(ended(), (std::vector{true, true, false}));
}

TEST_F(Kick, a_session_ends_alone) {
  EXPECT_TRUE(kick(3, Kind::kSession).is_ok());
  EXPECT_EQ(ended(), (std::vector{false, false, true}));
  EXPECT_TRUE(kick(1, Kind::kEither).is_ok());
  EXPECT_EQ(ended(), (std::vector{true, false, true}));
}

TEST_F(Kick, a_number_that_is_a_process_and_its_own_session_is_the_process) {
  SimClient& own = add_client("main", 4);
  ASSERT_EQ(own.grant().session_id, 4U);
  SimClient& other = add_client("main", 4);
  EXPECT_TRUE(kick(4, Kind::kEither).is_ok());
  EXPECT_TRUE(own.is_ended());
  EXPECT_TRUE(other.is_ended());
}

TEST_F(Kick, who_is_not_there_is_not_found) {
  EXPECT_EQ(kick(777, Kind::kSession).code(), Code::kNotFound);
  EXPECT_EQ(kick(1, Kind::kProcess).code(), Code::kNotFound);
  EXPECT_EQ(kick(99, Kind::kEither).code(), Code::kNotFound);
  EXPECT_EQ(ended(), (std::vector{false, false, false}));
}

}  // namespace
}  // namespace kvtier::test
