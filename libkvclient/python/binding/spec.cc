#include "libkvclient/python/binding/spec.h"

#include <vector>

namespace kvtier::python {
namespace {

struct Names {
  std::string model, revision, adapter, tokenizer, codec;
};

std::unique_ptr<Spec> create(const Names& names, std::uint32_t block_tokens) {
  kvc_spec_options options{};
  options.struct_size = sizeof options;
  options.model = c_text(names.model, "spec: model").c_str();
  options.revision = c_text(names.revision, "spec: revision").c_str();
  options.adapter = c_text(names.adapter, "spec: adapter").c_str();
  options.tokenizer = c_text(names.tokenizer, "spec: tokenizer").c_str();
  options.codec = c_text(names.codec, "spec: codec").c_str();
  options.block_tokens = block_tokens;
  kvc_spec* created = nullptr;
  check(kvc_spec_create(&options, &created));
  return std::make_unique<Spec>(created);
}

void add_part(const Spec& spec, const std::string& name, std::uint64_t bytes, std::uint32_t layer_first,
              std::uint32_t layer_count, std::uint32_t kv_heads, std::uint32_t head_dim,
              const std::string& dtype, const std::string& layout) {
  kvc_part part{};
  part.struct_size = sizeof part;
  part.name = c_text(name, "spec: a part's name").c_str();
  part.bytes = bytes;
  part.layer_first = layer_first;
  part.layer_count = layer_count;
  part.kv_heads = kv_heads;
  part.head_dim = head_dim;
  part.dtype = c_text(dtype, "spec: a part's dtype").c_str();
  part.layout = c_text(layout, "spec: a part's layout").c_str();
  check(kvc_spec_add_part(spec.handle(), &part));
}

void set_shard(const Spec& spec, std::uint32_t kv_head_first, std::uint32_t kv_head_count,
               std::uint32_t max_tp, std::uint32_t layer_first, std::uint32_t layer_count) {
  kvc_shard shard{sizeof(kvc_shard), kv_head_first, kv_head_count, max_tp, layer_first, layer_count};
  check(kvc_spec_set_shard(spec.handle(), &shard));
}

void set_rope(const Spec& spec, const std::string& name, const std::string& value) {
  check(kvc_spec_set_rope(spec.handle(), c_text(name, "spec: rope").c_str(),
                          c_text(value, "spec: rope").c_str()));
}

void set_extra(const Spec& spec, const std::string& name, const std::string& value) {
  check(kvc_spec_set_extra(spec.handle(), c_text(name, "spec: extra").c_str(),
                           c_text(value, "spec: extra").c_str()));
}

py::bytes digest(const Spec& spec) {
  kvc_key found{};
  check(kvc_spec_digest(spec.handle(), &found));
  return {reinterpret_cast<const char*>(&found), sizeof found};
}

py::bytes encode(const Spec& spec) {
  std::size_t bytes = 0;
  const int code = kvc_spec_encode(spec.handle(), nullptr, 0, &bytes);
  if (code != KVC_NO_SPACE) check(code);
  std::string encoding(bytes, '\0');
  check(kvc_spec_encode(spec.handle(), encoding.data(), encoding.size(), &bytes));
  return encoding;
}

std::string difference(const Spec& a, const Spec& b) {
  constexpr std::size_t kTextBytes = 1024;
  char text[kTextBytes];
  check(kvc_spec_difference(a.handle(), b.handle(), text, sizeof text));
  return text;
}

}  // namespace

void bind_spec(py::module_& module) {
  py::class_<Spec>(module, "Spec")
      .def(py::init([](std::string model, std::string revision, std::string adapter, std::string tokenizer,
                       std::string codec, std::uint32_t block_tokens) {
        return create({std::move(model), std::move(revision), std::move(adapter), std::move(tokenizer),
                       std::move(codec)},
                      block_tokens);
      }))
      .def("add_part", &add_part)
      .def("set_shard", &set_shard)
      .def("set_rope", &set_rope)
      .def("set_extra", &set_extra)
      .def("check", [](const Spec& spec) { check(kvc_spec_check(spec.handle())); })
      .def("digest", &digest)
      .def("encode", &encode)
      .def("difference", &difference);
}

}  // namespace kvtier::python
