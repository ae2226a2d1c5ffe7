#include "daemon/observe/counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "libkvclient/base/path_error.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr mode_t kFileMode = 0640;  // report S-14: not for everybody

struct Layout {
  std::uint64_t metadata_offset = sizeof(CountersHeader);
  std::uint64_t values_offset;
  std::uint64_t values_bytes = kCounterPlaces.words * sizeof(std::uint64_t);
  std::uint64_t errors_offset;
  std::uint64_t file_bytes;

  explicit Layout(std::uint32_t errors_max)
      : values_offset(round_up(metadata_offset + kCounterCount * sizeof(CounterMetadata), kWriterGroupBytes)),
        errors_offset(values_offset + values_bytes),
        file_bytes(round_up(errors_offset + errors_max * sizeof(ErrorRecord), kPageBytes)) {}
};

template <std::size_t N>
void copy_text(char (&to)[N], std::string_view from) {
  const std::size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
}

std::uint64_t realtime_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(time.tv_nsec);
}

void fill_metadata(std::byte* data, const Layout& layout) {
  auto* metadata = reinterpret_cast<CounterMetadata*>(data + layout.metadata_offset);
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const CounterInfo& info = kCounterInfos[i];
    metadata[i].id = static_cast<std::uint32_t>(i);
    metadata[i].kind = info.kind;
    metadata[i].value_offset = layout.values_offset + kCounterPlaces.word[i] * sizeof(std::uint64_t);
    copy_text(metadata[i].name, info.name);
    copy_text(metadata[i].unit, info.unit);
    copy_text(metadata[i].help, info.help);
  }
}

// `data` is zeroed memory.
void fill(std::byte* data, const Layout& layout, const CountersOptions& options, const Clock& clock) {
  fill_metadata(data, layout);
  auto& header = *reinterpret_cast<CountersHeader*>(data);
  header.magic = kCountersMagic;
  header.header_bytes = sizeof(CountersHeader);
  header.file_bytes = layout.file_bytes;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.counters_count = kCounterCount;
  header.errors_max = options.errors_max;
  header.metadata_offset = layout.metadata_offset;
  header.values_offset = layout.values_offset;
  header.values_bytes = layout.values_bytes;
  header.errors_offset = layout.errors_offset;
  header.start_monotonic_ns = clock.now_ns();
  header.start_realtime_ns = options.start_realtime_ns != 0 ? options.start_realtime_ns : realtime_ns();
  copy_text(header.program_version, KVTIER_VERSION);
  copy_text(header.instance, options.instance);
  header.heartbeat_ns.store(clock.now_ns(), std::memory_order_relaxed);
  // release: whoever reads the version reads everything above.
  header.version.store(kCountersVersion, std::memory_order_release);
}

Result<std::byte*> map_memory(std::uint64_t bytes, int fd) {
  const int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return Status::from_errno("mmap of the counters", errno);
  return static_cast<std::byte*>(data);
}

Status reserve_pages(const UniqueFd& file, std::uint64_t bytes, const std::string& path) {
  if (fchmod(file.get(), kFileMode) != 0) return Status::from_errno("fchmod " + path, errno);
  const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (error == ENOSPC)
    return {Code::kNoSpace,
            path + ": needed " + format_size(bytes) + "; free space there, or move runtime_dir"};
  return error == 0 ? Status::ok() : Status::from_errno("fallocate " + path, error);
}

// A later daemon may have put its own file there.
bool is_still_at(const std::string& path, const UniqueFd& file) {
  struct stat there {};
  struct stat ours {};
  if (::stat(path.c_str(), &there) != 0 || fstat(file.get(), &ours) != 0) return false;
  return there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

}  // namespace

Counters::Counters(std::byte* data, std::size_t bytes)
    : data_(data), bytes_(bytes), words_(reinterpret_cast<Word*>(data + header().values_offset)) {}

Counters::Counters(Counters&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_),
      words_(other.words_),
      file_(std::move(other.file_)),
      path_(std::move(other.path_)) {}

Counters::~Counters() {
  if (data_ == nullptr) return;
  munmap(data_, bytes_);
  if (file_.is_open() && is_still_at(path_, file_)) ::unlink(path_.c_str());
}

Result<Counters> Counters::create(const CountersOptions& options, const Clock& clock) {
  const Layout layout(options.errors_max);
  const std::string temporary = options.path + ".new";
  UniqueFd file;
  if (!options.path.empty()) {
    ::unlink(temporary.c_str());
    file.reset(::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
    if (!file.is_open()) return path_error("create " + temporary, errno);
    KV_RETURN_IF_ERROR(reserve_pages(file, layout.file_bytes, temporary));
  }
  Result<std::byte*> data = map_memory(layout.file_bytes, file.get());
  if (!data.is_ok()) return data.status();
  fill(data.value(), layout, options, clock);
  Counters counters(data.value(), layout.file_bytes);
  if (options.path.empty()) return counters;
  if (::rename(temporary.c_str(), options.path.c_str()) != 0)
    return path_error("rename to " + options.path, errno);
  counters.file_ = std::move(file);
  counters.path_ = options.path;
  return counters;
}

}  // namespace kvtier
