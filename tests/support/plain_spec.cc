#include "tests/support/plain_spec.h"

#include "libkvclient/base/check.h"

namespace kvtier::test {

PlainSpec plain_spec(const std::string& model, std::uint64_t block_bytes) {
  kvc_spec_options options{};
  options.struct_size = sizeof options;
  options.model = model.c_str();
  options.revision = "1";
  options.tokenizer = "none";
  options.block_tokens = 16;
  kvc_part part{};
  part.struct_size = sizeof part;
  part.name = "kv";
  part.bytes = block_bytes;
  part.layer_count = 1;
  part.kv_heads = 1;
  part.head_dim = 64;
  part.dtype = "f16";
  part.layout = "opaque";
  kvc_spec* spec = nullptr;
  KV_CHECK(kvc_spec_create(&options, &spec) == KVC_OK, "a test's spec is valid");
  PlainSpec owned(spec);
  KV_CHECK(kvc_spec_add_part(spec, &part) == KVC_OK, "a test's part is valid");
  return owned;
}

}  // namespace kvtier::test
