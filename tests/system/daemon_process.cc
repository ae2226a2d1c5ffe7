#include "tests/system/daemon_process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <sstream>

namespace kvtier::test {
namespace {

// Descriptors 3, 4, ... as sd_listen_fds expects them. First out of the way, so that none is overwritten.
void hand_over(const std::vector<std::pair<std::string, int>>& fds) {
  std::vector<int> high;
  std::string names;
  for (const auto& [name, fd] : fds) {
    high.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, 1000));
    names += (names.empty() ? "" : ":") + name;
  }
  for (std::size_t i = 0; i < high.size(); ++i) ::dup2(high[i], static_cast<int>(3 + i));
  ::setenv("LISTEN_FDS", std::to_string(fds.size()).c_str(), 1);
  ::setenv("LISTEN_FDNAMES", names.c_str(), 1);
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
}

std::string value_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + name.size() + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

[[noreturn]] void run_child(const ChildProcess::Options& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!options.output_path.empty()) {
    const int fd = ::open(options.output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(fd, 1);
    ::dup2(fd, 2);
  }
  for (const std::string& each : options.environment) ::putenv(const_cast<char*>(each.c_str()));
  if (!options.listen_fds.empty()) hand_over(options.listen_fds);
  const gid_t gid = options.groups.empty() ? options.uid : options.groups.front();
  if (options.uid != 0 && (::setgroups(options.groups.size(), options.groups.data()) != 0 ||
                           ::setgid(gid) != 0 || ::setuid(options.uid) != 0))
    ::_exit(126);
  std::vector<char*> argv;
  for (const std::string& each : options.command) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);
  if (options.before_exec) options.before_exec();
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

NotifySocket::NotifySocket(const std::string& path)
    : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  (void)::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  (void)::chmod(path.c_str(), 0777);
}

bool NotifySocket::take_one(int timeout_ms) {
  pollfd entry{socket_.get(), POLLIN, 0};
  if (::poll(&entry, 1, timeout_ms) <= 0) return false;
  std::array<char, 4096> text{};
  iovec vector{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0) return false;
  heard_.emplace_back(text.data(), static_cast<std::size_t>(length));
  UniqueFd fd;
  if (const cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr && part->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(part), sizeof number);
    fd.reset(number);
  }
  keep(heard_.back(), std::move(fd));
  return true;
}

void NotifySocket::keep(const std::string& text, UniqueFd fd) {
  if (text.find("FDSTOREREMOVE=1") != std::string::npos) stored_.erase(value_of(text, "FDNAME"));
  if (text.find("FDSTORE=1") != std::string::npos && fd.is_open())
    stored_.emplace(value_of(text, "FDNAME"), std::move(fd));
}

void NotifySocket::drain() {
  while (take_one(0)) {
  }
}

bool NotifySocket::has_heard(const std::string& what) const {
  return std::ranges::any_of(heard_,
                             [&](const std::string& text) { return text.find(what) != std::string::npos; });
}

bool NotifySocket::wait_for(const std::string& what, TimeNs timeout_ns) {
  const TimeNs deadline_ns = SystemClock().now_ns() + timeout_ns;
  while (true) {
    const TimeNs now_ns = SystemClock().now_ns();
    if (now_ns >= deadline_ns) return false;
    if (!take_one(static_cast<int>((deadline_ns - now_ns) / kNsPerMs) + 1)) continue;
    if (heard_.back().find(what) != std::string::npos) return true;
  }
}

bool pause_child(pid_t child) {
  ::kill(child, SIGSTOP);
  int status = 0;
  return ::waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
}

ChildProcess::ChildProcess(const Options& options) {
  pid_ = ::fork();
  if (pid_ == 0) run_child(options);
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

bool ChildProcess::is_running() {
  if (pid_ <= 0) return false;
  if (::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

int ChildProcess::wait() {
  if (pid_ > 0) ::waitpid(pid_, &status_, 0);
  pid_ = -1;
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

// 0755: clients under other uids reach the sockets, whose own modes are what is tested.
DaemonPlace::DaemonPlace() {
  ::chmod(dir_.path().c_str(), 0755);
}

std::string DaemonPlace::output() const {
  return read_file(dir_.file("output"));
}

std::vector<std::string> DaemonPlace::command(const std::vector<std::string>& more) const {
  std::vector<std::string> words = {program("kvtierd")};
  if (::access(dir_.file("config.yaml").c_str(), F_OK) == 0) {
    words.insert(words.end(), {"--config", dir_.file("config.yaml")});
  }
  std::vector<std::string> sets = {"runtime_dir=" + runtime_dir(), "socket=" + socket(),
                                   "admin_socket=" + admin_socket(), "host.bytes=32MiB", "host.headroom=0"};
  sets.insert(sets.end(), more.begin(), more.end());
  for (const std::string& each : sets) words.insert(words.end(), {"--set", each});
  return words;
}

std::unique_ptr<ChildProcess> DaemonPlace::launch(
    const std::vector<std::string>& command, const std::vector<std::string>& environment,
    const std::vector<std::pair<std::string, int>>& listen_fds) {
  std::vector<std::string> all = {"NOTIFY_SOCKET=" + dir_.file("notify")};
  all.insert(all.end(), environment.begin(), environment.end());
  return std::make_unique<ChildProcess>(ChildProcess::Options{
      .command = command, .environment = all, .output_path = dir_.file("output"), .listen_fds = listen_fds});
}

std::unique_ptr<ChildProcess> DaemonPlace::start(const std::vector<std::string>& more) {
  notify_.drain();
  std::unique_ptr<ChildProcess> daemon = launch(command(more));
  return notify_.wait_for("READY=1", kPatienceNs) ? std::move(daemon) : nullptr;
}

void DaemonPlace::write_config(const std::string& yaml) const {
  std::ofstream(dir_.file("config.yaml")) << yaml;
}

std::string program(const std::string& name) {
  return std::string(KVTIER_BIN_DIR) + "/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace kvtier::test
