#include "tools/kvbench/support/bench_client.h"

#include "tests/support/pattern_block.h"
#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kDeadlineNs = 10'000'000'000;
constexpr std::uint32_t kBlockTokens = 16;

struct SpecDeleter {
  void operator()(kvc_spec* spec) const { kvc_spec_destroy(spec); }
};
using Spec = std::unique_ptr<kvc_spec, SpecDeleter>;

kvc_part part_of(std::uint64_t bytes) {
  kvc_part part{};
  part.struct_size = sizeof part;
  part.name = "kv";
  part.bytes = bytes;
  part.layer_count = 1;
  part.kv_heads = 1;
  part.head_dim = 64;
  part.dtype = "bytes";
  part.layout = "flat";
  return part;
}

Spec make_spec(const SpaceOptions& options) {
  kvc_spec_options chosen{};
  chosen.struct_size = sizeof chosen;
  chosen.model = "kvbench";
  chosen.revision = options.revision.c_str();
  chosen.tokenizer = "none";
  chosen.block_tokens = kBlockTokens;
  kvc_spec* spec = nullptr;
  need_ok(kvc_spec_create(&chosen, &spec), "kvc_spec_create");
  Spec owned(spec);
  const kvc_part part = part_of(options.block_bytes);
  need_ok(kvc_spec_add_part(spec, &part), "kvc_spec_add_part");
  return owned;
}

}  // namespace

BenchClient::BenchClient(const std::string& socket, const SpaceOptions& options)
    : block_bytes_(options.block_bytes) {
  kvc_client_options chosen{};
  chosen.struct_size = sizeof chosen;
  chosen.socket_path = socket.c_str();
  chosen.client_name = "kvbench";
  chosen.deadline_ns = kDeadlineNs;
  chosen.flags = KVC_REQUIRE;
  need_ok(kvc_client_open(&chosen, &client_), "kvc_client_open");
  const Spec spec = make_spec(options);
  need_ok(kvc_space_register(client_, spec.get(), kDeadlineNs, &space_), "kvc_space_register");
}

BenchClient::~BenchClient() {
  kvc_space_close(space_);
  kvc_client_close(client_);
}

Lease BenchClient::make_lease(std::size_t capacity) const {
  kvc_lease* lease = nullptr;
  need_ok(kvc_lease_create(client_, capacity, &lease), "kvc_lease_create");
  return Lease(lease);
}

std::size_t BenchClient::put(std::span<const Key> keys, const Key* parent) {
  slots_.resize(keys.size());
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.parent = parent != nullptr ? as_c(parent) : nullptr;
  need_ok(kvc_reserve(space_, as_c(keys.data()), keys.size(), &options, slots_.data()), "kvc_reserve");
  std::size_t added = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (slots_[i].code != KVC_OK) continue;
    test::fill_pattern(keys[i], {static_cast<std::byte*>(slots_[i].data), block_bytes_});
    ++added;
  }
  need_ok(kvc_commit(space_, slots_.data(), keys.size(), KVC_WAIT, kDeadlineNs), "kvc_commit");
  return added;
}

void BenchClient::restore(std::span<const Key> keys) const {
  std::vector<std::uint8_t> states(keys.size());
  std::size_t ready = 0;
  const int code =
      kvc_restore(space_, as_c(keys.data()), keys.size(), 2 * kDeadlineNs, states.data(), &ready);
  if (code != KVC_NO_SPACE && code != KVC_DEADLINE) need_ok(code, "kvc_restore");
}

std::uint64_t BenchClient::check(std::span<const Key> keys, std::size_t* held) {
  return check(keys, keys, held);
}

std::uint64_t BenchClient::check(std::span<const Key> keys, std::span<const Key> patterns,
                                 std::size_t* held) {
  const Lease lease = make_lease(keys.size());
  need_ok(kvc_acquire(space_, as_c(keys.data()), keys.size(), 0, 0, lease.get()), "kvc_acquire");
  if (held != nullptr) *held = kvc_lease_held(lease.get());
  return wrong_blocks(lease.get(), patterns);
}

std::uint64_t wrong_blocks(const kvc_lease* lease, std::span<const Key> keys) {
  const void* const* blocks = kvc_lease_blocks(lease);
  const std::size_t bytes = kvc_lease_block_bytes(lease);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < kvc_lease_count(lease); ++i) {
    if (blocks[i] == nullptr) continue;
    const std::span<const std::byte> block(static_cast<const std::byte*>(blocks[i]), bytes);
    wrong += test::check_pattern(keys[i], block) == bytes ? 0 : 1;
  }
  return wrong;
}

}  // namespace kvtier::bench
