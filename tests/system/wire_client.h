#pragma once
// A client made of the wire types alone, for tests that must say wrong things: nothing is checked on its way
// out.

#include <memory>
#include <string>
#include <vector>

#include "libkvclient/base/clock.h"
#include "libkvclient/wire/channel.h"
#include "libkvclient/wire/message_socket.h"
#include "libkvclient/wire/ring.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier::test {

/// A Hello of this build, to be bent by the test.
Hello make_hello(const std::string& namespace_name);

/// A connected socket of the daemon at `path`; not open when there is none.
UniqueFd connect_to(const std::string& path, int type);

/// Waits for one message; kDeadline after `timeout_ns`. A reset before a message is skipped.
Result<Message> receive_within(int socket, TimeNs timeout_ns);
/// Whether the peer closes within the time; messages on the way are dropped.
bool closes_within(int socket, TimeNs timeout_ns);
/// The text of a Refused; empty: another message.
std::string refusal_text(const Message& message);
Code refusal_code(const Message& message);

/// A session, with the client's ends of its rings.
class WireClient {
 public:
  static Result<std::unique_ptr<WireClient>> open(const std::string& path, const std::string& namespace_name);
  static Result<std::unique_ptr<WireClient>> open(const std::string& path, const Hello& hello);

  /// Takes the Welcome that a socket's Hello was or will be answered with.
  static Result<std::unique_ptr<WireClient>> adopt(UniqueFd socket);

  /// Pushes and rings the doorbell if the daemon says that it sleeps.
  RingResult submit(const Submission& submission);
  /// kDeadline: none came.
  Result<Completion> take_completion(TimeNs timeout_ns);
  RingResult submit_echo(std::uint32_t request_id);
  void register_space(std::span<const std::byte> encoding, std::uint32_t sequence) const;
  /// kEcho there and back.
  bool echoes_within(TimeNs timeout_ns);
  void ring_doorbell() const;

  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] int doorbell() const { return doorbell_.get(); }
  [[nodiscard]] const Welcome& welcome() const { return welcome_; }
  [[nodiscard]] std::byte* channel() const { return channel_.data(); }
  [[nodiscard]] std::uint64_t channel_bytes() const { return channel_.size(); }
  [[nodiscard]] ChannelHeader& header() const { return *reinterpret_cast<ChannelHeader*>(channel_.data()); }
  [[nodiscard]] std::byte* arena() const { return channel_.data() + ChannelLayout::kArena; }

 private:
  WireClient(UniqueFd socket, const Welcome& welcome, std::vector<UniqueFd> fds, ShmMapping channel);

  UniqueFd socket_;
  Welcome welcome_;
  UniqueFd channel_fd_;
  UniqueFd directory_fd_;
  UniqueFd doorbell_;
  ShmMapping channel_;
  SubmissionProducer submissions_;
  CompletionConsumer completions_;
  std::uint32_t next_request_ = 0x40000000;
};

}  // namespace kvtier::test
