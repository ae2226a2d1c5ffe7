// kvc_space_register and what a space knows about itself.

#include "libkvclient/src/space.h"

#include <cstring>

#include "libkvclient/src/handles.h"
#include "libkvclient/src/options.h"

namespace kvtier::client {
namespace {

Result<std::shared_ptr<Space>> make_space(const std::shared_ptr<Core>& core, const Spec& spec) {
  Result<std::vector<std::byte>> encoding = encode_spec(spec);
  if (!encoding.is_ok()) return encoding.status();
  auto space = std::make_shared<Space>();
  space->core = core;
  space->spec = spec;
  space->digest = sha256(encoding.value());
  space->encoding = std::move(encoding).value();
  space->block_bytes = spec.block_bytes();
  return space;
}

kvc_space_facts facts_of(const Space& space) {
  kvc_space_facts facts{};
  facts.block_bytes = space.block_bytes;
  facts.block_tokens = space.spec.block_tokens;
  facts.parts_count = static_cast<std::uint32_t>(space.spec.parts.size());
  facts.is_registered = space.binding.load() != 0 ? 1 : 0;
  std::memcpy(&facts.digest, &space.digest, sizeof facts.digest);
  return facts;
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" {

int kvc_space_register(kvc_client* client, const kvc_spec* spec, uint64_t deadline_ns,
                       kvc_space** space) try {
  if (space != nullptr) *space = nullptr;
  if (client == nullptr || spec == nullptr || space == nullptr) {
    return client::report(Code::kInvalid, "kvc_space_register: client, spec and space must not be NULL");
  }
  const Status alive = client::check_alive(*client);
  if (!alive.is_ok()) return client::report(alive);
  auto handle = std::make_unique<kvc_space>();  // first: nothing can fail once the space is registered
  const std::shared_ptr<client::Core> core = client->core;  // a close meanwhile ends the call, and the handle
  Result<std::shared_ptr<client::Space>> made = client::make_space(core, spec->spec);
  if (!made.is_ok()) return client::report(made.status());
  const Status added = core->space_add(made.value(), client::deadline_of(*core, deadline_ns));
  if (!added.is_ok()) return client::report_counted(*core, added);
  handle->space = std::move(made).value();
  *space = handle.release();
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

void kvc_space_close(kvc_space* space) try {
  if (space == nullptr || !space->space->core->guard.is_same_process()) return;
  space->space->core->space_remove(*space->space);
  delete space;
} catch (...) {
  (void)client::report_exception();
}

int kvc_space_info(const kvc_space* space, kvc_space_facts* facts) try {
  client::clear_struct(facts);
  if (space == nullptr || facts == nullptr) {
    return client::report(Code::kInvalid, "kvc_space_info: space and facts must not be NULL");
  }
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  return client::report(client::write_struct("kvc_space_info", client::facts_of(*space->space), *facts));
} catch (...) {
  return client::report_exception();
}

int kvc_space_part(const kvc_space* space, uint32_t i, uint64_t* offset, uint64_t* bytes) try {
  if (offset != nullptr) *offset = 0;
  if (bytes != nullptr) *bytes = 0;
  if (space == nullptr || offset == nullptr || bytes == nullptr || i >= space->space->spec.parts.size()) {
    return client::report(Code::kInvalid, "kvc_space_part: no such part, or a NULL argument");
  }
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  *offset = space->space->spec.part_offset(i);
  *bytes = space->space->spec.parts[i].bytes;
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

}  // extern "C"
