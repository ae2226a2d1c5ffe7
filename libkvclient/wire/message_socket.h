#pragma once
// Sending and receiving control messages with descriptors over a SOCK_SEQPACKET socket. Both sides use it.
// Every failure is a Status; nothing that a peer sends can crash, block or leak a descriptor.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/wire/control.h"

namespace kvtier {

struct Message {
  std::vector<std::byte> bytes;  ///< at least a MessageHeader that agrees with the packet's length
  std::vector<UniqueFd> fds;

  [[nodiscard]] MessageHeader header() const;
  /// Copies the fixed part out; false when the packet is shorter than T.
  template <class T>
  [[nodiscard]] bool read(T& out) const {
    if (bytes.size() < sizeof(T)) return false;
    __builtin_memcpy(&out, bytes.data(), sizeof(T));
    return true;
  }
  /// What follows the fixed part T; empty when there is nothing.
  template <class T>
  [[nodiscard]] std::span<const std::byte> tail() const {
    return bytes.size() <= sizeof(T) ? std::span<const std::byte>() : std::span(bytes).subspan(sizeof(T));
  }
};

/// Fills in magic, type, bytes and sequence.
MessageHeader message_header(MessageType type, std::size_t bytes, std::uint32_t sequence);

/// Sends one message without blocking. kBusy: the peer's buffer is full; kUnavailable: the peer is gone.
Status send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds);

template <class T>
requires(!std::is_convertible_v<const T&, std::span<const std::byte>>)  // those are bytes already
    Status send_message(int socket, const T& message, std::span<const int> fds = {}) {
  return send_message(socket, std::as_bytes(std::span(&message, 1)), fds);
}

/// A refusal with its text, cut to what fits one message.
std::vector<std::byte> refused_message(std::uint32_t sequence, const Status& why);
Status send_refused(int socket, std::uint32_t sequence, const Status& why);

/// kDrop: the kernel discards descriptors before they are ours. Closing a stranger's descriptor can block (a
/// FUSE file asks its server), so who expects none takes none.
enum class TakeFds : std::uint8_t { kTake, kDrop };

/// Receives one message without blocking. kBusy: nothing there; kUnavailable: hang-up; kInvalid: not a
/// message of ours (short, wrong magic, wrong length, too many descriptors), in which case its descriptors
/// are closed.
Result<Message> receive_message(int socket, TakeFds take_fds = TakeFds::kTake);

}  // namespace kvtier
