// Two samples of one prompt, as an engine with paged attention keeps them: the prompt's blocks are in common, also with
// earlier runs of this program. c++ -std=c++20 sequence.cc -lkvclient; KVTIER_SOCKET names a socket other than the default.
#include "kvclient/sequence.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>

#include "kvclient/client_slots.hpp"

namespace {

using kvclient::Sequence;

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

void must(const kvclient::Outcome& outcome) {
  kvclient::check(outcome.code);
}

// A model that attends to readable(0) to readable(i / 16) would write token i's keys and values here.
void compute(Sequence& sequence, std::size_t block_tokens) {
  for (std::size_t i = sequence.written_count(); i < sequence.tokens_count(); ++i) {
    const std::span<std::byte> block = sequence.writable(i / block_tokens);
    const std::size_t bytes = block.size() / block_tokens;
    std::ranges::fill(block.subspan(i % block_tokens * bytes, bytes), static_cast<std::byte>(i + 1));
  }
  must(sequence.commit(sequence.tokens_count()));
}

void sample(Sequence& sequence, std::uint32_t first_token, std::size_t block_tokens) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    must(sequence.append(first_token + i));
    compute(sequence, block_tokens);
  }
}

std::size_t blocks_in_common(const Sequence& a, const Sequence& b) {
  std::size_t count = 0;
  while (count < a.table().size() && a.readable(count).data() == b.readable(count).data()) ++count;
  return count;
}

void run() {
  kvc_client_options options{};
  options.flags = KVC_REQUIRE;
  const kvclient::Client client(options);
  const kvclient::Space space = client.space(example_model());
  kvclient::ClientSlots slots(client, space);
  std::vector<std::uint32_t> prompt(40);
  std::iota(prompt.begin(), prompt.end(), 1000);

  Sequence first(slots);
  must(first.allocate(prompt));
  std::printf("%zu of %zu tokens were there\n", first.written_count(), first.tokens_count());
  compute(first, space.block_tokens());
  Sequence second(slots);
  must(first.fork(second));
  sample(first, 1, space.block_tokens());
  sample(second, 2, space.block_tokens());
  std::printf("%zu of %zu blocks are in common\n", blocks_in_common(first, second), first.blocks_count());

  must(second.swap_out());  // another request has the memory for a while
  if (!second.swap_in().is_ok()) {
    must(second.recompute());
    compute(second, space.block_tokens());
  }
  const std::size_t token_bytes = space.block_bytes() / space.block_tokens();
  std::printf("token 55 is %d\n", std::to_integer<int>(second.readable(55 / 16)[55 % 16 * token_bytes]));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
