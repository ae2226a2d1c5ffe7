#include "tests/unit/io/in_child.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace kvtier::test {
namespace {

constexpr uid_t kNobody = 65534;
constexpr uid_t kFirstOfOurs = 1'000'000;

std::string failed(const char* call) {
  return std::string(call) + ": " + std::strerror(errno);
}

[[noreturn]] void report(int fd, const std::string& words) {
  const bool is_told = ::write(fd, words.data(), words.size()) == static_cast<ssize_t>(words.size());
  ::_exit(is_told ? 0 : 1);
}

std::string read_all(int fd) {
  std::string words;
  std::array<char, 512> buffer{};
  for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;)
    words.append(buffer.data(), static_cast<std::size_t>(count));
  return words;
}

}  // namespace

std::string in_child(const std::function<std::string()>& check) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return failed("pipe");
  const pid_t child = ::fork();
  if (child < 0) return failed("fork");
  if (child == 0) report(pipe[1], check());
  ::close(pipe[1]);
  std::string words = read_all(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return failed("waitpid");
  if (status != 0) words += " [the child ended with status " + std::to_string(status) + "]";
  return words;
}

std::string deny_calls(const std::vector<long>& numbers, int error_number) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number)));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("prctl");
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? "" : failed("seccomp");
}

std::string limit(int resource, std::uint64_t value) {
  const rlimit both{value, value};
  return ::setrlimit(static_cast<__rlimit_resource>(resource), &both) == 0 ? "" : failed("setrlimit");
}

// Threads and locked memory are counted per user: a user of its own, so that two tests at once do not share the limit.
std::string become_nobody() {
  if (::geteuid() != 0) return {};
  const uid_t own = kFirstOfOurs + static_cast<uid_t>(::getpid());
  if (::setresuid(own, own, own) == 0) return {};
  // A user namespace may map few users.
  return ::setresuid(kNobody, kNobody, kNobody) == 0 ? "" : failed("setresuid");
}

}  // namespace kvtier::test
