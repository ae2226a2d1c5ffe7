#include "daemon/session/liveness.h"

#include <sys/epoll.h>

namespace kvtier {
Status Liveness::watch(SessionIndex session, UniqueFd pidfd) {
  const std::uint32_t index = index_of(session);
  if (index >= watches_.size()) watches_.resize(index + 1);
  Watch& watch = watches_[index];
  if (watch.pidfd.is_open()) stop(watch);
  const PollToken token{PollSource::kProcess, index, watch.generation};
  KV_RETURN_IF_ERROR(poller_->add(pidfd.get(), EPOLLIN, token));
  watch.pidfd = std::move(pidfd);
  ++watched_count_;
  return Status::ok();
}

void Liveness::stop(Watch& watch) {
  poller_->remove(watch.pidfd.get());
  watch.pidfd.reset();
  watch.generation = (watch.generation + 1) & kPollGenerationMask;
  --watched_count_;
}

SessionIndex Liveness::take_exit(const PollToken& token) {
  if (token.index >= watches_.size()) return SessionIndex::kNone;
  Watch& watch = watches_[token.index];
  if (!watch.pidfd.is_open() || watch.generation != token.generation) return SessionIndex::kNone;
  stop(watch);
  return SessionIndex{token.index};
}

void Liveness::forget(SessionIndex session) {
  if (pidfd_of(session) >= 0) stop(watches_[index_of(session)]);
}

int Liveness::pidfd_of(SessionIndex session) const {
  const std::uint32_t index = index_of(session);
  return index < watches_.size() ? watches_[index].pidfd.get() : -1;
}

}  // namespace kvtier
