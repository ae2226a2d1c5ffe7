#pragma once
// Takes the store's outbox to the clients: completions into rings, messages onto sockets, ends to sessions.
// Waiting client threads are woken once a round. A client that is gone gets nothing; one that is full loses
// its session.

#include <vector>

#include "daemon/session/sessions.h"

namespace kvtier {

class Delivery {
 public:
  explicit Delivery(Sessions& sessions) : sessions_(sessions) { events_.reserve(kOutboxEvents); }

  /// Empties the outbox. Returns the number of events.
  std::size_t run();

 private:
  void deliver(const OutEvent& event);
  void complete(std::uint32_t index, const Completion& completion);
  void send(std::uint32_t index, const OutEvent& event);
  void touch(std::uint32_t index);
  void finish_round();

  struct Touched {
    std::uint32_t index;
    std::uint32_t generation;
  };
  Sessions& sessions_;
  std::vector<OutEvent> events_;  ///< the batch in work: the outbox's memory, swapped back and forth
  std::vector<Touched> touched_;  ///< connections to wake and to flush at the end of the round
};

}  // namespace kvtier
