#pragma once
// A directory of one test's own, removed with it.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace kvtier::test {

class ScratchDir {
 public:
  ScratchDir() {
    std::string text = (std::filesystem::temp_directory_path() / "kvtier-test-XXXXXX").string();
    path_ = ::mkdtemp(text.data());
  }
  ~ScratchDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (error)
      std::fprintf(stderr, "%s stays: %s; does a process still use it?\n", path_.c_str(),
                   error.message().c_str());
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kvtier::test
