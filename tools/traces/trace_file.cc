#include "tools/traces/trace_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tools/traces/trace_parser.h"
#include "tools/traces/unpacking.h"

namespace kvtier::sim {
namespace {

constexpr std::size_t kLineBytesMax = 64 << 20;

// Gives each line to the parser; the last one may lack its end.
class Lines {
 public:
  explicit Lines(TraceParser& parser) : parser_(parser) {}

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
      if (const Status status = parser_.add_line(rest_); !status.is_ok()) return mistake(status.message());
    }
    rest_.clear();
    return Status::ok();
  }

 private:
  [[nodiscard]] Status mistake(const std::string& why) const {
    return {Code::kInvalid, "line " + std::to_string(line_) + ": " + why};
  }

  TraceParser& parser_;
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

Result<Trace> read_trace(const std::string& path) {
  TraceParser parser;
  Lines lines(parser);
  if (const Status status = read_any(path, lines); !status.is_ok())
    return status.while_doing("reading " + path);
  Trace trace = parser.take();
  if (trace.blocks.empty()) return Status(Code::kInvalid, path + " has no blocks");
  return trace;
}

}  // namespace kvtier::sim
