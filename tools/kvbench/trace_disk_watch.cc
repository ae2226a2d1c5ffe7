#include "tools/kvbench/trace_disk_watch.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace kvtier::bench {
namespace {

namespace fs = std::filesystem;

void raise(std::atomic<std::uint64_t>& most, std::uint64_t bytes) {
  most.store(std::max(most.load(), bytes));
}

}  // namespace

DiskWatch::DiskWatch(std::string folder, TraceBoard& board)
    : folder_(std::move(folder)),
      board_(board),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void DiskWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  look();
}

void DiskWatch::look() {
  std::uint64_t beside = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    struct stat info {};
    if (::stat(entry.path().c_str(), &info) != 0) continue;
    const std::uint64_t allocated = static_cast<std::uint64_t>(info.st_blocks) * 512;
    if (entry.path().filename() == "kvtier.data") {
      raise(board_.disk_file_bytes_max, static_cast<std::uint64_t>(info.st_size));
      raise(board_.disk_bytes_max, allocated);
    } else {
      beside += allocated;
    }
  }
  raise(board_.disk_beside_bytes_max, beside);
}

}  // namespace kvtier::bench
