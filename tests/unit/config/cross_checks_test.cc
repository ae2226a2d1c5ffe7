#include "daemon/config/cross_checks.h"

#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kGi = 1ULL << 30;

MemoryLimits limits_of(std::uint64_t available) {
  return {64 * kGi, available, "MemAvailable of the host", false, 0};
}

std::shared_ptr<const Config> config_with(const std::string& bytes) {
  return load_text("", {"host.bytes=" + bytes, "host.headroom=1GiB"}).config;
}

TEST(CrossChecks, SlabsAgainstHostBytes) {
  EXPECT_TRUE(
      has(errors_of("host:\n  bytes: 1GiB\n  slab_bytes: 2GiB\n"), "2 GiB is more than host.bytes, 1 GiB"));
  EXPECT_TRUE(has(errors_of("host:\n  bytes: 5GiB\n  slab_bytes: 2GiB\n"),
                  "t.yaml:2: host.bytes: 5 GiB is no multiple of host.slab_bytes, 2 GiB; write 4GiB"));
  EXPECT_TRUE(has(errors_of("host:\n  bytes: 3MiB\n"), "out of range"));
  EXPECT_TRUE(has(errors_of("host:\n  bytes: 33MiB\n  slab_bytes: 3MiB\n"),
                  "is no multiple of the page size, 2 MiB"));
  EXPECT_EQ(errors_of("host:\n  bytes: 33MiB\n  slab_bytes: 3MiB\n  huge_pages: off\n"), "");
}

// Sizes of powers of ten have a rest that is no page.
TEST(CrossChecks, HostBytesAreRoundedDownToWholePages) {
  const ConfigLoad load = load_text("host:\n  bytes: 4GB\n");
  ASSERT_TRUE(load.is_ok()) << to_string(load.errors);
  EXPECT_EQ(load.config->host.bytes, 3'999'997'952U);
}

TEST(CrossChecks, GroupsAreThoseOfTheHost) {
  EXPECT_EQ(errors_of("socket_group: gpu\nadmin_group: \"44\"\n"), "");
  EXPECT_TRUE(has(errors_of("socket_group: ghosts\n"), "socket_group: \"ghosts\" is no group of this host"));
  EXPECT_TRUE(has(errors_of("admin_group: ghosts\n"), "admin_group: \"ghosts\" is no group of this host"));
}

// What the refusal advises fits.
TEST(CrossChecks, TablesCountBesideTheTier) {
  const ConfigLoad load = load_text("host:\n  bytes: 8GiB\n");
  ASSERT_TRUE(load.is_ok());
  const std::uint64_t tables = table_bytes(*load.config);
  EXPECT_GT(tables, 8 * kGi / (64 << 10) * 269);
  EXPECT_TRUE(check_memory_fits(*load.config, limits_of(9 * kGi), {tables, 0}).is_ok());
  const Status refused = check_memory_fits(*load.config, limits_of(8 * kGi + (256 << 20)), {tables, 0});
  EXPECT_TRUE(has(refused.message(), "set host.bytes to at most 8128MiB")) << tables;
  const ConfigLoad sized = load_text("host:\n  bytes: 8GiB\nindex:\n  blocks_max: 1000000\n");
  EXPECT_GT(table_bytes(*sized.config), 269'000'000U);
}

// No 32-bit and no floating-point number on the way: sizes beyond 512 GiB are exact.
TEST(CrossChecks, P10_LargeTiersAreExact) {
  for (const std::uint64_t gib : {512ULL, 600ULL, 2048ULL}) {
    for (const std::uint64_t pages : {0ULL, 1ULL}) {
      const std::uint64_t bytes = gib * kGi + pages * 4096;
      const ConfigLoad load = load_text("host:\n  bytes: " + std::to_string(bytes) + "B\n  headroom: 1GiB\n");
      ASSERT_TRUE(load.is_ok()) << to_string(load.errors);
      EXPECT_EQ(load.config->host.bytes, bytes);
      EXPECT_TRUE(check_memory_fits(*load.config, limits_of(bytes + kGi), {0, 0}).is_ok());
      EXPECT_FALSE(check_memory_fits(*load.config, limits_of(bytes + kGi - 4096), {0, 0}).is_ok());
    }
  }
}

TEST(CrossChecks, P10_MoreSlabsThanALocatorCanNameAreRefusedHereAndNotAtTheStart) {
  EXPECT_TRUE(has(errors_of("host:\n  bytes: 2TiB\n  slab_bytes: 64MiB\n"),
                  "64 MiB makes 32768 slabs of host.bytes, 2 TiB; at most 16384; write 128MiB"));
  EXPECT_EQ(errors_of("host:\n  bytes: 2TiB\n  slab_bytes: 128MiB\n"), "");
}

TEST(CrossChecks, SocketsDiffer) {
  EXPECT_TRUE(
      has(errors_of("socket: /a\nadmin_socket: /a\n"), "t.yaml:2: admin_socket: is the same path as socket"));
}

TEST(CrossChecks, Namespaces) {
  const ConfigLoad load = load_text("namespaces:\n  - {name: a, host_bytes_max: 2GiB}\n");
  EXPECT_TRUE(load.is_ok());
  EXPECT_TRUE(has(to_string(load.warnings), "less than host_bytes_max of namespace a, 2 GiB"));
  EXPECT_TRUE(has(errors_of("limits:\n  namespaces_max: 1\nnamespaces:\n  - {name: a}\n  - {name: b}\n"),
                  "1 is less than the namespaces listed, 2"));
}

// What is refused could store nothing; the advised value loads.
TEST(CrossChecks, AnIndexHoldsTheBlocksOfASlab) {
  EXPECT_TRUE(has(errors_of("host:\n  bytes: 64MiB\nindex:\n  blocks_max: 4095\n"),
                  "t.yaml:4: index.blocks_max: 4095 is less than the 4096 blocks that one slab may hold "
                  "(host.slab_bytes, chosen from host.bytes, is 16 MiB, the smallest slot 4 KiB)"));
  EXPECT_EQ(errors_of("host:\n  bytes: 64MiB\nindex:\n  blocks_max: 4096\n"), "");
  EXPECT_TRUE(
      has(errors_of("host:\n  bytes: 64MiB\n  slab_bytes: 2MiB\nindex:\n  blocks_max: 100\n"),
          "(host.slab_bytes is 2 MiB, the smallest slot 4 KiB): specs of small blocks would store nothing; "
          "write at least 512, or 0, or lower host.slab_bytes"));
  EXPECT_EQ(errors_of("host:\n  bytes: 64MiB\n  slab_bytes: 2MiB\nindex:\n  blocks_max: 512\n"), "");
}

TEST(CrossChecks, ANamespaceMayHoldASlab) {
  const std::string tier = "host:\n  bytes: 64MiB\nnamespaces:\n  - name: a\n    host_bytes_max: ";
  EXPECT_TRUE(
      has(errors_of(tier + "4MiB\n"),
          "t.yaml:4: namespaces.a.host_bytes_max: 4 MiB is less than one slab (host.slab_bytes, chosen "
          "from host.bytes, is 16 MiB): the namespace could store nothing; write at least 16MiB"));
  EXPECT_EQ(errors_of(tier + "16MiB\n"), "");
  EXPECT_EQ(errors_of(tier + "0\n"), "");
  EXPECT_EQ(errors_of(tier + "4MiB\n", {"host.slab_bytes=4MiB"}), "");
}

TEST(CrossChecks, U01RefusalHasNeededAvailableAndKnob) {
  const Status status = check_memory_fits(*config_with("5GiB"), limits_of(4 * kGi), {kGi / 2, 0});
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_TRUE(
      has(status.message(), "needed 6.50 GiB (host.bytes 5 GiB + tables 512 MiB + host.headroom 1 GiB)"));
  EXPECT_TRUE(has(status.message(), "available 4 GiB (MemAvailable of the host)"));
  EXPECT_TRUE(has(status.message(), "set host.bytes to at most 2560MiB, or lower host.headroom"));
}

TEST(CrossChecks, U01TheSuggestionFits) {
  EXPECT_TRUE(check_memory_fits(*config_with("2.5GiB"), limits_of(4 * kGi), {kGi / 2, 0}).is_ok());
}

TEST(CrossChecks, MemoryOfAnEarlierInstanceIsNotAskedForTwice) {
  EXPECT_FALSE(check_memory_fits(*config_with("5GiB"), limits_of(2 * kGi), {0, 0}).is_ok());
  EXPECT_TRUE(check_memory_fits(*config_with("5GiB"), limits_of(2 * kGi), {0, 5 * kGi}).is_ok());
}

// The knob that is wrong is named although the tables of that tier alone are more than there is.
TEST(CrossChecks, AFarTooLargeTierIsToldWhatFits) {
  const ConfigLoad load = load_text("host:\n  bytes: 10TiB\n");
  const std::uint64_t tables = table_bytes(*load.config);
  ASSERT_GT(tables, 16 * kGi);
  const Status refused = check_memory_fits(*load.config, limits_of(16 * kGi), {tables, 0});
  EXPECT_TRUE(has(refused.message(), "set host.bytes to at most 16016MiB"));
  const ConfigLoad advised = load_text("host:\n  bytes: 16016MiB\n");
  EXPECT_TRUE(
      check_memory_fits(*advised.config, limits_of(16 * kGi), {table_bytes(*advised.config), 0}).is_ok());
}

TEST(CrossChecks, U01AnIndexThatIsFarTooLargeIsTheKnobThatIsNamed) {
  const ConfigLoad load = load_text("host:\n  bytes: 1GiB\nindex:\n  blocks_max: 4294967296\n");
  const Status refused = check_memory_fits(*load.config, limits_of(16 * kGi), {table_bytes(*load.config), 0});
  EXPECT_TRUE(
      has(refused.message(), "; lower index.blocks_max, 4294967296, whose tables these are, to at most "))
      << refused.message();
  EXPECT_FALSE(has(refused.message(), "set host.bytes")) << refused.message();
  const std::size_t at = refused.message().rfind("at most ");
  const ConfigLoad advised =
      load_text("host:\n  bytes: 1GiB\nindex:\n  blocks_max: " + refused.message().substr(at + 8) + "\n");
  EXPECT_TRUE(
      check_memory_fits(*advised.config, limits_of(16 * kGi), {table_bytes(*advised.config), 0}).is_ok());
}

TEST(CrossChecks, AWrongSlabSizeHasOneProposal) {
  const std::string errors = errors_of("host:\n  bytes: 64MiB\n  slab_bytes: 3MiB\n");
  EXPECT_TRUE(has(errors, "no multiple of the page size, 2 MiB; write 4MiB"));
  EXPECT_EQ(errors.find('\n'), std::string::npos) << errors;
}

TEST(CrossChecks, SocketsDoNotFollowTheRuntimeDirectory) {
  const std::string one = to_string(load_text("runtime_dir: /r\nsocket: /r/s\n").warnings);
  EXPECT_TRUE(
      has(one, "runtime_dir: does not move admin_socket, which stays /run/kvtier/kvtierd-admin.sock"));
  EXPECT_EQ(one.find("does not move socket"), std::string::npos) << one;
  EXPECT_TRUE(load_text("runtime_dir: /r\nsocket: /r/s\nadmin_socket: /r/a\n").warnings.empty());
}

TEST(CrossChecks, NothingFitsAtAll) {
  const Status status = check_memory_fits(*config_with("5GiB"), limits_of(kGi / 2), {0, 0});
  EXPECT_TRUE(has(status.message(), "free memory, or lower host.headroom"));
}

}  // namespace
}  // namespace kvtier
