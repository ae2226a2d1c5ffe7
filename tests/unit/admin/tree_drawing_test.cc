#include "tools/kvctl/tree_drawing.h"

#include <gtest/gtest.h>

#include "tools/kvctl/table.h"
#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

TEST(TreeDrawing, LastBranchEndsItsStroke) {
  TreeDrawing drawing;
  EXPECT_EQ(drawing.strokes(0, 2), "");
  EXPECT_EQ(drawing.strokes(1, 2), "├─ ");
  EXPECT_EQ(drawing.strokes(2, 0), "│  ├─ ");
  EXPECT_EQ(drawing.strokes(2, 0), "│  └─ ");
  EXPECT_EQ(drawing.strokes(1, 1), "└─ ");
  EXPECT_EQ(drawing.strokes(2, 0), "   └─ ");
  EXPECT_EQ(drawing.strokes(0, 0), "");
}

TEST(TreeDrawing, DeepLevelsAreNotDrawnButSaid) {
  TreeDrawing drawing;
  std::string deepest;
  for (std::uint32_t level = 0; level < 100; ++level) deepest = drawing.strokes(level, 1);
  EXPECT_TRUE(deepest.starts_with("(75) "));
  EXPECT_LT(columns_of(deepest), 100U);
}

TEST(Table, AlignsByColumnsOfTheTerminal) {
  Table table({{"NAME"}, {"N", true}});
  table.add({"größe", "7"});
  table.add({"a", "1000"});
  EXPECT_EQ(table.text(), "NAME      N\ngröße     7\na      1000\n");
}

TEST(Text, ClientsNamesCannotSteerTheTerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc3\xa4"),
            "?31m\xc3\xa4");
}

}  // namespace
}  // namespace kvtier::ctl
