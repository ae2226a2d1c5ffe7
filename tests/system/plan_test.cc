// kvctl plan as a program, with no daemon anywhere: figures, files, tiers, and what it says of what is wrong.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/scratch_dir.h"
#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr int kFailed = 3;
constexpr int kUsage = 64;

class KvctlPlan : public testing::Test {
 protected:
  /// Its exit status; out() and said() are its standard output and error.
  int plan(const Words& words) {
    Words command = {
        "/bin/sh",           "-c",  R"(out=$0; exec "$@" >"$out")", out_, program("kvctl"), "--socket",
        dir_.file("nobody"), "plan"};
    command.insert(command.end(), words.begin(), words.end());
    return ChildProcess({.command = command, .environment = {}, .output_path = said_}).wait();
  }
  Json plan_json(Words words) {
    words.emplace_back("--json");
    EXPECT_EQ(plan(words), 0) << said();
    return Json::parse(out(), nullptr, false);
  }
  void expect_refusal(const Words& words, int status, const std::string& says) {
    EXPECT_EQ(plan(words), status) << said();
    EXPECT_TRUE(said().starts_with("kvctl: ")) << said();
    EXPECT_NE(said().find(says), std::string::npos) << says << "\n" << said();
    EXPECT_EQ(out(), "");
  }
  [[nodiscard]] std::string out() const { return read_file(out_); }
  [[nodiscard]] std::string said() const { return read_file(said_); }
  std::string write(const std::string& name, std::string_view text) {
    std::ofstream(dir_.file(name), std::ios::binary)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
    return dir_.file(name);
  }

  ScratchDir dir_;
  const std::string out_ = dir_.file("out");
  const std::string said_ = dir_.file("said");
  const Words llama_ = {"--layers", "80", "--kv-heads", "8", "--head-dim", "128", "--tokens", "131072"};
};

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json row_of(const Json& rows, std::string_view tier, std::string_view codec) {
  for (const Json& row : rows) {
    if (row["tier"] == tier && row["codec"] == codec) return row;
  }
  return {};
}

// 2 x 80 x 64 x 131,072 x 128 x 2; 8,192 blocks of 40 MiB.
TEST_F(KvctlPlan, the_figure_of_eighty_layers_and_64_heads) {
  const Json plan = plan_json({"--layers", "80", "--kv-heads", "64", "--tokens", "131072", "--head-dim",
                               "128", "--dtype", "fp16", "--batch", "1"});
  EXPECT_EQ(plan["bytes"], 343'597'383'680U);
  EXPECT_EQ(plan["slot_bytes"], 343'597'383'680U);
  EXPECT_EQ(plan["blocks"], 8192U);
  EXPECT_EQ(plan["block"]["slot_bytes"], 40U << 20);
  EXPECT_EQ(plan["block"]["record_bytes"], (40U << 20) + 4096);
  EXPECT_EQ(plan_json(llama_)["bytes"], 40ULL << 30);
}

// 17 tokens are two blocks; a slot of 2 x 3 x 1 x 5 x 16 x 2 = 960 bytes is a page.
TEST_F(KvctlPlan, slots_are_whole_blocks_in_whole_pages) {
  const Json plan =
      plan_json({"--layers", "3", "--kv-heads", "1", "--head-dim", "5", "--tokens", "17", "--batch", "2"});
  EXPECT_EQ(plan["bytes"], 2U * 3 * 5 * 17 * 2 * 2);
  EXPECT_EQ(plan["blocks"], 4U);
  EXPECT_EQ(plan["slot_bytes"], 4U * 4096);
  EXPECT_EQ(plan["block"]["bytes"], 960U);
}

TEST_F(KvctlPlan, windows_and_latent_rows_by_flags) {
  const Json windows = plan_json({"--layers", "26", "--kv-heads", "4", "--head-dim", "256", "--tokens",
                                  "8192", "--window", "4096", "--window-layers", "13"});
  EXPECT_EQ(windows["bytes"], 13ULL * 4096 * (8192 + 4096));
  EXPECT_EQ(windows["bytes_without_windows"], 26ULL * 4096 * 8192);
  const Json latent = plan_json({"--layers", "61", "--kv-heads", "1", "--head-dim", "576", "--value-dim", "0",
                                 "--tokens", "1", "--dtype", "bf16"});
  EXPECT_EQ(latent["bytes"], 70'272U);
}

TEST_F(KvctlPlan, a_model_is_a_file_or_its_folder) {
  const std::string config = write("config.json", R"({"model_type": "llama", "torch_dtype": "bfloat16",
    "hidden_size": 8192, "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8,
    "max_position_embeddings": 131072})");
  for (const std::string& path : {config, config.substr(0, config.rfind('/'))}) {
    const Json plan = plan_json({path});
    EXPECT_EQ(plan["bytes"], 40ULL << 30);
    EXPECT_EQ(plan["dtype"], "bf16");
    EXPECT_EQ(plan["tokens"], 131'072U) << "what the model was made for";
    EXPECT_EQ(plan["model"]["source"], config);
  }
  EXPECT_EQ(plan_json({config, "--tokens", "1", "--dtype", "q8_0"})["bytes"], 2U * 80 * 8 * 136);
}

// The tiers of a configuration, and what flags change of them. Blocks of 5 MiB: 3 in a slab of 16 MiB.
TEST_F(KvctlPlan, tiers_come_from_the_configuration) {
  const Json defaults = plan_json(llama_)["tiers"];
  EXPECT_EQ(row_of(defaults, "host", "raw")["blocks"], 64U * 3);
  EXPECT_TRUE(row_of(defaults, "nvme", "raw").is_null());
  const std::string config =
      write("kvtierd.yaml",
            "host: {bytes: 2GiB, slab_bytes: 64MiB}\n"
            "nvme:\n  write_budget_bytes_per_day: 1TB\n  paths:\n"
            "    - {dir: /var/lib/a, bytes: 100GiB}\n    - {dir: /var/lib/b, bytes: 100GiB}\n");
  const Json tiers = plan_json(llama_ + Words{"--config", config})["tiers"];
  EXPECT_EQ(row_of(tiers, "host", "raw")["blocks"], 32U * 12);
  // 398 segments of 256 MiB a path, 51 records of 5 MiB and a page in each.
  const Json disk = row_of(tiers, "nvme", "raw");
  EXPECT_EQ(disk["blocks"], 2U * 398 * 51);
  EXPECT_EQ(disk["tokens"], 2U * 398 * 51 * 16);
  EXPECT_EQ(disk["sequences"], 2U * 398 * 51 / 8192);
  // Three quarters of 1 TB a day are for new blocks: 8,192 of 5,246,976 + 120 bytes.
  EXPECT_NEAR(disk["write_budget_seconds"].get<double>(), 8192.0 * 5'247'096 * 86'400 / 750e9, 1e-6);
  EXPECT_EQ(disk["in_build"], true);
  EXPECT_EQ(row_of(tiers, "nvme", "i8t")["in_build"], false);
  const Json flags =
      plan_json(llama_ + Words{"--config", config, "--host-bytes", "4GiB", "--nvme-bytes", "0", "--gpu-bytes",
                               "80GiB", "-s", "host.slab_bytes=128MiB"})["tiers"];
  EXPECT_EQ(row_of(flags, "host", "raw")["blocks"], 32U * 25);
  EXPECT_TRUE(row_of(flags, "nvme", "raw").is_null());
  EXPECT_EQ(row_of(flags, "gpu", "raw")["blocks"], 80U * 1024 / 5);
  EXPECT_EQ(row_of(flags, "gpu", "raw")["in_build"], false);
}

TEST_F(KvctlPlan, people_are_told_both_units_and_what_is_not_there_yet) {
  ASSERT_EQ(plan(llama_ + Words{"--dtype", "bf16", "--nvme-bytes", "100GiB"}), 0) << said();
  for (const char* text :
       {"bytes       42949672960 (40 GiB, 42.95 GB), 320 KiB a token", "8192 slots of 16 tokens",
        "not yet in this build", "bound", "lossless: at most the raw bytes", "no limit"})
    EXPECT_NE(out().find(text), std::string::npos) << text << "\n" << out();
}

TEST_F(KvctlPlan, what_is_missing_or_contradicts_is_usage) {
  expect_refusal({}, kUsage, "name a MODEL (GGUF file, config.json or its folder), or give --layers");
  expect_refusal({"--layers", "80", "--kv-heads", "8", "--head-dim", "128"}, kUsage, "--tokens is needed");
  expect_refusal({"--layers", "80", "--tokens", "1"}, kUsage, "--kv-heads");
  expect_refusal(llama_ + Words{"--window", "5"}, kUsage, "--window and --window-layers go together");
  expect_refusal(llama_ + Words{"--window", "5", "--window-layers", "81"}, kUsage, "at most all --layers");
  expect_refusal(llama_ + Words{"--dtype", "fp12"}, kUsage, "--dtype: \"fp12\" is no dtype");
  expect_refusal(llama_ + Words{"--read-as", "llama"}, kUsage, "--read-as goes with a MODEL");
  expect_refusal(llama_ + Words{"--block-tokens", "4097"}, kUsage, "--block-tokens");
  expect_refusal(llama_ + Words{"--gpu-bytes", "80"}, kUsage, "--gpu-bytes: \"80\": needs a unit");
  expect_refusal(llama_ + Words{"--nvme-bytes", "1GiB"}, kUsage, "no room for 4 segments");
  const std::string config =
      write("config.json", R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 1,
    "num_hidden_layers": 1, "max_position_embeddings": 8})");
  expect_refusal({config}, kUsage, "has no dtype or torch_dtype; give --dtype");
  expect_refusal({config, "--layers", "3"}, kUsage, "not both");
}

TEST_F(KvctlPlan, figures_beyond_64_bits_are_refused) {
  const std::string most = "18446744073709551615";
  for (const Words& words : {Words{"--kv-heads", "8", "--head-dim", "128", "--tokens", most},
                             Words{"--kv-heads", most, "--head-dim", most, "--tokens", "1"},
                             Words{"--kv-heads", "8", "--head-dim", "128", "--tokens", "8", "--batch", most}})
    expect_refusal(Words{"--layers", "80"} + words, kFailed, "more than 2^64 - 1 bytes");
  // The bytes fit, the slots of it, a page for 4 bytes, do not.
  expect_refusal({"--layers", "1", "--kv-heads", "1", "--head-dim", "1", "--tokens", "1", "--batch",
                  "4611686018427387903"},
                 kFailed, "the slots of this workload: more than 2^64 - 1 bytes");
  expect_refusal(
      {"--layers", "80", "--kv-heads", "128", "--head-dim", "512", "--tokens", "1", "--block-tokens", "4096"},
      kFailed, "lower --block-tokens");
}

TEST_F(KvctlPlan, files_that_cannot_be_planned_with_say_why) {
  expect_refusal({dir_.file("none")}, kFailed, "No such file or directory; name a GGUF file");
  expect_refusal({write("text", "hello")}, kFailed, "it is no JSON");
  expect_refusal({write("new.json", R"({"model_type": "new\u001b[31m"})")}, kFailed,
                 "model_type \"new?[31m\" is not known");
  expect_refusal({write("cut.gguf", "GGUF\x03")}, kFailed, "the file is cut or damaged");
  expect_refusal(llama_ + Words{"--config", write("bad.yaml", "host: {byte: 1GiB}\nlog: {level: loud}\n")},
                 kFailed, "did you mean host.bytes?");
  EXPECT_NE(said().find("log.level"), std::string::npos) << "every mistake: " << said();
  expect_refusal(llama_ + Words{"--config", dir_.file("none.yaml")}, kFailed, "none.yaml");
  EXPECT_EQ(plan({dir_.file("none"), "--json"}), kFailed);
  EXPECT_EQ(Json::parse(out(), nullptr, false)["error"]["code"], "not_found");
}

}  // namespace
}  // namespace kvtier::test
