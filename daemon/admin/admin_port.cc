#include "daemon/admin/admin_port.h"

#include "daemon/flow/store.h"

namespace kvtier {
namespace {

template <class View>
Page<View> whole_list(std::vector<View> rows) {
  return {std::move(rows), {}};
}

Status check_namespace(StoreAdmin& admin, const std::string& name) {
  if (name.empty()) return Status::ok();
  std::string known;
  for (const NamespaceView& view : admin.namespaces()) {
    if (view.name == name) return Status::ok();
    known += (known.empty() ? "" : ", ") + view.name;
  }
  return {Code::kNotFound,
          "no client has used a namespace of this name yet; in use: " + (known.empty() ? "none" : known)};
}

// A mistyped space is no empty one: an eviction that meets nothing must not look like one that worked.
Status check_filter(StoreAdmin& admin, const AdminRequest& request) {
  KV_RETURN_IF_ERROR(check_namespace(admin, request.namespace_name));
  if (request.space == SpaceId::kNone) return Status::ok();
  for (const SpaceView& view : admin.spaces()) {
    if (view.namespace_name == request.namespace_name && view.space == request.space) return Status::ok();
  }
  return {Code::kNotFound, "namespace " + request.namespace_name + " has no space " +
                               std::to_string(static_cast<std::uint32_t>(request.space)) +
                               "; see kvctl spaces"};
}

std::uint64_t used_bytes(StoreAdmin& admin) {
  std::uint64_t bytes = 0;
  for (const NamespaceView& view : admin.namespaces()) bytes += view.used_bytes;
  return bytes;
}

AdminAnswerBody sync_body(StoreAdmin& admin, const BlockFilter& filter, std::uint64_t number,
                          Status& status) {
  const Result<SyncView> view = admin.sync(filter, number);
  if (view.is_ok()) return view.value();
  status = view.status();
  return std::monostate{};
}

AdminAnswerBody answer_body(Store& store, const AdminRequest& request, Status& status) {
  StoreAdmin& admin = store.admin();
  const BlockFilter filter{request.namespace_name, request.space};
  switch (request.verb) {
    case AdminVerb::kVersion:
    case AdminVerb::kHealth:
    case AdminVerb::kVerify:    // never sent: VerifyDesk
      return std::monostate{};  // the answer is that there is one
    case AdminVerb::kStatus:
      return AdminStatusView{admin.complaints(), store.stats(), store.unverified_count(), used_bytes(admin)};
    case AdminVerb::kStats:
      return store.stats();
    case AdminVerb::kNamespaces:
      return whole_list(admin.namespaces());
    case AdminVerb::kSpaces:
      return whole_list(admin.spaces());
    case AdminVerb::kClients:
      return whole_list(admin.clients());
    case AdminVerb::kLs:
      return admin.blocks(filter, request.cursor, request.limit);
    case AdminVerb::kTree:
      return admin.tree(filter, request.tree_cursor, request.limit);
    case AdminVerb::kInspect:
      return admin.inspect(request.key, request.cursor, request.limit);
    case AdminVerb::kEvict:
    case AdminVerb::kFlush:
      return admin.evict({filter, request.key, request.is_disk_too}, request.evict_cursor, request.limit);
    case AdminVerb::kSync:
      return sync_body(admin, filter, request.sync, status);
    case AdminVerb::kKick:
      status = admin.kick(request.kick);
      return std::monostate{};
  }
  return std::monostate{};
}

// Not 0: a step was taken and there are more.
std::uint64_t census_left(StoreAdmin& admin, const AdminRequest& request) {
  if (!request.has_leases()) return 0;
  const std::uint64_t round = request.census != 0 ? request.census : admin.leases_ask();
  return admin.leases_count(round) ? 0 : round;
}

}  // namespace

std::size_t AdminPort::serve(Store& store) {
  AdminCommand command;
  if (!commands_.pop(command)) return 0;
  AdminAnswer answer;
  answer.ticket = command.ticket;
  answer.status = check_filter(store.admin(), command.request);
  if (answer.status.is_ok()) answer.census = census_left(store.admin(), command.request);
  if (answer.status.is_ok() && answer.census == 0)
    answer.body = answer_body(store, command.request, answer.status);
  KV_CHECK(answers_.push(std::move(answer)), "the mailbox holds as many answers as may be in flight");
  return 1;
}

bool AdminPort::send(AdminCommand command) {
  if (in_flight_ == kInFlightMax) return false;
  KV_CHECK(commands_.push(std::move(command)), "the mailbox holds as many commands as may be in flight");
  ++in_flight_;
  return true;
}

bool AdminPort::receive(AdminAnswer& answer) {
  if (!answers_.pop(answer)) return false;
  --in_flight_;
  return true;
}

}  // namespace kvtier
