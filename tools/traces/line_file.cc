#include "tools/traces/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libkvclient/base/unique_fd.h"
#include "tools/traces/unpacking.h"

namespace kvtier::sim {
namespace {

constexpr std::size_t kLineBytesMax = 64 << 20;

using AddLine = std::function<Status(std::string_view)>;

// The last line may lack its end.
class Lines {
 public:
  explicit Lines(const AddLine& add) : add_(add) {}

  Status add(std::string_view piece) {
    for (std::size_t end = 0; (end = piece.find('\n')) != std::string_view::npos;
         piece.remove_prefix(end + 1)) {
      rest_.append(piece.substr(0, end));
      KV_RETURN_IF_ERROR(finish());
    }
    rest_.append(piece);
    return rest_.size() <= kLineBytesMax ? Status::ok() : mistake("it is longer than 64 MiB");
  }
  Status finish() {
    ++line_;
    if (rest_.find_first_not_of(" \t\r") != std::string::npos) {
      const bool ends_in_cr = rest_.back() == '\r';
      const Status status = add_(std::string_view(rest_).substr(0, rest_.size() - (ends_in_cr ? 1 : 0)));
      if (!status.is_ok()) return mistake(status.message());
    }
    rest_.clear();
    return Status::ok();
  }

 private:
  [[nodiscard]] Status mistake(const std::string& why) const {
    return {Code::kInvalid, "line " + std::to_string(line_) + ": " + why};
  }

  const AddLine& add_;
  std::string rest_;
  std::uint64_t line_ = 0;
};

Status read_lines(int fd, Lines& lines) {
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("read", errno);
    if (got == 0) return lines.finish();
    KV_RETURN_IF_ERROR(lines.add({piece.data(), static_cast<std::size_t>(got)}));
  }
}

Status read_packed(const std::string& path, Lines& lines) {
  Result<Unpacking> unpacking = Unpacking::start(path);
  if (!unpacking.is_ok()) return unpacking.status();
  const Status read = read_lines(unpacking.value().output(), lines);
  const Status end = unpacking.value().finish();  // that it failed says more than half a line does
  return end.is_ok() ? read : end;
}

Status read_any(const std::string& path, Lines& lines) {
  if (path == "-") return read_lines(STDIN_FILENO, lines);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Status::from_errno("open", errno);
  return path.ends_with(".zst") ? read_packed(path, lines) : read_lines(file.get(), lines);
}

}  // namespace

Status read_lines_of(const std::string& path, const AddLine& add) {
  Lines lines(add);
  return read_any(path, lines).while_doing("reading " + path);
}

}  // namespace kvtier::sim
