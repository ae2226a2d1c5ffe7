#include "daemon/admin/admin_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace kvtier {
namespace {

bool is_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

std::size_t AdminConnection::receive(TimeNs now_ns) {
  if (!wants_input()) return 0;
  std::array<char, kAdminLineBytesMax> bytes;
  const ssize_t received = ::recv(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (received < 0) {
    if (!is_later(errno)) break_off();
    return 0;
  }
  if (received == 0) {
    end_input();  // the peer may only have shut down its sending side
    return 0;
  }
  if (input_.empty()) line_began_ns_ = now_ns;
  input_.append(bytes.data(), static_cast<std::size_t>(received));
  return static_cast<std::size_t>(received);
}

std::optional<std::string> AdminConnection::take_line(TimeNs now_ns) {
  const std::size_t end = input_.find('\n');
  if (end > kAdminLineBytesMax) return std::nullopt;  // npos, no end yet, is above it too
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  progress_ns_ = line_began_ns_ = now_ns;
  return line;
}

bool AdminConnection::is_line_too_long() const {
  return std::min(input_.find('\n'), input_.size()) > kAdminLineBytesMax;
}

std::size_t AdminConnection::send(TimeNs now_ns) {
  if (output_.empty()) return 0;
  const ssize_t sent = ::send(fd(), output_.data(), output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    if (!is_later(errno)) break_off();
    return 0;
  }
  output_.erase(0, static_cast<std::size_t>(sent));
  progress_ns_ = now_ns;
  return static_cast<std::size_t>(sent);
}

TimeNs AdminConnection::deadline_ns() const {
  if (!output_.empty()) return progress_ns_ + kStallNs;
  if (job) return job->deadline_ns();
  if (!input_.empty()) return line_began_ns_ + kStallNs;
  return progress_ns_ + kIdleNs;
}

}  // namespace kvtier
