// The daemon with a path that it does not understand.

#include <gtest/gtest.h>

#include <fstream>

#include "daemon/disk/format.h"
#include "tests/system/nvme_fixture.h"

namespace kvtier::test {
namespace {

class NvmePath : public NvmeTest {};

/// One bit of each copy: damaged, or whole again.
void flip_superblocks(const std::string& folder) {
  std::fstream file(folder + "/kvtier.data", std::ios::in | std::ios::out | std::ios::binary);
  for (std::uint64_t copy = 0; copy < kSuperblockCopies; ++copy) {
    const auto at = static_cast<std::streamoff>(copy * kSuperblockStrideBytes + 100);
    file.seekg(at);
    const int old = file.get();
    file.seekp(at);
    file.put(static_cast<char>(old ^ 1));
  }
}

// It shut the other one too. What was invalidated meanwhile does not come back with it.
TEST_F(NvmePath, a_path_that_is_damaged_is_said_and_the_other_serves) {
  configure({folder("a"), folder("b")}, "  missing: give_up\n");
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save_all(client));
  }
  end();
  flip_superblocks(place_.file("b"));
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("NVMe path " + place_.file("b") + " is left out: nvme.paths[1]: " + place_.file("b") +
                        ": no superblock copy is usable"),
            std::string::npos)
      << said();
  EXPECT_NE(said().find("move the file away; then restart kvtierd"), std::string::npos) << said();
  EXPECT_TRUE(status_comes_to("tier nvme    serving")) << said();
  EXPECT_TRUE(status_has(place_.file("a") + " ok")) << said();
  EXPECT_TRUE(output_comes_to("NVMe path left out")) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    EXPECT_GT(read_all(client), 0U) << "of the other path";
    EXPECT_EQ(kvctl({"flush", "--all", "--disk"}), 0) << said();
    ASSERT_NO_FATAL_FAILURE(save(client, 100, 4));
  }
  end();
  flip_superblocks(place_.file("b"));
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << "nothing was given up: " << said();
  EXPECT_TRUE(status_comes_to("tier nvme    serving")) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_GT(client.count_state(100, kChainBlocks, KVC_STATE_ON_DISK), 0U);
  for (std::uint64_t chain = 0; chain < kChains; ++chain) {
    EXPECT_EQ(client.count_state(chain, kChainBlocks, KVC_STATE_ON_DISK), 0U) << chain;
    EXPECT_EQ(client.read_any(chain, kChainBlocks).blocks, 0U) << chain;
  }
}

}  // namespace
}  // namespace kvtier::test
