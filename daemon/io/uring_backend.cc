#include "daemon/io/uring_backend.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "daemon/io/fixed_queue.h"
#include "daemon/io/uring_queue.h"
#include "daemon/io/uring_refusal.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kDepthMin = 4;
constexpr int kSubmitTriesMax = 16;
constexpr std::uint64_t kNobody =
    ~std::uint64_t{0};  ///< data of a cancellation: its own completion is no news

class UringBackend final : public IoBackend {
 public:
  explicit UringBackend(const UringOptions& options)
      : options_(options), fds_(options.files_max, -1), regions_(options.regions_max) {}
  ~UringBackend() override;
  Status open();

  Status set_file(IoFile file, int fd) override;
  Status set_region(IoRegion region, std::span<std::byte> memory) override;
  bool start(const IoOperation& operation) override;
  void flush(TimeNs now_ns) override;
  std::size_t reap(TimeNs now_ns, std::span<IoCompletion> completions) override;
  void cancel(std::uint32_t slot) override;
  [[nodiscard]] int completion_fd() const override { return queue_.fd(); }
  /// A polled device tells nobody. A kernel that was short of memory is asked again after the next completion; at
  /// once, if none is to come.
  [[nodiscard]] TimeNs next_deadline_ns() const override {
    const bool is_stuck = !staged_.is_empty() && in_kernel_ == 0;
    return is_stuck || !refused_.is_empty() || (options_.use_polling && in_kernel_ > 0) ? 0 : kNever;
  }
  [[nodiscard]] std::uint32_t depth() const override { return depth_; }
  [[nodiscard]] IoFacts facts() const override;

 private:
  struct Region {
    std::uint64_t bytes = 0;
    bool is_registered = false;
  };

  Status open_queue();
  void register_tables();
  [[nodiscard]] UringTarget target_of(const IoOperation& operation) const;
  void refuse_staged(int error_number);
  std::size_t take_refused(std::span<IoCompletion> completions);

  // constant after open()
  const UringOptions options_;
  UringQueue queue_;
  std::uint32_t depth_ = 0;
  bool has_file_table_ = false;
  bool has_region_table_ = false;
  std::string depth_reason_;
  std::string files_reason_;
  // owned by the agent
  std::string regions_reason_;
  std::vector<int> fds_;
  std::vector<Region> regions_;
  FixedQueue<std::uint64_t> staged_{1};  ///< data, in the order of the submission ring; not in the kernel yet
  FixedQueue<IoCompletion> refused_{1};
  std::uint32_t in_kernel_ = 0;  ///< operations and cancellations
  std::uint32_t cancels_ = 0;    ///< started and not completed
  int broken_errno_ = 0;         ///< the kernel takes nothing any more
};

// The kernel goes on writing into memory when a ring is closed under it.
UringBackend::~UringBackend() {
  flush(0);
  while (in_kernel_ > 0) {
    const int result = queue_.wait();
    if (result < 0 && result != -EINTR && result != -EAGAIN) return;
    for (UringCompletion completion; queue_.pop(completion);) --in_kernel_;
  }
}

Status UringBackend::open() {
  KV_RETURN_IF_ERROR(open_queue());
  staged_ = FixedQueue<std::uint64_t>(queue_.submissions_max());
  refused_ = FixedQueue<IoCompletion>(queue_.submissions_max());
  // A filter may allow the ring and forbid its use. A polled ring takes reads and writes only.
  const int nothing = options_.use_polling ? 0 : queue_.send_nothing();
  if (nothing < 0) return uring_refusal("io_uring_enter", -nothing);
  register_tables();
  return Status::ok();
}

// A ring that is too large for the memory there is comes in half its size, and again.
Status UringBackend::open_queue() {
  int error = 0;
  for (std::uint32_t depth = std::max(options_.depth, kDepthMin); depth >= kDepthMin; depth /= 2) {
    const int result = queue_.open(depth, options_.use_polling);
    if (result == 0) {
      depth_ = std::min(options_.depth, queue_.depth());
      depth_reason_ = uring_depth_reason(options_.depth, depth_, error);
      return Status::ok();
    }
    error = -result;
    if (error != ENOMEM) break;
  }
  return uring_refusal("io_uring_setup", error);
}

void UringBackend::register_tables() {
  const int files = queue_.register_files(fds_);
  has_file_table_ = files >= 0;
  if (!has_file_table_) files_reason_ = uring_refusal("io_uring_register_files", -files).message();
  if (!options_.use_registered_buffers) {
    regions_reason_ = "not wished for";
    return;
  }
  const int regions = queue_.register_regions(options_.regions_max);
  has_region_table_ = regions >= 0;
  if (!has_region_table_) regions_reason_ = uring_refusal("io_uring_register_buffers", -regions).message();
}

Status UringBackend::set_file(IoFile file, int fd) {
  const auto at = static_cast<std::uint32_t>(file);
  if (at >= fds_.size()) return {Code::kInvalid, "no such place in the table of files"};
  const int result = has_file_table_ ? queue_.set_file(at, fd) : 0;
  if (result < 0) return uring_refusal("io_uring_register_files_update", -result);
  fds_[at] = fd;
  return Status::ok();
}

Status UringBackend::set_region(IoRegion region, std::span<std::byte> memory) {
  const auto at = static_cast<std::uint32_t>(region);
  if (at >= regions_.size()) return {Code::kInvalid, "no such place in the table of memory"};
  if (regions_[at].is_registered) (void)queue_.set_region(at, {});
  regions_[at] = {memory.size(), false};
  if (!has_region_table_ || memory.empty()) return Status::ok();
  const int result = queue_.set_region(at, memory);
  regions_[at].is_registered = result >= 0;
  if (result < 0 && regions_reason_.empty()) regions_reason_ = uring_region_reason(memory.size(), -result);
  return Status::ok();
}

UringTarget UringBackend::target_of(const IoOperation& operation) const {
  const auto file = static_cast<std::uint32_t>(operation.file);
  const auto region = static_cast<std::uint32_t>(operation.region);
  const bool is_fixed = region < regions_.size() && regions_[region].is_registered;
  return {has_file_table_ ? static_cast<int>(file) : fds_[file], has_file_table_,
          is_fixed ? static_cast<int>(region) : -1};
}

bool UringBackend::start(const IoOperation& operation) {
  if (broken_errno_ != 0) {
    refused_.push({operation.slot, -broken_errno_});
    return true;
  }
  if (!queue_.push(operation, target_of(operation), operation.slot)) return false;
  staged_.push(operation.slot);
  return true;
}

// The kernel takes from the front: all, some, or none. Short of memory or of room for completions it is asked again
// in the next round, after a reap.
void UringBackend::flush(TimeNs) {
  for (int tries = 0; !staged_.is_empty() && tries < kSubmitTriesMax; ++tries) {
    const int result = queue_.submit();
    if (result == -EAGAIN || result == -EBUSY || result == -ENOMEM) return;
    if (result < 0 && result != -EINTR) return refuse_staged(-result);
    for (int taken = 0; taken < result; ++taken) {
      (void)staged_.pop();
      ++in_kernel_;
    }
  }
}

void UringBackend::refuse_staged(int error_number) {
  broken_errno_ = error_number;
  while (!staged_.is_empty()) {
    const std::uint64_t data = staged_.pop();
    if (data == kNobody) {
      --cancels_;
    } else {
      refused_.push({static_cast<std::uint32_t>(data), -error_number});
    }
  }
}

std::size_t UringBackend::reap(TimeNs, std::span<IoCompletion> completions) {
  if (!refused_.is_empty()) return take_refused(completions);
  std::size_t count = 0;
  for (UringCompletion completion; count < completions.size() && in_kernel_ > 0 && queue_.pop(completion);) {
    --in_kernel_;
    if (completion.data == kNobody) {
      --cancels_;
    } else {
      completions[count++] = {static_cast<std::uint32_t>(completion.data), completion.result};
    }
  }
  return count;
}

std::size_t UringBackend::take_refused(std::span<IoCompletion> completions) {
  std::size_t count = 0;
  while (count < completions.size() && !refused_.is_empty()) completions[count++] = refused_.pop();
  return count;
}

void UringBackend::cancel(std::uint32_t slot) {
  if (broken_errno_ != 0 || options_.use_polling || cancels_ >= depth_) return;
  if (!queue_.push_cancel(slot, kNobody)) return;
  staged_.push(kNobody);
  ++cancels_;
}

IoFacts UringBackend::facts() const {
  IoFacts facts{.engine = {"uring", {}},
                .depth = {depth_, depth_reason_},
                .registered_files = {has_file_table_, files_reason_},
                .registered_bytes = {0, regions_reason_},
                .polled = {options_.use_polling, {}}};
  if (broken_errno_ != 0) facts.engine = {"failed", uring_refusal("io_uring_enter", broken_errno_).message()};
  for (const Region& region : regions_) {
    facts.region_bytes += region.bytes;
    facts.registered_bytes.value += region.is_registered ? region.bytes : 0;
  }
  return facts;
}

}  // namespace

Result<std::unique_ptr<IoBackend>> open_uring(const UringOptions& options) {
  auto backend = std::make_unique<UringBackend>(options);
  KV_RETURN_IF_ERROR(backend->open());
  return std::unique_ptr<IoBackend>(std::move(backend));
}

}  // namespace kvtier
