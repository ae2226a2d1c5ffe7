/* Stores the blocks of a token sequence and reads them in place. Run it twice: the second run computes nothing.
 * cc share.c -lkvclient (README.md: "Run it"); KVTIER_SOCKET names a socket other than the default. */
#include "kvclient/kvclient.h"

#include <stdio.h>
#include <string.h>

static int fail(const char* what) {
  return fprintf(stderr, "%s: %s\n", what, kvc_last_error()), 1;
}

int main(void) {
  enum { kBlocks = 4, kTokens = 16 };
  kvc_client_options open = {.struct_size = sizeof open, .flags = KVC_REQUIRE};
  kvc_client* client = NULL;
  if (kvc_client_open(&open, &client) != KVC_OK) return fail("open");

  kvc_spec_options model = {
      .struct_size = sizeof model, .model = "example", .revision = "1", .tokenizer = "1"};
  model.block_tokens = kTokens;
  kvc_part part = {.struct_size = sizeof part, .name = "kv", .bytes = 65536, .layer_count = 1};
  part.kv_heads = 1, part.head_dim = 64, part.dtype = "f16", part.layout = "token,head,dim";
  kvc_spec* spec = NULL;
  kvc_space* space = NULL;
  if (kvc_spec_create(&model, &spec) != KVC_OK || kvc_spec_add_part(spec, &part) != KVC_OK ||
      kvc_space_register(client, spec, 0, &space) != KVC_OK)
    return fail("register");

  uint32_t tokens[kBlocks * kTokens] = {1, 2, 3}; /* the prompt */
  const size_t token_count = sizeof tokens / sizeof tokens[0];
  kvc_key keys[kBlocks];
  size_t count = 0;
  if (kvc_keys_from_tokens(space, tokens, token_count, NULL, 0, NULL, keys, kBlocks, &count) != KVC_OK)
    return fail("keys");

  size_t ready = 0; /* what only a disk has comes back into memory; nothing there: no round trip */
  (void)kvc_restore(space, keys, count, 0, NULL, &ready);

  kvc_slot slots[kBlocks];
  kvc_reserve_options reserve = {.struct_size = sizeof reserve};
  if (kvc_reserve(space, keys, count, &reserve, slots) != KVC_OK) return fail("reserve");
  size_t computed = 0;
  for (size_t i = 0; i < count; ++i) { /* others: there already, or being computed, or no room */
    if (slots[i].code == KVC_OK) memset(slots[i].data, (int)i + 1, part.bytes), ++computed;
  }
  if (kvc_commit(space, slots, count, KVC_WAIT, 0) != KVC_OK) return fail("commit");

  kvc_lease* lease = NULL;
  if (kvc_lease_create(client, count, &lease) != KVC_OK) return fail("lease");
  if (kvc_acquire(space, keys, count, 0, 0, lease) != KVC_OK) return fail("acquire");
  for (size_t i = 0; i < kvc_lease_count(lease); ++i)
    printf("block %zu begins with %d\n", i, *(const unsigned char*)kvc_lease_blocks(lease)[i]);
  printf("computed %zu, read %zu of %zu\n", computed, kvc_lease_count(lease), count);
  kvc_lease_destroy(lease);
  kvc_space_close(space);
  kvc_spec_destroy(spec);
  kvc_client_close(client);
  return 0;
}
