// The store's side of sessions and of the control messages: who is there, and what each may map.
#include "daemon/flow/lending.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/sessions.h"
#include "daemon/flow/state.h"
#include "daemon/flow/store.h"

namespace kvtier {

Result<SessionGrant> Store::session_open(const SessionRequest& request) {
  return kvtier::session_open(*state_, request);
}

SessionIndex Store::session_proved(std::uint64_t session_id, const std::uint64_t (&secret)[2]) {
  const Session* session = kvtier::session_proved(*state_, session_id, secret);
  return session == nullptr ? SessionIndex::kNone : session->index;
}

Result<SessionGrant> Store::session_resume(std::uint64_t session_id, const std::uint64_t (&secret)[2],
                                           const SessionRequest& request) {
  return kvtier::session_resume(*state_, session_id, secret, request);
}

std::vector<std::pair<SessionIndex, int>> Store::adopted_sessions() const {
  std::vector<std::pair<SessionIndex, int>> result;
  for (const auto& session : state_->sessions) {
    if (session != nullptr && session->life == Session::Life::kAdopted) {
      result.emplace_back(session->index, session->pidfd.get());
    }
  }
  return result;
}

void Store::session_keep_pidfd(SessionIndex index, int pidfd) {
  if (const Session* session = state_->session(index); session != nullptr)
    session_keep(*state_, *session, pidfd);
}

void Store::session_hang_up(SessionIndex index) {
  if (Session* session = state_->session(index); session != nullptr)
    kvtier::session_hang_up(*state_, *session);
}

void Store::session_exited(SessionIndex index) {
  if (Session* session = state_->session(index); session != nullptr)
    kvtier::session_exited(*state_, *session);
}

Result<SpaceGrant> Store::space_register(SessionIndex index, std::span<const std::byte> spec) {
  Session* session = state_->session(index);
  if (session == nullptr) return Status(Code::kStale, "the session has ended");
  return kvtier::space_register(*state_, *session, spec);
}

std::vector<SlabIndex> Store::slabs_of(SessionIndex index) const {
  const Session* session = state_->session(index);
  return session == nullptr ? std::vector<SlabIndex>() : state_->tenant_of(*session).slabs;
}

Result<SlabGrant> Store::slab_grant(SessionIndex index, SlabIndex slab_index) {
  const Session* session = state_->session(index);
  if (session == nullptr || index_of(slab_index) >= state_->memory.slab_count()) {
    return Status(Code::kStale, "no such session or slab");
  }
  const Slab& slab = state_->memory.slab(slab_index);
  if (slab.owner() != session->tenant) return Status(Code::kDenied, "the slab belongs to another namespace");
  const bool is_writable = !session->request.is_read_only;
  SlabGrant grant;
  grant.data_fd = slab.data_fd(is_writable);
  grant.table_fd = slab.table_fd();
  grant.message.slab = index_of(slab_index);
  grant.message.flags = is_writable ? kSlabWritable : 0;
  grant.message.slab_bytes = slab.bytes();
  grant.message.table_bytes = slab.table_bytes();
  grant.message.pins_offset = index_of(slab_index) * state_->pins_stride;
  grant.message.slots_max = slab.slots_max();
  return grant;
}

void Store::slab_acknowledged(SessionIndex index, const SlabAck& ack) {
  Session* session = state_->session(index);
  if (session == nullptr) return;
  lending_acknowledged(*state_, *session, ack);
  rebalance_unmapped(*state_, *session, ack);
}

DirectoryGrant Store::directory_grant(SessionIndex index) const {
  const Session* session = state_->session(index);
  if (session == nullptr) return {};
  const Tenant& tenant = state_->tenant_of(*session);
  return {tenant.directory.read_fd(), tenant.directory.bytes(), tenant.directory_epoch};
}

void Store::directory_acknowledged(SessionIndex, std::uint64_t) {
}  // the old memfd is gone with its last mapping

}  // namespace kvtier
