// kvc_keys_from_tokens: base/block_hash.h through the C contract.

#include <string>

#include "libkvclient/base/block_hash.h"
#include "libkvclient/src/handles.h"

using namespace kvtier;

extern "C" int kvc_keys_from_tokens(const kvc_space* space, const uint32_t* tokens, size_t tokens_count,
                                    const void* salt, size_t salt_bytes, const kvc_key* parent, kvc_key* keys,
                                    size_t capacity, size_t* count) try {
  if (count != nullptr) *count = 0;
  const char* missing = space == nullptr                        ? "space"
                        : count == nullptr                      ? "count"
                        : tokens == nullptr && tokens_count > 0 ? "tokens, of which tokens_count says some,"
                        : salt == nullptr && salt_bytes > 0     ? "salt, of which salt_bytes says some,"
                                                                : nullptr;
  if (missing != nullptr)
    return client::report(
        Status(Code::kInvalid, "kvc_keys_from_tokens: " + std::string(missing) + " is NULL"));
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  const std::uint32_t block_tokens = space->space->spec.block_tokens;
  const std::size_t blocks = tokens_count / block_tokens;
  if (blocks > capacity || (keys == nullptr && blocks > 0)) {
    return client::report(Status(Code::kInvalid, "kvc_keys_from_tokens: " + std::to_string(blocks) +
                                                     " full blocks, room for " + std::to_string(capacity)));
  }
  const std::string_view salt_text(static_cast<const char*>(salt), salt_bytes);
  const Result<std::vector<Key>> made =
      block_keys({tokens, tokens_count}, block_tokens, salt_text, reinterpret_cast<const Key*>(parent));
  if (!made.is_ok()) return client::report(made.status());
  if (blocks > 0) __builtin_memcpy(keys, made.value().data(), blocks * sizeof(Key));
  *count = blocks;
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}
