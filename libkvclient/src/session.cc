#include "libkvclient/src/session.h"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "libkvclient/src/deadline.h"
#include "libkvclient/src/map_verified.h"

namespace kvtier::client {
namespace {

enum { kChannelFd = 0, kDirectoryFd = 1, kDoorbellFd = 2 };

Status check_channel(const std::byte* channel) {
  const auto* header = reinterpret_cast<const ChannelHeader*>(channel);
  if (header->magic == kChannelMagic && header->layout_version == kChannelLayoutVersion) return Status::ok();
  return {Code::kVersion, "the channel has layout version " + std::to_string(header->layout_version) +
                              ", not " + std::to_string(kChannelLayoutVersion)};
}

RingPositions published_positions(const std::byte* channel) {
  const auto* header = reinterpret_cast<const ChannelHeader*>(channel);
  return {header->submission_tail.load(), header->completion_tail.load()};
}

Result<ino_t> inode_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Status::from_errno("fstat", errno);
  return info.st_ino;
}

}  // namespace

Session::Session(const Welcome& facts, ShmMapping channel_memory, std::uint32_t serial_number)
    : welcome(facts),
      channel(std::move(channel_memory)),
      serial(serial_number),
      mappings(channel.size() - ChannelLayout::kPins) {}

Result<std::shared_ptr<Session>> Session::create(Handshake handshake, std::uint32_t serial,
                                                 std::uint32_t epoch) {
  const Welcome& welcome = handshake.welcome;
  if (welcome.channel_bytes < ChannelLayout::kPins) return Status(Code::kInvalid, "the channel is too short");
  const int channel_fd = handshake.fds[kChannelFd].get();
  Result<ShmMapping> channel = map_verified(channel_fd, welcome.channel_bytes, ShmAccess::kReadWrite);
  if (!channel.is_ok()) return channel.status().while_doing("mapping the channel");
  KV_RETURN_IF_ERROR(check_channel(channel.value().data()));
  const Result<ino_t> inode = inode_of(channel_fd);
  if (!inode.is_ok()) return inode.status();
  auto session = std::make_shared<Session>(welcome, std::move(channel).value(), serial);
  session->channel_inode = inode.value();
  session->epoch = epoch;
  KV_RETURN_IF_ERROR(session->attach_directory(handshake.fds[kDirectoryFd].get(), welcome.directory_bytes));
  session->forget_stock_asks();
  session->socket = std::move(handshake.socket);
  session->requests =
      std::make_shared<Requests>(session->channel.data(), std::move(handshake.fds[kDoorbellFd]),
                                 published_positions(session->channel.data()));
  return session;
}

Status Session::resume(Handshake& handshake, std::uint32_t new_epoch) {
  const Result<ino_t> inode = inode_of(handshake.fds[kChannelFd].get());
  if (!inode.is_ok()) return inode.status();
  if (inode.value() != channel_inode || handshake.welcome.channel_bytes != channel.size()) {
    return {Code::kStale, "the daemon resumed the session with another channel"};
  }
  KV_RETURN_IF_ERROR(attach_directory(handshake.fds[kDirectoryFd].get(), handshake.welcome.directory_bytes));
  // Requests of before the restart are forgotten by both sides (WIRE.md, "Resume"): the rings go on where
  // they stand.
  requests = std::make_shared<Requests>(channel.data(), std::move(handshake.fds[kDoorbellFd]),
                                        published_positions(channel.data()));
  forget_stock_asks();
  socket = std::move(handshake.socket);
  welcome = handshake.welcome;
  epoch = new_epoch;
  return Status::ok();
}

Status Session::attach_directory(int fd, std::uint64_t bytes) {
  Result<ShmMapping> memory = map_verified(fd, bytes, ShmAccess::kReadOnly);
  if (!memory.is_ok()) return memory.status().while_doing("mapping the directory");
  Result<DirectoryReader> reader = DirectoryReader::attach(memory.value().bytes());
  if (!reader.is_ok()) return reader.status().while_doing("reading the directory");
  directory = std::move(memory).value();
  directory_reader = reader.value();
  return Status::ok();
}

// The daemon counts a refill that it carried out after the offers (release). A count of before the connection that is
// still behind ours would say "under way" for ever: a daemon that died took those records with it.
void Session::forget_stock_asks() {
  const auto* header = reinterpret_cast<const ChannelHeader*>(channel.data());
  stock_asked_.store(header->stock_refills.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

bool Session::stock_ask_begin() {
  const auto* header = reinterpret_cast<const ChannelHeader*>(channel.data());
  std::uint32_t asked = stock_asked_.load(std::memory_order_relaxed);
  const std::uint32_t done = header->stock_refills.load(std::memory_order_acquire);
  if (static_cast<std::int32_t>(asked - done) > 0) return false;
  return stock_asked_.compare_exchange_strong(asked, done + 1, std::memory_order_relaxed);
}

std::unique_ptr<View> Session::make_view(const std::vector<std::uint32_t>& slabs_without, int wake) {
  auto view = std::make_unique<View>();
  view->epoch = epoch;
  view->session = this;
  view->directory = directory_reader;
  view->log = AccessLogProducer(
      channel.bytes().subspan(ChannelLayout::kAccessLog, ChannelLayout::kAccessLogBytes), kAccessLogEntries);
  view->doorbell = requests->doorbell();
  view->wake = wake;
  view->slabs = mappings.views(pins_base(), slabs_without);
  return view;
}

void Session::drain(TimeNs deadline_ns) const {
  const auto* header = reinterpret_cast<const ChannelHeader*>(channel.data());
  while (header->submission_head.load() != header->submission_tail.load() && now_ns() < deadline_ns) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace kvtier::client
