#include "tools/planner/bounded_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kvtier::plan {

BoundedFile::BoundedFile(UniqueFd file, std::uint64_t file_bytes, std::uint64_t bytes_max)
    : file_(std::move(file)), file_bytes_(file_bytes), end_(std::min(file_bytes, bytes_max)) {}

Status BoundedFile::check(std::uint64_t bytes, std::string_view what) const {
  if (bytes <= left()) return Status::ok();
  const std::string end = end_ == file_bytes_ ? "the file ends at " + std::to_string(file_bytes_)
                                              : "no metadata are read beyond " + std::to_string(end_);
  return {Code::kInvalid, std::string(what) + " at offset " + std::to_string(offset_) + " would have " +
                              std::to_string(bytes) + " bytes, and " + end + "; the file is cut or damaged"};
}

Status BoundedFile::fill() {
  ssize_t got = -1;
  do {
    got = ::pread(file_.get(), buffer_.data(), buffer_.size(), static_cast<off_t>(offset_));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Status::from_errno("pread", errno);
  if (got == 0) return {Code::kInvalid, "the file became shorter while it was read"};
  buffer_offset_ = offset_;
  buffer_bytes_ = static_cast<std::size_t>(got);
  return Status::ok();
}

Status BoundedFile::read(std::span<std::byte> into, std::string_view what) {
  KV_RETURN_IF_ERROR(check(into.size(), what));
  while (!into.empty()) {
    const bool is_buffered = offset_ >= buffer_offset_ && offset_ < buffer_offset_ + buffer_bytes_;
    if (!is_buffered) KV_RETURN_IF_ERROR(fill());
    const std::size_t at = offset_ - buffer_offset_;
    const std::size_t count = std::min(into.size(), buffer_bytes_ - at);
    std::memcpy(into.data(), buffer_.data() + at, count);
    into = into.subspan(count);
    offset_ += count;
  }
  return Status::ok();
}

Status BoundedFile::skip(std::uint64_t bytes, std::string_view what) {
  KV_RETURN_IF_ERROR(check(bytes, what));
  offset_ += bytes;
  return Status::ok();
}

}  // namespace kvtier::plan
