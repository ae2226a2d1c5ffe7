#include "tests/kill/crew.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace kvtier::kill {
namespace {

template <class Condition>
bool until(TimeNs timeout_ns, Condition condition) {
  const SystemClock clock;
  const TimeNs deadline_ns = clock.now_ns() + timeout_ns;
  while (!condition()) {
    if (clock.now_ns() >= deadline_ns) return false;
    ::usleep(500);
  }
  return true;
}

}  // namespace

Crew::Crew(const std::string& dir, const WorkerOptions& proto)
    : dir_(dir), proto_(proto), cells_(CellsFile::create(dir + "/cells")), pids_(kWorkersMax, -1) {
  proto_.cells_path = dir + "/cells";
}

Crew::~Crew() {
  for (const pid_t pid : pids_) {
    if (pid <= 0) continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  ::unlink((dir_ + "/cells").c_str());
}

void Crew::start(std::uint32_t index, const Start& how) {
  cell(index).is_running.store(0);
  cell(index).is_paused.store(0);
  const std::uint64_t seed = proto_.seed * 1000003 + ++starts_;
  pids_[index] =
      start_program({"/proc/self/exe", "worker", "--cells", proto_.cells_path, "--socket", proto_.socket_path,
                     "--index", std::to_string(index), "--seed", std::to_string(seed), "--deadline-ms",
                     std::to_string(proto_.deadline_ms), "--hold-ms", std::to_string(proto_.hold_ms_max),
                     "--rounds", std::to_string(how.rounds_max)},
                    dir_ + "/workers.log", how.environment);
}

bool Crew::wait_running(std::uint32_t index, TimeNs timeout_ns) {
  return until(timeout_ns, [&] { return cell(index).is_running.load(std::memory_order_acquire) != 0; });
}

int Crew::join(std::uint32_t index, TimeNs timeout_ns) {
  const pid_t pid = pids_[index];
  pids_[index] = -1;
  return wait_for_exit(pid, timeout_ns);
}

std::vector<std::uint32_t> Crew::lost() {
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < kWorkersMax; ++i) {
    if (pids_[i] <= 0 || ::waitpid(pids_[i], nullptr, WNOHANG) == 0) continue;
    pids_[i] = -1;
    found.push_back(i);
  }
  return found;
}

bool Crew::pause(std::uint32_t count, TimeNs timeout_ns) {
  cells_.get().orders.pause.store(1, std::memory_order_release);
  return until(timeout_ns, [&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (cell(i).is_paused.load(std::memory_order_acquire) == 0) return false;
    }
    return true;
  });
}

std::uint64_t Crew::stop() {
  cells_.get().orders.stop.store(1);
  std::uint64_t bad = 0;
  for (std::uint32_t i = 0; i < kWorkersMax; ++i) {
    if (pids_[i] > 0 && join(i, 20 * kNsPerSecond) != 0) ++bad;
  }
  return bad;
}

}  // namespace kvtier::kill
