#include "tools/kvbench/support/run_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {
namespace {

[[noreturn]] void exec_program(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::dup2(output, STDOUT_FILENO);
  ::execvp(words[0], words.data());
  ::_exit(127);
}

}  // namespace

std::string run_program(const std::vector<std::string>& command) {
  int ends[2];
  need(::pipe(ends) == 0, "pipe failed");
  const pid_t pid = ::fork();
  need(pid >= 0, "fork failed");
  if (pid == 0) exec_program(command, ends[1]);
  ::close(ends[1]);
  std::string text;
  char piece[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  need(WIFEXITED(status) && WEXITSTATUS(status) == 0, command[0] + " failed");
  return text;
}

std::string own_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
}

}  // namespace kvtier::bench
