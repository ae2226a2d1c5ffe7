#pragma once
// The daemon's ends of one client's two rings, and the words both sides sleep by. The memory is the client's
// as well: nothing read from it is believed beyond this session.

#include <cstddef>
#include <cstdint>
#include <span>

#include "libkvclient/wire/channel.h"
#include "libkvclient/wire/ring.h"

namespace kvtier {

class ClientRings {
 public:
  /// `channel` is the daemon's mapping. A resumed channel goes on at the cursors it holds; what the client
  /// had submitted to the dead daemon is dropped, as the client dropped the requests.
  explicit ClientRings(std::byte* channel);

  /// Copies up to `room.size()` submissions out. False: the client broke its cursor.
  bool pop(std::span<Submission> room, std::size_t& count);
  /// False: the ring is full or broken. More answers than requests can be open: the client misbehaves.
  bool push(const Completion& completion);
  /// Wakes client threads that sleep on the completion tail, if any say so.
  void wake_waiters();

  /// Announces that the daemon may block; submissions published before are seen by has_work() after it.
  void announce_sleep();
  void retract_sleep();
  [[nodiscard]] bool has_work() const { return !submissions_.is_empty(); }

 private:
  ChannelHeader* header_;
  SubmissionConsumer submissions_;
  CompletionProducer completions_;
};

}  // namespace kvtier
