#include "daemon/io/uring_queue.h"

#include <liburing.h>

#include <algorithm>
#include <cerrno>

namespace kvtier {
namespace {

constexpr int kTriesMax = 16;
/// Completions are run when the owner looks, not by interrupting it.
constexpr unsigned kQuietFlags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;

void prepare(io_uring_sqe& sqe, const IoOperation& operation, const UringTarget& target) {
  const bool is_fixed = target.region >= 0;
  switch (operation.kind) {
    case IoKind::kSync:
      io_uring_prep_fsync(&sqe, target.fd, IORING_FSYNC_DATASYNC);
      break;
    case IoKind::kRead:
      is_fixed ? io_uring_prep_read_fixed(&sqe, target.fd, operation.data, operation.bytes, operation.offset,
                                          target.region)
               : io_uring_prep_read(&sqe, target.fd, operation.data, operation.bytes, operation.offset);
      break;
    case IoKind::kWrite:
      is_fixed ? io_uring_prep_write_fixed(&sqe, target.fd, operation.data, operation.bytes, operation.offset,
                                           target.region)
               : io_uring_prep_write(&sqe, target.fd, operation.data, operation.bytes, operation.offset);
      break;
  }
  if (target.is_place) io_uring_sqe_set_flags(&sqe, IOSQE_FIXED_FILE);
}

}  // namespace

UringQueue::UringQueue() : ring_(std::make_unique<io_uring>()) {}

UringQueue::~UringQueue() {
  if (is_open_) io_uring_queue_exit(ring_.get());
}

int UringQueue::open(std::uint32_t depth, bool is_polled) {
  const unsigned flags = is_polled ? IORING_SETUP_IOPOLL : 0U;
  int result = try_open(depth, flags | kQuietFlags);
  if (result == -EINVAL) result = try_open(depth, flags);  // kernel before 5.19
  is_open_ = result == 0;
  return result;
}

int UringQueue::try_open(std::uint32_t depth, unsigned flags) {
  io_uring_params params{};
  params.flags = flags | IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE;
  params.cq_entries = 4 * depth;
  return io_uring_queue_init_params(2 * depth, ring_.get(), &params);
}

std::uint32_t UringQueue::depth() const {
  return std::min(ring_->sq.ring_entries / 2, ring_->cq.ring_entries / 4);
}

std::uint32_t UringQueue::submissions_max() const {
  return ring_->sq.ring_entries;
}

int UringQueue::fd() const {
  return ring_->ring_fd;
}

int UringQueue::send_nothing() {
  io_uring_sqe* sqe = io_uring_get_sqe(ring_.get());
  if (sqe == nullptr) return -EBUSY;
  io_uring_prep_nop(sqe);
  int result = -EINTR;
  for (int tries = 0; result == -EINTR && tries < kTriesMax; ++tries)
    result = io_uring_submit_and_wait(ring_.get(), 1);
  if (result < 0) return result;
  UringCompletion completion;
  return pop(completion) ? completion.result : -EIO;
}

int UringQueue::register_files(std::span<const int> fds) {
  return io_uring_register_files(ring_.get(), fds.data(), static_cast<unsigned>(fds.size()));
}

int UringQueue::set_file(std::uint32_t at, int fd) {
  return io_uring_register_files_update(ring_.get(), at, &fd, 1);
}

int UringQueue::register_regions(std::uint32_t count) {
  return io_uring_register_buffers_sparse(ring_.get(), count);
}

int UringQueue::set_region(std::uint32_t at, std::span<std::byte> memory) {
  const iovec vector{memory.data(), memory.size()};
  const __u64 tag = 0;
  return io_uring_register_buffers_update_tag(ring_.get(), at, &vector, &tag, 1);
}

bool UringQueue::push(const IoOperation& operation, const UringTarget& target, std::uint64_t data) {
  io_uring_sqe* sqe = io_uring_get_sqe(ring_.get());
  if (sqe == nullptr) return false;
  prepare(*sqe, operation, target);
  io_uring_sqe_set_data64(sqe, data);
  return true;
}

bool UringQueue::push_cancel(std::uint64_t cancelled, std::uint64_t data) {
  io_uring_sqe* sqe = io_uring_get_sqe(ring_.get());
  if (sqe == nullptr) return false;
  io_uring_prep_cancel64(sqe, cancelled, 0);
  io_uring_sqe_set_data64(sqe, data);
  return true;
}

int UringQueue::submit() {
  return io_uring_submit(ring_.get());
}

bool UringQueue::pop(UringCompletion& completion) {
  io_uring_cqe* cqe = nullptr;
  if (io_uring_peek_cqe(ring_.get(), &cqe) != 0) return false;
  completion = {cqe->user_data, cqe->res};
  io_uring_cqe_seen(ring_.get(), cqe);
  return true;
}

int UringQueue::wait() {
  io_uring_cqe* cqe = nullptr;
  return io_uring_wait_cqe(ring_.get(), &cqe);
}

}  // namespace kvtier
