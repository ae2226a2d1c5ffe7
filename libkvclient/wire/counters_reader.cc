#include "libkvclient/wire/counters_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "libkvclient/base/path_error.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kFileBytesMax = 64ULL << 20;

template <std::size_t N>
std::string text_of(const char (&bytes)[N]) {
  return std::string(bytes, strnlen(bytes, N));
}

bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t item_bytes, std::uint64_t file_bytes) {
  return offset % 8 == 0 && offset <= file_bytes && count <= (file_bytes - offset) / item_bytes;
}

Status check_header(const CountersHeader& header, std::uint64_t file_bytes) {
  if (header.magic != kCountersMagic) return {Code::kCorrupt, "not a counters file"};
  // acquire: pairs with the writer's release; whoever sees the version sees everything written before it.
  const std::uint32_t version = header.version.load(std::memory_order_acquire);
  if (version == 0) return {Code::kBusy, "the daemon is still writing it; try again"};
  if (version != kCountersVersion)
    return {Code::kVersion, "layout version " + std::to_string(version) + ", this program reads version " +
                                std::to_string(kCountersVersion)};
  const bool is_whole =
      header.file_bytes == file_bytes && header.header_bytes == sizeof(CountersHeader) &&
      fits(header.metadata_offset, header.counters_count, sizeof(CounterMetadata), file_bytes) &&
      fits(header.values_offset, header.values_bytes, 1, file_bytes) &&
      fits(header.errors_offset, header.errors_max, sizeof(ErrorRecord), file_bytes);
  return is_whole ? Status::ok() : Status(Code::kCorrupt, "its offsets do not fit its size");
}

}  // namespace

Result<CountersReader> CountersReader::open(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file.is_open() && errno == ENOENT) return Status(Code::kNotFound, path + ": is the daemon running?");
  if (!file.is_open()) return path_error("open " + path, errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return Status::from_errno("fstat " + path, errno);
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (!S_ISREG(info.st_mode) || bytes < sizeof(CountersHeader) || bytes > kFileBytesMax)
    return Status(Code::kCorrupt, path + ": not a counters file");
  void* data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) return Status::from_errno("mmap " + path, errno);
  CountersReader reader(static_cast<const std::byte*>(data), bytes);
  const Status status = check_header(reader.header(), bytes);
  if (!status.is_ok()) return status.while_doing(path);
  return reader;
}

CountersReader::CountersReader(CountersReader&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

CountersReader& CountersReader::operator=(CountersReader&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

CountersReader::~CountersReader() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), bytes_);
}

const CountersHeader& CountersReader::header() const {
  return *reinterpret_cast<const CountersHeader*>(data_);
}

CountersIdentity CountersReader::identity() const {
  const CountersHeader& from = header();
  return {text_of(from.instance), text_of(from.program_version), from.pid, from.start_monotonic_ns,
          from.start_realtime_ns};
}

TimeNs CountersReader::heartbeat_ns() const {
  return header().heartbeat_ns.load(std::memory_order_relaxed);
}

std::vector<CounterSample> CountersReader::read() const {
  std::vector<CounterSample> samples;
  const std::uint32_t count = header().counters_count;
  if (!fits(header().metadata_offset, count, sizeof(CounterMetadata), bytes_)) return samples;
  const auto* metadata = reinterpret_cast<const CounterMetadata*>(data_ + header().metadata_offset);
  samples.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    CounterMetadata each;
    std::memcpy(&each, &metadata[i], sizeof each);
    if (!fits(each.value_offset, 1, sizeof(std::uint64_t), bytes_)) continue;
    const auto* value = reinterpret_cast<const std::atomic<std::uint64_t>*>(data_ + each.value_offset);
    samples.push_back({text_of(each.name), text_of(each.unit), text_of(each.help), each.kind,
                       value->load(std::memory_order_relaxed)});
  }
  return samples;
}

std::vector<ErrorSample> CountersReader::errors() const {
  std::vector<ErrorSample> samples;
  const std::uint32_t count = header().errors_max;
  if (!fits(header().errors_offset, count, sizeof(ErrorRecord), bytes_)) return samples;
  const auto* records = reinterpret_cast<const ErrorRecord*>(data_ + header().errors_offset);
  for (std::uint32_t i = 0; i < count; ++i) {
    // acquire: a count above 0 makes the text visible.
    const std::uint64_t times = records[i].count.load(std::memory_order_acquire);
    if (times == 0) break;
    const std::size_t length = std::min<std::size_t>(records[i].text_bytes, sizeof records[i].text);
    samples.push_back({std::string(records[i].text, length), records[i].level, times,
                       records[i].first_realtime_ns,
                       records[i].last_realtime_ns.load(std::memory_order_relaxed)});
  }
  return samples;
}

std::uint64_t CountersReader::errors_other_count() const {
  return header().errors_other_count.load(std::memory_order_relaxed);
}

}  // namespace kvtier
