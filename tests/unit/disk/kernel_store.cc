#include "tests/unit/disk/kernel_store.h"

#include <poll.h>

#include <array>

#include "daemon/disk/path_size.h"
#include "tests/support/sim_store.h"

namespace kvtier::test {

Result<std::unique_ptr<KernelStore>> KernelStore::open(const std::string& folder, IoEngine engine,
                                                       bool use_direct) {
  std::unique_ptr<KernelStore> kernel(new KernelStore);
  DiskStoreOptions options;
  options.segment_bytes = kMiB;
  options.block_bytes_max = kBlockBytes;
  options.puts_max = 128;
  options.gets_max = 128;
  options.fresh_store = {{7, 8}};
  options.scratch_region = IoRegion{0};
  const std::uint64_t bytes = kSegmentsOffset + 8 * options.segment_bytes;
  Result<OwnedPath> owned = own_path({.folder = folder, .use_direct = use_direct, .instance = "the test"});
  if (!owned.is_ok()) return owned.status();
  kernel->owned_ = std::move(owned).value();
  KV_RETURN_IF_ERROR(size_path(
      kernel->owned_, {.bytes_max = bytes, .bytes_min = bytes, .step_bytes = options.segment_bytes}));
  Result<std::unique_ptr<IoBackend>> backend = open_io_engine({.engine = engine, .depth = 16});
  if (!backend.is_ok()) return backend.status();
  kernel->ring_ = std::make_unique<IoRing>(std::move(backend).value(), IoRingOptions{});
  KV_RETURN_IF_ERROR(kernel->ring_->set_file(IoFile{0}, kernel->owned_.data.get(), kAlignmentMin));
  KV_RETURN_IF_ERROR(kernel->ring_->set_region(IoRegion{1}, kernel->slots_));
  const StoreFile file{.file = IoFile{0}, .bytes = kernel->owned_.bytes, .home = kernel->owned_.home};
  kernel->shape_ = sim_shape(kBlockBytes);
  kernel->store_ = std::make_unique<DiskStore>(options, *kernel->ring_, std::span(&file, 1));
  return kernel;
}

KernelStore::~KernelStore() {
  ring_.reset();
}

DiskEvent KernelStore::wait(DiskEventKind kind) {
  DiskEvent event;
  for (;;) {
    const std::size_t work = store_->do_work(clock_.now_ns());
    while (store_->poll(event)) {
      if (event.kind == kind || event.kind == DiskEventKind::kRefused) return event;
      if (event.kind == DiskEventKind::kEntry) entries.push_back(event);
      if (event.kind != DiskEventKind::kAsk) continue;
      std::array<ReclaimAnswer, StoreReclaim::kQuestionsMax> dead{};
      store_->answer(std::span(dead).first(store_->questions().size()));
    }
    if (work > 0 || store_->next_deadline_ns() <= clock_.now_ns()) continue;
    pollfd ready{ring_->completion_fd(), POLLIN, 0};
    // Long: a store that slept although it had work would be seen.
    (void)::poll(&ready, 1, 2000);
  }
}

}  // namespace kvtier::test
