#include "tools/kvbench/support/trace_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {
namespace {

constexpr int kNoProgram = 127;  // as a shell says it

[[noreturn]] void exec_zstd(const char* path, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::dup2(output, STDOUT_FILENO);
  ::execlp("zstd", "zstd", "-dcq", "--", path, nullptr);
  ::_exit(kNoProgram);
}

}  // namespace

TraceFile::TraceFile(const std::string& path) : path_(path) {
  if (path == "-") {
    file_ = stdin;
    return;
  }
  need(::access(path.c_str(), R_OK) == 0, "cannot read the trace " + path + ": " + std::strerror(errno));
  if (path.ends_with(".zst")) {
    open_unpacked();
    return;
  }
  file_ = std::fopen(path.c_str(), "re");
  need(file_ != nullptr, "cannot open the trace " + path + ": " + std::strerror(errno));
}

TraceFile::~TraceFile() {
  if (file_ != nullptr && file_ != stdin) std::fclose(file_);
  if (child_ > 0) ::kill(child_, SIGTERM);
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
  std::free(line_);
}

void TraceFile::open_unpacked() {
  int ends[2];
  need(::pipe2(ends, O_CLOEXEC) == 0, "pipe failed");
  child_ = ::fork();
  need(child_ >= 0, "fork failed");
  if (child_ == 0) exec_zstd(path_.c_str(), ends[1]);
  ::close(ends[1]);
  file_ = ::fdopen(ends[0], "r");
  need(file_ != nullptr, "fdopen failed");
}

// At the end of its output: a trace that is cut short would measure something else.
void TraceFile::end_child() {
  if (child_ <= 0) return;
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  need(!WIFEXITED(status) || WEXITSTATUS(status) != kNoProgram,
       path_ +
           " is packed, and there is no program zstd: install it (Debian package zstd), or unpack the trace "
           "elsewhere and name the plain file");
  need(WIFEXITED(status) && WEXITSTATUS(status) == 0, "zstd could not unpack " + path_);
}

bool TraceFile::next(std::vector<std::uint64_t>& hash_ids) {
  const ssize_t length = ::getline(&line_, &capacity_, file_);
  if (length < 0) {
    end_child();
    return false;
  }
  ++line_number_;
  const nlohmann::json line = nlohmann::json::parse(line_, line_ + length, nullptr, false);
  const auto ids = line.is_object() ? line.find("hash_ids") : line.end();
  const bool is_request = line.is_object() && ids != line.end() && ids->is_array();
  const std::string where = path_ + ", line " + std::to_string(line_number_);
  need(is_request, where + ": no JSON object with a list hash_ids");
  hash_ids.clear();
  for (const nlohmann::json& id : *ids) {
    need(id.is_number_unsigned(), where + ": hash_ids are whole numbers from 0 on");
    hash_ids.push_back(id.get<std::uint64_t>());
  }
  return true;
}

}  // namespace kvtier::bench
