// The only place that knows fio.

#include "tools/kvbench/support/fio.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/support/run_program.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr double kBytesPerGb = 1e9;

// fio prints warnings in front of the object.
double rate_of(const std::string& output, const char* direction) {
  const nlohmann::json found = nlohmann::json::parse(output.substr(std::min(output.find('{'), output.size())),
                                                     nullptr, /*allow_exceptions=*/false);
  need(found.is_object() && found.contains("jobs") && !found["jobs"].empty(),
       "fio's output has no job: " + output);
  const nlohmann::json& job = found["jobs"][0];
  need(job.value("error", 1) == 0, "fio reports error " + job.value("error", nlohmann::json()).dump());
  return job[direction]["bw_bytes"].get<double>() / kBytesPerGb;
}

}  // namespace

std::string FioShape::name() const {
  return std::to_string(block_bytes / kKiB) + "k x " + std::to_string(depth) + " x " + std::to_string(jobs);
}

std::vector<FioShape> fio_grid() {
  std::vector<FioShape> grid;
  for (const std::uint64_t block : {256 * kKiB, 1024 * kKiB, 2048 * kKiB})
    for (const unsigned depth : {8U, 32U, 64U})
      for (const unsigned jobs : {1U, 4U}) grid.push_back({block, depth, jobs});
  return grid;
}

Fio::Fio(const std::string& folder, bool has_huge_pages)
    : file_(folder + "/fio.data"), has_huge_pages_(has_huge_pages) {}

Fio::~Fio() {
  ::unlink(file_.c_str());
}

double Fio::rate(FioKind kind, const FioShape& shape, std::uint64_t bytes) const {
  const bool is_write = kind == FioKind::kWrite;
  if (is_write) ::unlink(file_.c_str());
  const std::string piece = std::to_string(bytes / shape.jobs / shape.block_bytes * shape.block_bytes);
  std::vector<std::string> command;
  if (has_huge_pages_) command = {"env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  command.insert(command.end(),
                 {"fio", "--name=reference", "--filename=" + file_, "--ioengine=io_uring", "--direct=1",
                  is_write ? "--rw=write" : "--rw=read", "--bs=" + std::to_string(shape.block_bytes),
                  "--iodepth=" + std::to_string(shape.depth), "--numjobs=" + std::to_string(shape.jobs),
                  "--size=" + piece, "--offset_increment=" + piece, "--thread", "--group_reporting",
                  "--output-format=json"});
  return rate_of(run_program(command), is_write ? "write" : "read");
}

FioShape Fio::best(FioKind kind, const std::vector<FioShape>& grid, std::uint64_t bytes) const {
  FioShape best = grid.front();
  double highest = 0;
  for (const FioShape& shape : grid) {
    const double found = rate(kind, shape, bytes);
    if (found > highest) best = shape;
    highest = std::max(highest, found);
  }
  return best;
}

}  // namespace kvtier::bench
