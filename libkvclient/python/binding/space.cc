#include "libkvclient/python/binding/space.h"

#include "libkvclient/python/binding/arguments.h"
#include "libkvclient/python/binding/lease.h"
#include "libkvclient/python/binding/slot.h"

namespace kvtier::python {
namespace {

// A look-up of fewer keys is over before another thread could make use of Python's lock.
constexpr std::size_t kKeysWithGil = 4096;
constexpr std::size_t kTokensWithGil = 4096;

template <class Call>
int look_up(const Space& space, std::size_t count, Call&& call) {
  return check_space_path(space, count > kKeysWithGil ? without_gil(call) : call());
}

py::bytes keys_of(const Space& space, const py::object& tokens, const py::object& salt,
                  const py::object& parent) {
  const std::vector<std::uint32_t> words = tokens_of(tokens);
  const Bytes salt_bytes(salt);
  const Keys parents(parent, "parent");
  const kvc_key* parent_key = one_parent(parents);
  std::vector<kvc_key> keys(words.size() / space.facts.block_tokens);
  std::size_t count = 0;
  const auto call = [&] {
    return kvc_keys_from_tokens(space.handle.get(), words.data(), words.size(), salt_bytes.data(),
                                salt_bytes.size(), parent_key, keys.data(), keys.size(), &count);
  };
  check(words.size() > kTokensWithGil ? without_gil(call) : call());
  return {reinterpret_cast<const char*>(keys.data()), count * sizeof(kvc_key)};
}

// A bytes object to be filled in before anybody else sees it.
py::bytes blank_states(std::size_t count) {
  auto states =
      py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count)));
  if (!states) throw py::error_already_set();
  return states;
}

std::uint8_t* bytes_in(const py::bytes& states) {
  return reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(states.ptr()));
}

py::tuple match(const Space& space, const py::object& keys_object) {
  const Keys keys(keys_object);
  const py::bytes states = blank_states(keys.count());
  std::size_t ready = 0;
  const int code = look_up(space, keys.count(), [&] {
    return kvc_match(space.handle.get(), keys.data(), keys.count(), bytes_in(states), &ready);
  });
  return py::make_tuple(code, ready, states);
}

using WaitVerb = int (*)(kvc_space*, const kvc_key*, std::size_t, std::uint64_t, std::uint8_t*, std::size_t*);

template <WaitVerb verb>
py::tuple wait(const Space& space, const py::object& keys_object, std::uint64_t deadline_ns) {
  const Keys keys(keys_object);
  const py::bytes states = blank_states(keys.count());
  std::size_t ready = 0;
  const int code = check_space_path(space, blocking([&] {
                                      return verb(space.handle.get(), keys.data(), keys.count(), deadline_ns,
                                                  bytes_in(states), &ready);
                                    }));
  return py::make_tuple(code, ready, states);
}

std::unique_ptr<Lease> acquire(const Space& space, const py::object& keys_object, std::uint32_t flags,
                               std::uint64_t request_id) {
  const Keys keys(keys_object);
  auto lease = std::make_unique<Lease>(space.client->handle(), keys.count());
  const auto call = [&] {
    return kvc_acquire(space.handle.get(), keys.data(), keys.count(), flags, request_id, lease->handle());
  };
  const bool verifies = (flags & KVC_VERIFY) != 0 || space.client->verifies();
  const int code = verifies ? check_space_path(space, blocking(call)) : look_up(space, keys.count(), call);
  if (code == KVC_UNSUPPORTED) raise_error(code, kvc_last_error());  // no miss: it would be one for ever
  return lease;
}

// Never, for this client: not a miss.
void check_allowed(int code) {
  if (code == KVC_DENIED) raise_error(code, kvc_last_error());
}

std::size_t pin(const Space& space, const py::object& keys_object, std::uint64_t ttl_ns,
                std::uint64_t deadline_ns) {
  const Keys keys(keys_object);
  std::size_t pinned = 0;
  check_allowed(check_space_path(space, blocking([&] {
                                   return kvc_pin(space.handle.get(), keys.data(), keys.count(), ttl_ns,
                                                  deadline_ns, &pinned);
                                 })));
  return pinned;
}

void unpin(const Space& space, const py::object& keys_object, std::uint64_t deadline_ns) {
  const Keys keys(keys_object);
  check_allowed(check_space_path(
      space,
      blocking([&] { return kvc_unpin(space.handle.get(), keys.data(), keys.count(), deadline_ns); })));
}

std::uint64_t invalidate(const Space& space, std::uint64_t deadline_ns) {
  std::uint64_t blocks = 0;
  check(blocking([&] { return kvc_invalidate(space.handle.get(), deadline_ns, &blocks); }));
  return blocks;
}

py::tuple sync(const Space& space, const py::object& keys_object, std::uint64_t deadline_ns) {
  const bool is_all = keys_object.is_none();
  const Keys keys(is_all ? py::bytes() : keys_object);
  std::uint64_t durable = 0;
  std::uint64_t unsaved = 0;
  if (!is_all && keys.count() == 0) return py::make_tuple(KVC_OK, durable, unsaved, "");
  const int code = blocking([&] {
    return kvc_sync(space.handle.get(), is_all ? nullptr : keys.data(), keys.count(), deadline_ns, &durable,
                    &unsaved);
  });
  return py::make_tuple(code, durable, unsaved, code == KVC_OK ? "" : kvc_last_error());
}

py::tuple part_range(const Space& space, std::uint32_t i) {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  check(kvc_space_part(space.handle.get(), i, &offset, &bytes));
  return py::make_tuple(offset, bytes);
}

py::bytes digest(const Space& space) {
  return {reinterpret_cast<const char*>(&space.facts.digest), sizeof space.facts.digest};
}

}  // namespace

// What ends a handle is a close or a fork, and both can be asked for.
int check_space_path(const Space& space, int code) {
  if (code != KVC_STALE) return check_data_path(code);
  const std::string text = kvc_last_error();
  kvc_space_facts facts{};
  facts.struct_size = sizeof facts;
  const bool is_over = space.client->is_closed() || kvc_space_info(space.handle.get(), &facts) == KVC_STALE;
  if (is_over) raise_error(code, text);
  return code;
}

std::unique_ptr<Space> register_space(const std::shared_ptr<Client>& client, const Spec& spec,
                                      std::uint64_t deadline_ns) {
  const auto handle = client->handle();
  kvc_space* made = nullptr;
  SignalScope signals;
  const int code =
      without_gil([&] { return kvc_space_register(handle.get(), spec.handle(), deadline_ns, &made); });
  if (code != KVC_OK) signals.raise();
  check(code);
  auto space = std::make_unique<Space>();
  space->client = client;
  space->handle = {made, kvc_space_close};
  signals.raise();
  space->facts.struct_size = sizeof space->facts;
  check(kvc_space_info(made, &space->facts));
  return space;
}

void bind_space(py::module_& module) {
  py::class_<Space>(module, "Space")
      .def_property_readonly("block_bytes", [](const Space& space) { return space.facts.block_bytes; })
      .def_property_readonly("block_tokens", [](const Space& space) { return space.facts.block_tokens; })
      .def_property_readonly("digest", &digest)
      .def("part_range", &part_range)
      .def("keys", &keys_of)
      .def("match", &match)
      .def("wait", &wait<kvc_wait>)
      .def("restore", &wait<kvc_restore>)
      .def("acquire", &acquire)
      .def("reserve", &reserve)
      .def("pin", &pin)
      .def("unpin", &unpin)
      .def("sync", &sync)
      .def("invalidate", &invalidate);
}

}  // namespace kvtier::python
