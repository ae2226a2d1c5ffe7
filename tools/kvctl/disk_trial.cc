#include "tools/kvctl/disk_trial.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "daemon/io/io_engine.h"
#include "daemon/io/io_status.h"
#include "libkvclient/base/check.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/exit_status.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint32_t kDepth = 64;  ///< as the daemon's
constexpr TimeNs kDeadlineNs = 30 * kNsPerSecond;
/// A first run goes on until so much is there to be read.
constexpr std::uint64_t kWrittenBytesMin = 64 * kMiB;

std::unique_ptr<IoBackend> open_backend() {
  Result<std::unique_ptr<IoBackend>> backend =
      open_io_engine({.depth = kDepth, .files_max = 1, .regions_max = 1});
  if (!backend.is_ok()) fail_probe(backend.status());
  return std::move(backend).value();
}

}  // namespace

void fail_probe(const Status& status) {
  const ExitStatus exit_status = status.code() == Code::kDenied ? kExitDenied : kExitFailed;
  const char* fix = status.code() == Code::kNotFound ? ": make the folder, or name another one" : "";
  throw Failure(exit_status, std::string(code_name(status.code())), status.message() + fix);
}

TrialMemory::TrialMemory(std::uint64_t bytes, TrialPages pages) {
  const int populate = pages == TrialPages::kThere ? MAP_POPULATE : 0;
  void* mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | populate, -1, 0);
  if (mapped == MAP_FAILED)
    fail_probe(Status::from_errno("mmap of " + format_size(bytes) + " for a trial", errno));
  bytes_ = {static_cast<std::byte*>(mapped), bytes};
}

TrialMemory::~TrialMemory() {
  ::munmap(bytes_.data(), bytes_.size());
}

// What is written is noise, so that no device or file system makes it smaller.
DiskTrial::DiskTrial(int fd, std::uint32_t alignment, std::uint64_t bytes_max) : bytes_max_(bytes_max) {
  std::span<std::byte> memory = memory_.bytes();
  for (std::size_t i = 0; i < memory.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t noise = chance_.next();
    std::memcpy(memory.data() + i, &noise, sizeof noise);
  }
  ring_ = std::make_unique<IoRing>(open_backend(),
                                   IoRingOptions{.requests_max = kDepth, .files_max = 1, .regions_max = 1});
  Status status = ring_->set_file(IoFile{0}, fd, alignment);
  if (status.is_ok()) status = ring_->set_region(IoRegion{0}, memory);
  if (!status.is_ok()) fail_probe(status);
  depth_ = ring_->facts().depth.value;
  Result<std::unique_ptr<RingWaiter>> waiter = RingWaiter::create(*ring_);
  if (!waiter.is_ok()) fail_probe(waiter.status());
  waiter_ = std::move(waiter).value();
}

std::uint64_t DiskTrial::next_offset(IoKind kind, std::uint32_t block_bytes) {
  if (kind == IoKind::kRead) return chance_.next() % (written_bytes_ / block_bytes) * block_bytes;
  if (next_write_ + block_bytes > bytes_max_) next_write_ = 0;
  const std::uint64_t offset = next_write_;
  next_write_ += block_bytes;
  return offset;
}

void DiskTrial::submit(IoKind kind, std::uint32_t block_bytes, std::uint32_t slot) {
  const IoRequest request{.kind = kind,
                          .file = IoFile{0},
                          .region = IoRegion{0},
                          .bytes = block_bytes,
                          .offset = next_offset(kind, block_bytes),
                          .data = memory_.bytes().data() + std::uint64_t{slot} * block_bytes,
                          .deadline_ns = clock_.now_ns() + kDeadlineNs,
                          .tag = slot};
  KV_CHECK(ring_->submit(request).has_value(), "the ring has room for the depth of a trial");
}

// The bytes that moved. A request that fails ends the trial.
std::uint64_t DiskTrial::take_events() {
  std::array<IoEvent, kDepth> events;
  const std::size_t count = ring_->poll(clock_.now_ns(), events);
  std::uint64_t bytes = 0;
  for (const IoEvent& event : std::span(events).first(count)) {
    const Status status = io_event_status(event);
    if (!status.is_ok()) fail_probe(status);
    bytes += event.bytes;
    free_slots_.push_back(static_cast<std::uint32_t>(event.request.tag));
    if (event.request.kind == IoKind::kWrite)
      written_bytes_ = std::max(written_bytes_, event.request.offset + event.bytes);
  }
  if (count == 0) waiter_->wait(clock_.now_ns(), kNever);
  return bytes;
}

void DiskTrial::sync() {
  const IoRequest request{
      .kind = IoKind::kSync, .file = IoFile{0}, .deadline_ns = clock_.now_ns() + kDeadlineNs};
  KV_CHECK(ring_->submit(request).has_value(), "an idle ring has room");
  while (ring_->requests_count() > 0) (void)take_events();
}

std::uint64_t DiskTrial::run(IoKind kind, std::uint32_t block_bytes, std::uint32_t depth, TimeNs time_ns) {
  free_slots_.clear();
  for (std::uint32_t slot = depth; slot-- > 0;) free_slots_.push_back(slot);
  const std::uint64_t least = written_bytes_ == 0 ? std::min(kWrittenBytesMin, bytes_max_) : 0;
  next_write_ = 0;
  const TimeNs begun_ns = clock_.now_ns();
  std::uint64_t bytes = 0;
  bool is_ending = false;
  while (!is_ending || ring_->requests_count() > 0) {
    is_ending = is_ending || (clock_.now_ns() - begun_ns >= time_ns && bytes >= least);
    for (; !is_ending && !free_slots_.empty(); free_slots_.pop_back())
      submit(kind, block_bytes, free_slots_.back());
    bytes += take_events();
  }
  if (kind == IoKind::kWrite) sync();
  const double seconds = static_cast<double>(std::max<TimeNs>(clock_.now_ns() - begun_ns, 1)) / 1e9;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds);
}

}  // namespace kvtier::ctl
