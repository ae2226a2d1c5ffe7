#include "tools/traces/unpacking.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

namespace kvtier::sim {
namespace {

// 0 or the error of posix_spawnp.
int spawn_zstd(const std::string& path, int output, pid_t& pid) {
  const char* words[] = {"zstd", "-dcq", "--", path.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  const int error = ::posix_spawnp(&pid, words[0], &actions, nullptr, const_cast<char**>(words), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<Unpacking> Unpacking::start(const std::string& path) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::from_errno("pipe2", errno);
  UniqueFd output(ends[0]);
  const UniqueFd input(ends[1]);
  pid_t pid = -1;
  const int error = spawn_zstd(path, input.get(), pid);
  if (error == ENOENT)
    return Status(
        Code::kUnsupported,
        "there is no program zstd: install it (Debian package zstd), or unpack the file and name that");
  if (error != 0) return Status::from_errno("posix_spawnp zstd", error);
  return Unpacking(std::move(output), pid);
}

Unpacking::Unpacking(Unpacking&& other) noexcept
    : output_(std::move(other.output_)), pid_(std::exchange(other.pid_, -1)) {}

Unpacking::~Unpacking() {
  (void)finish();
}

Status Unpacking::finish() {
  output_ = UniqueFd();
  if (pid_ < 0) return Status::ok();
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  const bool is_our_end = WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
  if (is_our_end || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) return Status::ok();
  return {Code::kInvalid, "zstd could not unpack it"};
}

}  // namespace kvtier::sim
