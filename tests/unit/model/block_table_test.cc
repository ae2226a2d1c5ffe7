// The block table: the closed table of state changes, reuse of records, the edge where it is full, and what
// an adopter finds in it.

#include "daemon/model/block_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

using S = BlockState;

BlockTable make_table(std::uint32_t blocks_max, std::uint32_t reserved) {
  NoFdStore fds;
  Result<BlockTable> table = BlockTable::create(blocks_max, fds);
  EXPECT_TRUE(table.is_ok()) << table.status().to_string();
  EXPECT_TRUE(table.value().reserve(reserved).is_ok());
  return std::move(table).value();
}

// Keeps descriptors as a service manager would.
class OneFd final : public FdStore {
 public:
  Status put(std::string_view, int fd) override {
    kept = UniqueFd(::dup(fd));
    return Status::ok();
  }
  void remove(std::string_view) override {}
  std::vector<StoredFd> take_all() override { return {}; }
  [[nodiscard]] std::string_view kind() const override { return "one"; }
  UniqueFd kept;
};

TEST(BlockTransitions, AreTheTwentyOneThatAreWrittenDown) {
  const std::set<std::pair<S, S>> legal = {
      {S::kFree, S::kWriting},        {S::kWriting, S::kReady},  {S::kWriting, S::kQuarantined},
      {S::kWriting, S::kFree},        {S::kReady, S::kEvicting}, {S::kEvicting, S::kReady},
      {S::kEvicting, S::kDraining},   {S::kEvicting, S::kFree},  {S::kDraining, S::kFree},
      {S::kQuarantined, S::kFree},    {S::kFree, S::kStocked},   {S::kStocked, S::kWriting},
      {S::kStocked, S::kQuarantined}, {S::kStocked, S::kFree},   {S::kFree, S::kCold},
      {S::kEvicting, S::kCold},       {S::kCold, S::kRestoring}, {S::kCold, S::kFree},
      {S::kRestoring, S::kReady},     {S::kRestoring, S::kCold}, {S::kRestoring, S::kFree},
  };
  for (std::size_t from = 0; from < kBlockStateCount; ++from) {
    for (std::size_t to = 0; to < kBlockStateCount; ++to) {
      const std::pair<S, S> change{static_cast<S>(from), static_cast<S>(to)};
      EXPECT_EQ(is_legal_transition(change.first, change.second), legal.contains(change))
          << from << " to " << to;
    }
  }
}

TEST(BlockTableDeathTest, AnIllegalChangeStopsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  BlockTable table = make_table(16, 16);
  const BlockId id = table.allocate();
  table.set_state(id, S::kReady);
  EXPECT_DEATH(table.free(id), "a block changes state only as");
  EXPECT_DEATH(table.set_state(id, S::kWriting), "a block changes state only as");
}

TEST(BlockTable, AFreshRecordIsWritingAndHasNoLinks) {
  BlockTable table = make_table(16, 16);
  const BlockId id = table.allocate();
  const BlockRecord& record = table[id];
  EXPECT_EQ(record.state, S::kWriting);
  EXPECT_EQ(record.writer, kNoWriter);
  EXPECT_EQ(record.flags, 0);
  for (const BlockId link : {record.parent, record.first_child, record.next_sibling, record.prev_sibling,
                             record.prev, record.next}) {
    EXPECT_EQ(link, BlockId::kNone);
  }
}

TEST(BlockTable, AReusedRecordKeepsNothingOfItsFormerBlock) {
  BlockTable table = make_table(16, 16);
  const BlockId id = table.allocate();
  table[id].key = Key{{1, 2, 3, 4}};
  table[id].hits = 9;
  table[id].parent = BlockId{3};
  table[id].flags = kBlockSummed;
  table.free(id);
  ASSERT_EQ(table.allocate(), id) << "the last one freed comes first: its line is warm";
  EXPECT_TRUE(table[id].key.is_zero());
  EXPECT_EQ(table[id].hits, 0U);
  EXPECT_EQ(table[id].parent, BlockId::kNone);
  EXPECT_EQ(table[id].flags, 0);
}

// S-03: full is an answer.
TEST(BlockTable, IsFullAtWhatWasReservedAndNeverGivesOneRecordTwice) {
  constexpr std::uint32_t kBlocks = 5000;
  BlockTable table = make_table(kBlocks, kBlocks);
  std::set<std::uint32_t> seen;
  while (true) {
    const BlockId id = table.allocate();
    if (id == BlockId::kNone) break;
    ASSERT_TRUE(seen.insert(index_of(id)).second);
    ASSERT_TRUE(table.is_valid(index_of(id)));
  }
  EXPECT_EQ(seen.size(), kBlocks);
  EXPECT_EQ(table.used(), kBlocks);
  EXPECT_FALSE(table.is_valid(kBlocks));
  table.free(BlockId{17});
  EXPECT_EQ(table.allocate(), BlockId{17});
  EXPECT_EQ(table.allocate(), BlockId::kNone);
}

TEST(BlockTable, GrowsInStepsUpToItsMaximumAndRefusesWithTheKnob) {
  BlockTable table = make_table(30000, 1);
  EXPECT_LT(table.bytes_resident(), 2 * kMiB);
  EXPECT_TRUE(table.reserve(30000).is_ok());
  EXPECT_EQ(table.bytes_resident(), 30000 * sizeof(BlockRecord));
  const Status refused = table.reserve(30001);
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  for (const char* part : {"index.blocks_max", "30000", "30001"}) {
    EXPECT_NE(refused.message().find(part), std::string::npos) << refused.message();
  }
}

TEST(BlockTable, AnAdopterFindsTheRecordsAndTheFreeOnesAgain) {
  OneFd fds;
  Result<BlockTable> created = BlockTable::create(4096, fds);
  ASSERT_TRUE(created.is_ok());
  BlockTable table = std::move(created).value();
  ASSERT_TRUE(table.reserve(4096).is_ok());
  for (int i = 0; i < 100; ++i) table[table.allocate()].key = Key{{static_cast<std::uint64_t>(i), 0, 0, 1}};
  for (std::uint32_t i = 0; i < 100; i += 2) table.free(BlockId{i});
  Result<BlockTable> again = BlockTable::adopt(std::move(fds.kept), 4096, table.reserved());
  ASSERT_TRUE(again.is_ok()) << again.status().to_string();
  BlockTable adopted = std::move(again).value();
  adopted.rebuild_free_list();
  EXPECT_EQ(adopted.used(), 50U);
  for (std::uint32_t i = 1; i < 100; i += 2) EXPECT_EQ(adopted[BlockId{i}].key.words[0], i);
  EXPECT_EQ(adopted.allocate(), BlockId{0}) << "the lowest free record first";
}

TEST(BlockTable, RefusesAMemfdOfAnotherSize) {
  OneFd fds;
  Result<BlockTable> created = BlockTable::create(4096, fds);
  ASSERT_TRUE(created.is_ok());
  Result<BlockTable> adopted = BlockTable::adopt(std::move(fds.kept), 1U << 20, 0);
  EXPECT_EQ(adopted.code(), Code::kInvalid);
  EXPECT_NE(adopted.status().message().find("checking the block table"), std::string::npos);
}

}  // namespace
}  // namespace kvtier
