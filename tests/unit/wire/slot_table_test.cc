#include "libkvclient/wire/slot_table.h"

#include <gtest/gtest.h>

#include "libkvclient/wire/pins.h"
#include "tests/unit/wire/zeroed_memory.h"

namespace kvtier {
namespace {

struct SlotTableTest : testing::Test {
  ZeroedMemory memory{slot_table_bytes(8)};
  SlotTable table{memory.as<SlotCell>().first(8), 4};

  Generation make_ready(std::uint32_t slot) {
    const Generation generation = table.begin_write(slot);
    EXPECT_TRUE(table.publish(slot, generation));
    return generation;
  }
  bool evict(std::uint32_t slot) {
    return Pins::try_evict(table.cell(slot), [] { return false; }) == EvictOutcome::kEvicting;
  }
};

TEST(SlotWordTest, EncodesEachStateAndTheWholeGeneration) {
  for (std::uint8_t state = 0; state < kSlotStateCount; ++state) {
    for (const Generation generation : {Generation{0}, Generation{1}, kGenerationMax}) {
      const SlotWord word{generation, static_cast<SlotState>(state)};
      EXPECT_EQ(SlotWord::decode(word.encode()), word);
    }
    EXPECT_NE(slot_state_name(static_cast<SlotState>(state)), "unknown");
  }
  EXPECT_EQ(slot_state_name(static_cast<SlotState>(kSlotStateCount)), "unknown");
}

TEST(SlotWordTest, LayoutIsTheDocumentedOne) {
  EXPECT_EQ((SlotWord{0x123456789a, SlotState::kReady}.encode()), 0x02'123456789aULL);
  EXPECT_EQ(ready_word(1), 0x02'0000000001ULL);
}

TEST_F(SlotTableTest, AZeroFilledTableIsAllFreeAndNeverUsed) {
  for (std::uint32_t slot = 0; slot < 4; ++slot) EXPECT_EQ(table.at(slot), SlotWord{});
}

TEST_F(SlotTableTest, EachUseRaisesTheGeneration) {
  EXPECT_EQ(make_ready(2), 1u);
  EXPECT_TRUE(evict(2));
  EXPECT_TRUE(table.retire(2));
  EXPECT_EQ(table.at(2), (SlotWord{1, SlotState::kFree}));
  EXPECT_EQ(make_ready(2), 2u);
}

TEST_F(SlotTableTest, RefusesTransitionsFromTheWrongState) {
  EXPECT_FALSE(table.publish(0, 0));
  EXPECT_FALSE(table.retire(0));
  EXPECT_FALSE(table.put_back(0));
  EXPECT_FALSE(table.quarantine(0));
  const Generation generation = table.begin_write(0);
  EXPECT_EQ(table.begin_write(0), 0u);
  EXPECT_FALSE(table.publish(0, generation + 1));
  EXPECT_FALSE(evict(0));
  EXPECT_TRUE(table.publish(0, generation));
  EXPECT_FALSE(table.retire(0));
  EXPECT_FALSE(table.quarantine(0));
  EXPECT_EQ(table.at(0), (SlotWord{generation, SlotState::kReady}));
}

TEST_F(SlotTableTest, AnAbandonedWriteIsQuarantinedThenFree) {
  const Generation generation = table.begin_write(1);
  EXPECT_TRUE(table.quarantine(1));
  EXPECT_FALSE(table.publish(1, generation));
  EXPECT_EQ(table.begin_write(1), 0u);
  EXPECT_TRUE(table.retire(1));
  EXPECT_EQ(table.begin_write(1), generation + 1);
}

TEST_F(SlotTableTest, EvictingIsPutBackAtAdoption) {
  const Generation generation = make_ready(3);
  EXPECT_TRUE(evict(3));
  EXPECT_TRUE(table.put_back(3));
  EXPECT_EQ(table.at(3), (SlotWord{generation, SlotState::kReady}));
}

TEST_F(SlotTableTest, AWornOutSlotIsGivenUpNotWrapped) {
  memory.as<SlotCell>()[0].store(SlotWord{kGenerationMax - 1, SlotState::kFree}.encode());
  EXPECT_EQ(make_ready(0), kGenerationMax);
  EXPECT_TRUE(evict(0));
  EXPECT_TRUE(table.retire(0));
  EXPECT_EQ(table.begin_write(0), 0u);
  EXPECT_EQ(table.at(0).state, SlotState::kQuarantined);
}

TEST_F(SlotTableTest, ANewSlotSizeStartsAboveAllGenerationsOfTheOld) {
  for (int use = 0; use < 5; ++use) {
    const Generation generation = make_ready(3);
    ASSERT_EQ(generation, static_cast<Generation>(use + 1));
    ASSERT_TRUE(evict(3));
    ASSERT_TRUE(table.retire(3));
  }
  ASSERT_TRUE(table.reinitialise(2));
  EXPECT_EQ(table.slot_count(), 2u);
  EXPECT_EQ(table.begin_write(0), 6u);
  ASSERT_TRUE(table.retire(0));
  // Back to more slots: the words that were out of use kept the floor.
  ASSERT_TRUE(table.reinitialise(8));
  EXPECT_EQ(table.begin_write(7), 7u);
}

TEST_F(SlotTableTest, ASlotInUseForbidsANewSlotSize) {
  const Generation generation = make_ready(1);
  EXPECT_FALSE(table.reinitialise(2));
  EXPECT_EQ(table.at(1), (SlotWord{generation, SlotState::kReady}));
  EXPECT_EQ(table.slot_count(), 4u);
}

}  // namespace
}  // namespace kvtier
