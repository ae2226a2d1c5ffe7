// What an administrator sees of a stock.

#include "daemon/flow/admin.h"
#include "tests/unit/flow/stock_fixture.h"

namespace kvtier::test {
namespace {

TEST_F(StockFlow, an_administrator_sees_whose_stock_is_how_large) {
  const auto view = [&] { return store_->admin().clients()[0]; };
  EXPECT_EQ(view().stocked_blocks, 0U);
  client_->refill(space_, 4);
  EXPECT_EQ(view().stocked_blocks, 4U);
  EXPECT_EQ(view().stocked_bytes, 4U * kBlock);
  const std::vector<Reservation> open = reserve(*client_, space_, keys_of(1, 2));
  EXPECT_EQ(view().stocked_blocks, 4U);
  EXPECT_EQ(view().writing_blocks, 2U);
  commit(*client_, open);
  (void)call(*client_, Op::kInvalidate, space_, {});
  EXPECT_EQ(view().stocked_blocks, 0U);
  EXPECT_EQ(view().stocked_bytes, 0U);
}

TEST_F(StockFlow, what_has_no_key_is_in_no_list_of_blocks) {
  client_->refill(space_, 4);
  EXPECT_TRUE(store_->admin().blocks({}, 0, 16).rows.empty());
  EXPECT_TRUE(store_->admin().inspect("0000", 0, 16).rows.empty());
  EXPECT_EQ(store_->admin().clients()[0].writing_blocks, 0U);
}

}  // namespace
}  // namespace kvtier::test
