#include "daemon/app/keeper_fd_store.h"

#include <fcntl.h>

#include <cstdlib>
#include <string>

#include "daemon/app/keeper_wire.h"
#include "daemon/app/stored_bytes.h"

namespace kvtier {

Result<std::unique_ptr<KeeperFdStore>> KeeperFdStore::connect() {
  const char* text = std::getenv(kKeeperFdVariable);
  if (text == nullptr) return std::unique_ptr<KeeperFdStore>();
  const int fd = std::atoi(text);
  if (fd <= 2 || ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return Status(Code::kInvalid, std::string(kKeeperFdVariable) + " is not an open descriptor: " + text);
  }
  std::unique_ptr<KeeperFdStore> store(new KeeperFdStore(UniqueFd(fd)));
  const Status status = store->fetch();
  if (!status.is_ok()) return status.while_doing("asking kvtier-keeper for what it keeps");
  return store;
}

Status KeeperFdStore::fetch() {
  KV_RETURN_IF_ERROR(keeper_send(socket_.get(), keeper_record(KeeperOp::kList, "")));
  while (true) {
    Result<KeeperMessage> message = keeper_receive(socket_.get());
    if (!message.is_ok()) return message.status();
    if (message.value().record.op == KeeperOp::kEnd) break;
    kept_.push_back({std::string(keeper_name(message.value().record)), std::move(message.value().fd)});
  }
  held_bytes_ = stored_bytes(kept_);
  return Status::ok();
}

Status KeeperFdStore::put(std::string_view name, int fd) {
  return keeper_send(socket_.get(), keeper_record(KeeperOp::kPut, name), fd);
}

void KeeperFdStore::remove(std::string_view name) {
  // A keeper that is gone keeps nothing.
  (void)keeper_send(socket_.get(), keeper_record(KeeperOp::kRemove, name));
}

void KeeperFdStore::started() {
  (void)keeper_send(socket_.get(), keeper_record(KeeperOp::kStarted, ""));  // gone: nobody counts starts
}

}  // namespace kvtier
