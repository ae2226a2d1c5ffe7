#include "tools/kvbench/support/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "kvclient/kvclient.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/run_program.h"

namespace kvtier::bench {
namespace {

namespace fs = std::filesystem;
constexpr int kPatienceMs = 60'000;  // reserving a large pool touches every page
constexpr int kStepMs = 20;

std::string make_folder() {
  std::string path = (fs::temp_directory_path() / "kvbench-XXXXXX").string();
  need(::mkdtemp(path.data()) != nullptr, "mkdtemp " + path + " failed");
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[noreturn]] void exec_daemon(const std::vector<std::string>& command, const std::string& log, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(3);
  const int fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(fd, STDOUT_FILENO);
  ::dup2(fd, STDERR_FILENO);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(127);
}

bool answers(const std::string& socket) {
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = socket.c_str();
  options.flags = KVC_REQUIRE;
  kvc_client* client = nullptr;
  const bool is_open = kvc_client_open(&options, &client) == KVC_OK;
  kvc_client_close(client);
  return is_open;
}

}  // namespace

DaemonProcess::DaemonProcess(const DaemonOptions& options) : socket_(options.socket) {
  if (!socket_.empty()) return;
  folder_ = make_folder();
  socket_ = folder_ + "/kvtierd.sock";
  start(options);
  wait_until_ready();
}

DaemonProcess::~DaemonProcess() {
  stop();
}

void DaemonProcess::start(const DaemonOptions& options) {
  const std::string program = own_folder() + "/kvtierd";
  need(fs::exists(program), program + " is not there; build the target kvtierd, or name a --socket");
  std::vector<std::string> command{program};
  for (const std::string& setting :
       {"runtime_dir=" + folder_, "socket=" + socket_, "admin_socket=" + folder_ + "/kvtierd-admin.sock",
        "host.bytes=" + std::to_string(options.host_bytes) + "B", std::string("log.level=warn")}) {
    command.insert(command.end(), {"--set", setting});
  }
  if (!options.config.empty()) {
    const std::string file = folder_ + "/kvtierd.yaml";
    std::ofstream(file) << options.config;
    command.insert(command.end(), {"--config", file});
  }
  const pid_t parent = ::getpid();
  child_ = ::fork();
  need(child_ >= 0, "fork failed");
  if (child_ == 0) exec_daemon(command, folder_ + "/log", parent);
}

// In a child, so that this process has no thread of the library before it forks its clients.
void DaemonProcess::wait_until_ready() {
  for (int waited = 0; waited < kPatienceMs; waited += kStepMs) {
    int ended = 0;
    if (::waitpid(child_, &ended, WNOHANG) == child_) {
      child_ = -1;
      fail(std::string("kvtierd ended at once, ") + (WIFEXITED(ended)
                                                         ? "status " + std::to_string(WEXITSTATUS(ended))
                                                         : "signal " + std::to_string(WTERMSIG(ended))));
    }
    const pid_t probe = fs::exists(socket_) ? ::fork() : -1;
    if (probe == 0) ::_exit(answers(socket_) ? 0 : 1);
    int status = 1;
    if (probe > 0) ::waitpid(probe, &status, 0);
    if (status == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(kStepMs));
  }
  fail("kvtierd does not answer");
}

void DaemonProcess::fail(const std::string& why) {
  const std::string log = read_file(folder_ + "/log");
  stop();
  throw Failure(why + "; its log:\n" + log);
}

void DaemonProcess::stop() {
  if (child_ > 0) {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void DaemonProcess::kill() {
  need(child_ > 0, "only a daemon of one's own is killed");
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

DaemonCounters DaemonProcess::counters() const {
  return DaemonCounters((fs::path(socket_).parent_path() / "counters").string());
}

pid_t DaemonProcess::pid() const {
  return child_ > 0 ? child_ : static_cast<pid_t>(counters().daemon_pid());
}

}  // namespace kvtier::bench
