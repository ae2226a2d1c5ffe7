// share.c in C++: the same model, prompt and bytes, so that each of the examples reads what another one computed.
// c++ -std=c++20 share.cc -lkvclient; KVTIER_SOCKET names a socket other than the default.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

#include "kvclient/client.hpp"

namespace {

kvclient::Spec example_model() {
  kvc_spec_options model{};
  model.model = "example", model.revision = "1", model.tokenizer = "1", model.block_tokens = 16;
  kvc_part part{};
  part.name = "kv", part.bytes = 65536, part.layer_count = 1;
  part.kv_heads = 1, part.head_dim = 64, part.dtype = "f16", part.layout = "token,head,dim";
  kvclient::Spec spec(model);
  spec.add_part(part);
  return spec;
}

std::size_t compute_missing(const kvclient::Space& space, kvclient::Keys keys) {
  kvclient::Reservation slots = space.reserve(keys);
  std::size_t computed = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (!slots.is_new(i)) continue;  // there already, or being computed, or no room
    std::ranges::fill(slots.buffer(i), static_cast<std::byte>(i + 1));
    ++computed;
  }
  kvclient::check(slots.commit(KVC_WAIT));
  return computed;
}

void share() {
  kvc_client_options options{};
  options.flags = KVC_REQUIRE;
  const kvclient::Client client(options);
  const kvclient::Space space = client.space(example_model());
  std::vector<std::uint32_t> tokens(std::size_t{4} * space.block_tokens());
  tokens[0] = 1, tokens[1] = 2, tokens[2] = 3;  // the prompt
  const std::vector<kvc_key> keys = space.keys(tokens);
  (void)space.restore(keys, 0);  // what only a disk has comes back into memory; nothing there: no round trip
  const std::size_t computed = compute_missing(space, keys);
  kvclient::Lease lease = client.lease(keys.size());
  space.acquire(keys, lease);
  for (std::size_t i = 0; i < lease.size(); ++i)
    std::printf("block %zu begins with %d\n", i, std::to_integer<int>(lease[i][0]));
  std::printf("computed %zu, read %zu of %zu\n", computed, lease.held(), keys.size());
}

}  // namespace

int main() {
  try {
    share();
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
