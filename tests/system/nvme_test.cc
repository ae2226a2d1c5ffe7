// The daemon with an NVMe tier in real folders.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "libkvclient/base/digest.h"
#include "tests/system/nvme_fixture.h"

namespace kvtier::test {
namespace {

class Nvme : public NvmeTest {
 protected:
  static std::string key_text(std::uint64_t chain, std::size_t at) {
    const kvc_key key = chain_keys(chain, at, 1)[0];
    Digest digest{};
    static_assert(sizeof digest == sizeof key);
    std::memcpy(&digest, &key, sizeof key);
    return to_hex(digest);
  }
};

// Four times as much as memory holds: what leaves it is on disk, and is there after a clean end.
TEST_F(Nvme, blocks_leave_memory_for_disk_and_are_found_after_a_restart) {
  write_policy_ = "back";
  configure({folder("a"), folder("b")});
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    std::uint64_t chain = 0;
    EXPECT_TRUE(eventually([&] { return store(client, chain++ % 24), counter("demotions") >= 500; }))
        << place_.output();
    EXPECT_EQ(kvctl({"status"}), 0) << said();
    EXPECT_TRUE(status_has("tier nvme    serving; ")) << said();
    EXPECT_TRUE(status_has(place_.file("b") + " ok")) << said();
  }
  end();
  ASSERT_TRUE(start_small()) << place_.output();  // READY comes after the recovery
  EXPECT_TRUE(counter_reaches("nvme_recovered_blocks", 500)) << said();
  EXPECT_TRUE(counter_becomes("nvme_recovered_scans", 0));  // the end was clean
  EXPECT_TRUE(counter_becomes("nvme_recovered_unknown", 0));
  EXPECT_TRUE(counter_reaches("disk_recovered", 500));
  end();
}

// A third more than the tier holds, then nobody: it wrote at full speed for as long as the daemon lived. Time passes by the
// daemon's clock.
TEST_F(Nvme, a_full_tier_rests_when_its_clients_do) {
  place_.write_config("nvme:\n  segment_bytes: 4MiB\n  paths:\n    - {dir: " + folder("a") +
                      ", bytes: 200MiB}\n");
  ASSERT_TRUE(start({"host.bytes=64MiB", "host.slab_bytes=4MiB"})) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    std::uint64_t chain = 0;
    ASSERT_TRUE(
        eventually([&] { return store(client, chain++), counter("nvme_blocks_dropped") > 0 && chain > 68; }));
  }
  const auto rest = [&](std::uint64_t seconds) {
    const std::uint64_t up_s = counters_of(place_)["uptime_seconds"];
    EXPECT_TRUE(counter_reaches("uptime_seconds", up_s + seconds));
  };
  rest(3);
  const auto before = counters_of(place_);
  rest(3);
  const auto after = counters_of(place_);
  for (const char* name : {"nvme_puts", "nvme_writes", "nvme_written_payloads", "nvme_written_moves"})
    EXPECT_EQ(after.at(name), before.at(name)) << name;
}

// The size that a store was made with counts, whatever the setting says afterwards.
TEST_F(Nvme, each_path_says_its_own_segment_size_and_what_start_was_cold) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(status_has("start        cold start of host memory: no earlier instance left it")) << said();
  end();
  place_.write_config("nvme:\n  segment_bytes: 16MiB\n  headroom: 1MiB\n  paths:\n    - {dir: " +
                      folder("a") + ", bytes: 129MiB}\n");
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(status_has(" segments of 8 MiB free")) << said();
  EXPECT_EQ(kvctl({"--json", "status"}), 0);
  EXPECT_NE(said().find("\"segment_bytes\":8388608"), std::string::npos) << said();
}

TEST_F(Nvme, after_a_kill_what_was_flushed_is_found) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save(client, 0, 16));
    EXPECT_TRUE(counter_reaches("nvme_flushes", 1));
  }
  daemon_->signal(SIGKILL);
  daemon_->wait();
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(counter_reaches("nvme_recovered_blocks", 500)) << said();
  EXPECT_TRUE(counter_reaches("nvme_recovered_scans", 1));
}

TEST_F(Nvme, a_path_that_is_missing_is_said_and_the_other_serves) {
  configure({place_.file("missing"), folder("a")});
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find(place_.file("missing") + " is left out: nvme.paths[0]: "), std::string::npos)
      << said();
  EXPECT_NE(said().find("make the folder (mkdir -p " + place_.file("missing")), std::string::npos) << said();
  EXPECT_NE(said().find(place_.file("a") + " ok"), std::string::npos) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
}

// A path that nobody names any more has blocks that nobody finds.
TEST_F(Nvme, F07_a_path_that_the_settings_left_out_is_said_until_it_is_back) {
  configure({folder("a"), folder("b")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  end();
  configure({place_.file("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("has a path that nvme.paths does not name"), std::string::npos) << said();
  EXPECT_TRUE(output_comes_to("an NVMe path is missing")) << place_.output();
  end();
  configure({place_.file("a"), place_.file("nowhere")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_EQ(said().find("does not name"), std::string::npos)
      << "it may be the one that is left out: " << said();
  end();
  configure({place_.file("a"), place_.file("b")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  end();
  const std::string give_up = "  missing: give_up\n";
  configure({place_.file("a"), place_.file("nowhere")}, give_up);
  ASSERT_TRUE(start_small()) << place_.output();
  end();
  configure({place_.file("a"), place_.file("b")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << "nothing is given up while one that is named does not open: " << said();
  end();
  configure({place_.file("a")}, give_up);
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_TRUE(output_comes_to("are given up")) << place_.output();
  end();
  configure({place_.file("a"), place_.file("b")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("it was given up (nvme.missing: give_up)"), std::string::npos) << said();
  end();
  std::filesystem::remove(place_.file("b") + "/kvtier.data");
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << "it begins as an empty path, as the refusal says: " << said();
}

// A typing error takes no more of the file system than there is to give, and says so.
TEST_F(Nvme, a_path_that_cannot_be_so_large_is_said_with_what_to_do) {
  place_.write_config("nvme:\n  headroom: 900TiB\n  segment_bytes: 8MiB\n  paths:\n    - {dir: " +
                      folder("a") + ", bytes: 1000TiB}\n");
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("lower nvme.headroom"), std::string::npos) << said();
  EXPECT_FALSE(std::filesystem::exists(place_.file("a") + "/kvtier.data")) << "nothing is left behind";
}

TEST_F(Nvme, without_any_path_the_daemon_serves_from_memory) {
  configure({place_.file("missing")});
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("tier nvme    refused"), std::string::npos) << said();
  EXPECT_EQ(said().find("depth 0"), std::string::npos) << "nothing that is not there: " << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
}

// Nobody is told that blocks are gone for good while the disk that has them is away.
TEST_F(Nvme, what_is_invalidated_without_any_path_may_come_back_and_that_is_said) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save_all(client));
  }
  end();
  std::filesystem::rename(place_.file("a"), place_.file("away"));
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    EXPECT_EQ(kvc_invalidate_namespace(client.client(), kPatienceNs, nullptr), KVC_UNAVAILABLE);
    EXPECT_NE(std::string(kvc_last_error()).find("NVMe tier"), std::string::npos) << kvc_last_error();
    EXPECT_EQ(client.store(99, 0, 4), 4U);
  }
  EXPECT_EQ(kvctl({"flush", "--all", "--disk"}), 2) << said();
  EXPECT_NE(said().find("a restart may bring them back"), std::string::npos) << said();
  end();
  std::filesystem::rename(place_.file("away"), place_.file("a"));
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  EXPECT_EQ(kvc_invalidate_namespace(client.client(), kPatienceNs, nullptr), KVC_OK) << kvc_last_error();
}

// What stays on disk is said; --disk takes it away, and no restart brings it back.
TEST_F(Nvme, evict_and_flush_say_what_stays_on_disk_and_remove_it_for_good) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_NO_FATAL_FAILURE(save(client, 0, 16));
  ASSERT_EQ(kvctl({"flush", "--namespace", "default"}), 0) << said();
  EXPECT_NE(said().find(" on disk: --disk removes them too"), std::string::npos) << said();
  const std::string key = key_text(3, 0);
  ASSERT_EQ(kvctl({"--json", "evict", key}), 0) << said();
  EXPECT_NE(said().find("\"on_disk\":64"), std::string::npos) << said();
  ASSERT_EQ(kvctl({"--json", "evict", "--disk", key}), 0) << said();
  EXPECT_NE(said().find("\"evicted\":64,\"kept\":0"), std::string::npos) << said();
  EXPECT_NE(said().find("\"on_disk\":0"), std::string::npos) << said();
  daemon_->signal(SIGKILL);
  daemon_->wait();
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(counter_reaches("disk_recovered", 300));
  EXPECT_EQ(kvctl({"inspect", key}), 3) << said();
  ASSERT_EQ(kvctl({"flush", "--namespace", "default", "--disk"}), 0) << said();
  EXPECT_NE(said().find("none kept\n"), std::string::npos) << said();
  daemon_->signal(SIGKILL);
  daemon_->wait();
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"--json", "ls"}), 0) << said();
  EXPECT_EQ(said().find("\"key\""), std::string::npos) << said();
}

// Blocks that were never saved are gone when they are evicted: that is said where there is a disk to think of.
TEST_F(Nvme, evict_says_which_blocks_had_no_copy_on_disk) {
  write_policy_ = "back";  // nothing is saved before somebody needs the room
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_EQ(client.store(1, 0, 10), 10U);
  ASSERT_EQ(kvctl({"evict", key_text(1, 5)}), 0) << said();
  EXPECT_NE(said().find("5 blocks evicted, none kept; 5 of them had no copy on disk: gone for good\n"),
            std::string::npos)
      << said();
}

// What a cold block looks like; and blocks whose spec is lost are not given up in silence.
TEST_F(Nvme, cold_blocks_are_listed_as_such_and_lost_spaces_are_said) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save(client, 0, 16));
  }
  ASSERT_EQ(kvctl({"flush", "--all"}), 0) << said();
  EXPECT_EQ(kvctl({"ls", "--state", "cold"}), 0) << said();
  EXPECT_NE(said().find(" cold "), std::string::npos) << said();
  EXPECT_EQ(kvctl({"inspect", key_text(3, 0)}), 0) << said();
  EXPECT_NE(said().find("on disk only"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"stat", "nosuch"}), 3) << said();
  EXPECT_NE(said().find("no counter begins with nosuch"), std::string::npos) << said();
  end();
  for (const std::string content :
       {"", "garbage, as a text editor may leave it behind, and long enough for a header"}) {
    std::ofstream(place_.file("a") + "/kvtier.spaces", std::ios::trunc) << content;
    ASSERT_TRUE(start_small()) << place_.output();
    EXPECT_EQ(kvctl({"status"}), 1) << said();
    EXPECT_NE(said().find("kvtier.spaces is empty or damaged"), std::string::npos) << said();
    EXPECT_NE(place_.output().find("an NVMe path lost spaces"), std::string::npos) << place_.output();
    end();
  }
}

// whatever became of the file of spaces, blocks that nobody can name any more are counted, said, and not lost for
// whoever has a good copy.
TEST_F(Nvme, R04_blocks_of_spaces_that_a_damaged_file_does_not_name_are_said_and_can_be_had_back) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save(client, 0, 4));
  }
  end();
  const std::string spaces = place_.file("a") + "/kvtier.spaces";
  std::filesystem::copy_file(spaces, place_.file("good"));
  const auto damage = [&](std::uint64_t bytes) {
    std::filesystem::copy_file(place_.file("good"), spaces,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(spaces, bytes);
  };
  for (const std::uint64_t bytes :
       {std::filesystem::file_size(spaces) - 4, std::uintmax_t{100}, std::uintmax_t{64}}) {
    damage(bytes);
    ASSERT_TRUE(start_small()) << place_.output();
    EXPECT_EQ(kvctl({"status"}), 1) << said();
    EXPECT_NE(said().find("256 blocks on disk, 16 MiB, cannot be used: no kvtier.spaces names"),
              std::string::npos)
        << said();
    EXPECT_EQ(said().find(spaces + ".damaged") != std::string::npos, bytes != 64) << said();
    EXPECT_TRUE(output_comes_to("blocks on disk are of unknown spaces"));
    EXPECT_TRUE(output_comes_to("unknown=256"));
    end();
  }
  damage(std::filesystem::file_size(place_.file("good")));
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_TRUE(counter_reaches("disk_recovered", 256));
  EXPECT_TRUE(output_comes_to("the NVMe tier is recovered"));
  CacheClient client({.socket = place_.socket()});
  EXPECT_EQ(read_all(client), 256U);
}

// The file of another store: it is left alone, and says why.
TEST_F(Nvme, a_store_that_lies_elsewhere_is_refused_and_untouched) {
  configure({folder("a")});
  ASSERT_TRUE(start()) << place_.output();
  end();
  std::filesystem::copy(place_.file("a"), place_.file("copy"), std::filesystem::copy_options::recursive);
  configure({place_.file("copy")});
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("it may be a copy"), std::string::npos) << said();
  EXPECT_NE(said().find(place_.file("copy") + ": its file was made elsewhere"), std::string::npos) << said();
  EXPECT_NE(said().find("then restart kvtierd"), std::string::npos) << said();
  EXPECT_NE(said().find(place_.file("copy") + " refused ("), std::string::npos) << said();
  EXPECT_EQ(said().find(" segments of "), std::string::npos) << "none was looked at: " << said();
  EXPECT_TRUE(eventually([&] {  // the log says it too
    return place_.output().find("error   the NVMe tier stays shut") != std::string::npos;
  })) << place_.output();
  end();
  configure({place_.file("copy")}, "  home: moved\n");
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
}

// Of a file that was cut from outside blocks are gone: said by log and status, and by the next start no more.
TEST_F(Nvme, D11_the_end_of_a_file_that_is_gone_is_said) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  end();
  std::filesystem::resize_file(place_.file("a") + "/kvtier.data", 40 << 20);
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("lost the last 89 MiB of its file, and the blocks there"), std::string::npos)
      << said();
  EXPECT_NE(place_.output().find("NVMe path lost the end of its file"), std::string::npos) << place_.output();
  end();
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  end();
}

// Another program's file was cut to the path's size, or grew to it, and then refused with "Nothing was changed".
TEST_F(Nvme, D15_another_programs_file_keeps_its_size_whatever_home_says) {
  for (const char* home : {"  home: refuse\n", "  home: fresh\n"}) {
    for (const std::uintmax_t bytes : {std::uintmax_t{15}, std::uintmax_t{300} << 20}) {
      const std::string file = folder("a") + "/kvtier.data";
      std::ofstream(file, std::ios::trunc) << "another program";
      std::filesystem::resize_file(file, bytes);
      configure({folder("a"), folder("b")}, home);
      ASSERT_TRUE(start_small()) << place_.output();
      EXPECT_TRUE(status_comes_to("no store of this program. Nothing was changed")) << said();
      end();
      EXPECT_EQ(std::filesystem::file_size(file), bytes);
      EXPECT_TRUE(std::filesystem::is_empty(place_.file("b"))) << "neither data nor spaces nor lock";
    }
  }
}

// At every start it emptied the store that the start before had made.
TEST_F(Nvme, D15_home_fresh_gives_up_a_copy_and_keeps_a_store_at_home) {
  configure({folder("a")}, "  home: fresh\n");
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save(client, 0, 4));
  }
  end();
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(counter_reaches("nvme_recovered_blocks", 100)) << said();
  EXPECT_EQ(place_.output().find("begins anew"), std::string::npos) << place_.output();
  end();
  std::filesystem::copy(place_.file("a"), place_.file("copy"), std::filesystem::copy_options::recursive);
  configure({place_.file("copy")}, "  home: fresh\n", "100MiB");
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_NE(place_.output().find("NVMe path begins anew"), std::string::npos) << place_.output();
  EXPECT_TRUE(status_has("0 B used")) << said();
  EXPECT_EQ(counter("nvme_recovered_blocks"), 0U);
  end();
}

}  // namespace
}  // namespace kvtier::test
