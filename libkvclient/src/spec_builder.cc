// The spec of the C contract: a builder over wire/spec.h.

#include <algorithm>
#include <cstring>

#include "libkvclient/src/handles.h"
#include "libkvclient/src/options.h"

namespace kvtier::client {
namespace {

std::string text_of(const char* text, const char* otherwise = "") {
  return text != nullptr ? text : otherwise;
}

SpecPart part_of(const kvc_part& given) {
  return {text_of(given.name), given.bytes,    given.layer_first,    given.layer_count,
          given.kv_heads,      given.head_dim, text_of(given.dtype), text_of(given.layout)};
}

int set_text(std::map<std::string, std::string>& map, const char* name, const char* value) {
  if (name == nullptr || value == nullptr || *name == '\0') {
    return report(Code::kInvalid, "spec: an entry needs a name and a value");
  }
  const bool is_new = map.emplace(name, value).second;
  return is_new ? KVC_OK
                : report(Status(Code::kInvalid, "spec: \"" + std::string(name) + "\" is said twice"));
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" {

int kvc_spec_create(const kvc_spec_options* options, kvc_spec** spec) try {
  if (spec != nullptr) *spec = nullptr;
  if (options == nullptr || spec == nullptr) {
    return client::report(Code::kInvalid, "kvc_spec_create: options and spec must not be NULL");
  }
  kvc_spec_options given{};
  const Status status = client::read_struct("kvc_spec_create", options, given);
  if (!status.is_ok()) return client::report(status);
  auto made = std::make_unique<kvc_spec>();
  made->spec.model = client::text_of(given.model);
  made->spec.revision = client::text_of(given.revision);
  made->spec.adapter = client::text_of(given.adapter);
  made->spec.tokenizer = client::text_of(given.tokenizer);
  made->spec.codec = client::text_of(given.codec, "raw");
  made->spec.block_tokens = given.block_tokens;
  *spec = made.release();
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

int kvc_spec_add_part(kvc_spec* spec, const kvc_part* part) try {
  if (spec == nullptr || part == nullptr) {
    return client::report(Code::kInvalid, "kvc_spec_add_part: spec and part must not be NULL");
  }
  kvc_part given{};
  const Status status = client::read_struct("kvc_spec_add_part", part, given);
  if (!status.is_ok()) return client::report(status);
  spec->spec.parts.push_back(client::part_of(given));
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

int kvc_spec_set_shard(kvc_spec* spec, const kvc_shard* shard) try {
  if (spec == nullptr || shard == nullptr) {
    return client::report(Code::kInvalid, "kvc_spec_set_shard: spec and shard must not be NULL");
  }
  kvc_shard given{};
  const Status status = client::read_struct("kvc_spec_set_shard", shard, given);
  if (!status.is_ok()) return client::report(status);
  spec->spec.shard =
      SpecShard{given.kv_head_first, given.kv_head_count, given.max_tp, given.layer_first, given.layer_count};
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

int kvc_spec_set_rope(kvc_spec* spec, const char* name, const char* value) try {
  if (spec == nullptr) return client::report(Code::kInvalid, "kvc_spec_set_rope: spec must not be NULL");
  return client::set_text(spec->spec.rope, name, value);
} catch (...) {
  return client::report_exception();
}

int kvc_spec_set_extra(kvc_spec* spec, const char* name, const char* value) try {
  if (spec == nullptr) return client::report(Code::kInvalid, "kvc_spec_set_extra: spec must not be NULL");
  return client::set_text(spec->spec.extra, name, value);
} catch (...) {
  return client::report_exception();
}

int kvc_spec_check(const kvc_spec* spec) try {
  if (spec == nullptr) return client::report(Code::kInvalid, "kvc_spec_check: spec must not be NULL");
  return client::report(encode_spec(spec->spec).status());
} catch (...) {
  return client::report_exception();
}

int kvc_spec_digest(const kvc_spec* spec, kvc_key* digest) try {
  if (digest != nullptr) *digest = {};
  if (spec == nullptr || digest == nullptr) {
    return client::report(Code::kInvalid, "kvc_spec_digest: spec and digest must not be NULL");
  }
  const Result<Digest> found = spec_digest(spec->spec);
  if (found.is_ok()) std::memcpy(digest, &found.value(), sizeof *digest);
  return client::report(found.status());
} catch (...) {
  return client::report_exception();
}

int kvc_spec_encode(const kvc_spec* spec, void* buffer, size_t capacity, size_t* bytes) try {
  if (bytes != nullptr) *bytes = 0;
  if (spec == nullptr || bytes == nullptr || (buffer == nullptr && capacity > 0)) {
    return client::report(Code::kInvalid, "kvc_spec_encode: a NULL argument");
  }
  const Result<std::vector<std::byte>> encoding = encode_spec(spec->spec);
  if (!encoding.is_ok()) return client::report(encoding.status());
  *bytes = encoding.value().size();
  if (*bytes > capacity) return client::report(Code::kNoSpace, "kvc_spec_encode: the buffer is too short");
  std::copy_n(encoding.value().data(), *bytes, static_cast<std::byte*>(buffer));
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

int kvc_spec_difference(const kvc_spec* a, const kvc_spec* b, char* text, size_t capacity) try {
  if (text != nullptr && capacity > 0) *text = '\0';
  if (a == nullptr || b == nullptr || text == nullptr || capacity == 0) {
    return client::report(Code::kInvalid, "kvc_spec_difference: a NULL argument or no room");
  }
  const std::string difference = spec_difference(a->spec, b->spec);
  const std::size_t length = std::min(difference.size(), capacity - 1);
  std::memcpy(text, difference.data(), length);
  text[length] = '\0';
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

void kvc_spec_destroy(kvc_spec* spec) {
  delete spec;
}

}  // extern "C"
