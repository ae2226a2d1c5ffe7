// Which kind of file it is, and files that are none.

#include "tools/planner/model_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/scratch_dir.h"
#include "tests/unit/planner/gguf_bytes.h"
#include "tests/unit/planner/shapes.h"

namespace kvtier::test {
namespace {

constexpr std::string_view kConfig =
    R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32})";

class ModelFile : public testing::Test {
 protected:
  std::string write(const std::string& name, std::string_view bytes) {
    const std::string path = dir_.path() + "/" + name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  static std::string refusal(const std::string& path) {
    const Result<plan::KvModel> model = plan::read_model_file(path, "");
    return model.is_ok() ? "" : model.status().to_string();
  }

  ScratchDir dir_;
};

TEST_F(ModelFile, AConfigOrItsFolder) {
  const std::string path = write("config.json", kConfig);
  EXPECT_EQ(plan::read_model_file(path, "").value().source, path);
  EXPECT_EQ(plan::read_model_file(dir_.path(), "").value().source, path);
}

TEST_F(ModelFile, AGgufFileIsToldByItsMagicNotItsName) {
  GgufBytes file;
  file.text("general.architecture", "llama").u32("llama.block_count", 2).u32("llama.attention.head_count", 2);
  file.u32("llama.embedding_length", 128);
  const std::string path = write("model.bin", file.bytes() + std::string(200'000, 't'));
  EXPECT_EQ(plan::read_model_file(path, "").value().groups[0].layers.size(), 2U);
}

TEST_F(ModelFile, WhatIsNoneIsSaidWithItsPath) {
  EXPECT_NE(refusal(dir_.path() + "/none").find("not_found"), std::string::npos);
  EXPECT_NE(refusal(dir_.path()).find("/config.json"), std::string::npos) << "a folder without one";
  EXPECT_NE(refusal(write("empty", "")).find("it is no JSON"), std::string::npos);
  EXPECT_NE(refusal(write("text", "GG")).find("it is no JSON"), std::string::npos);
  EXPECT_NE(refusal(write("cut", "GGUF")).find("the file is cut or damaged"), std::string::npos);
  EXPECT_NE(refusal(write("large", std::string(9 << 20, '{'))).find("no config.json"), std::string::npos);
  EXPECT_NE(refusal("/dev/null").find("no regular file"), std::string::npos);
  const std::string pipe = dir_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(refusal(pipe).find("no regular file"), std::string::npos) << "and nobody is waited for";
}

// A file of terabytes that is a hole costs nothing.
TEST_F(ModelFile, ASparseFileIsNotReadThrough) {
  const std::string path = write("sparse", "GGUF" + le32(3) + le64(0) + le64(60'000));
  std::filesystem::resize_file(path, 1ULL << 40);
  EXPECT_NE(refusal(path).find("is empty or longer than"), std::string::npos) << refusal(path);
}

}  // namespace
}  // namespace kvtier::test
