#include "libkvclient/python/binding/slot.h"

#include <algorithm>
#include <string>
#include <vector>

#include "libkvclient/python/binding/arguments.h"

namespace kvtier::python {
namespace {

// Slots of the list that are still reserved. BufferError if something still looks at one: it could write
// into a block that others read.
std::vector<Slot*> committable(const py::list& list) {
  std::vector<Slot*> slots;
  for (const py::handle& each : list) {
    auto* slot = each.cast<Slot*>();
    if (!slot->is_reserved()) continue;
    if (slot->memory().buffers_count > 0) {
      throw py::buffer_error("a block's buffer is still in use: drop slices and arrays of it before commit");
    }
    slots.push_back(slot);
  }
  return slots;
}

int commit(const Space& space, const py::list& list, std::uint32_t flags, std::uint64_t deadline_ns) {
  const std::vector<Slot*> slots = committable(list);
  std::vector<kvc_slot> taken;
  taken.reserve(slots.size());
  for (const Slot* slot : slots) taken.push_back(slot->memory().take());
  // Whatever went wrong, the blocks are lost and nothing else: also kStale, after the daemon's restart. But what a
  // daemon that stands still could not be given before the deadline is the caller's still.
  SignalScope signals;
  const int code = without_gil(
      [&] { return kvc_commit(space.handle.get(), taken.data(), taken.size(), flags, deadline_ns); });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (taken[i].data != nullptr) slots[i]->memory().put_back(taken[i]);
  }
  signals.raise();
  return code;
}

}  // namespace

SlotMemory::~SlotMemory() {
  if (!is_reserved()) return;
  // No wait for a full ring: the library sends it later.
  without_gil_if_held([this] { (void)kvc_abort(space_.get(), &slot_, 1, 0, 1); });
}

kvc_slot SlotMemory::take() {
  const kvc_slot taken = slot_;
  slot_.data = nullptr;
  return taken;
}

py::memoryview Slot::buffer() const {
  if (!is_reserved()) raise_error(KVC_STALE, "the slot is committed or aborted");
  return view_of(
      std::make_unique<Buffer>(memory_, memory_->slot().data, block_bytes_, /*is_read_only=*/false));
}

py::tuple reserve(const Space& space, const py::object& keys_object, const py::object& parent,
                  std::uint32_t flags, std::uint64_t deadline_ns) {
  const Keys keys(keys_object);
  const Keys parents(parent, "parent");
  kvc_reserve_options options{};
  options.struct_size = sizeof options;
  options.parent = one_parent(parents);
  options.deadline_ns = deadline_ns;
  options.flags = flags;
  std::vector<kvc_slot> granted(keys.count());
  SignalScope signals;
  const int code = without_gil(
      [&] { return kvc_reserve(space.handle.get(), keys.data(), keys.count(), &options, granted.data()); });
  const auto has_failed = [](const kvc_slot& each) {
    return each.code != KVC_OK && each.code != KVC_EXISTS && each.code != KVC_PENDING &&
           each.code != KVC_NO_SPACE;
  };
  const bool has_text = code != KVC_OK || std::any_of(granted.begin(), granted.end(), has_failed);
  const std::string text = has_text ? kvc_last_error() : "";
  py::list slots;  // owns what was granted, also when the next line raises
  for (const kvc_slot& each : granted) {
    py::object slot = py::none();
    if (each.code == KVC_OK) slot = py::cast(Slot(space.handle, each, space.facts.block_bytes));
    slots.append(py::make_tuple(each.code, each.cause, each.detail, slot));
  }
  signals.raise();
  return py::make_tuple(check_space_path(space, code), slots, text);
}

void bind_slot(py::module_& module) {
  py::class_<Slot>(module, "Slot")
      .def("is_reserved", &Slot::is_reserved)
      .def("buffer", &Slot::buffer)
      .def("abort", &Slot::abort);
  module.def("commit", &commit);
}

}  // namespace kvtier::python
