#pragma once
// Reserved slots. What is neither committed nor aborted is aborted with the slot object and the last buffer
// over it: never while something may still write there.

#include "libkvclient/python/binding/buffer.h"
#include "libkvclient/python/binding/space.h"

namespace kvtier::python {

class SlotMemory : public MemoryOwner {
 public:
  SlotMemory(std::shared_ptr<kvc_space> space, const kvc_slot& slot)
      : space_(std::move(space)), slot_(slot) {}
  ~SlotMemory() override;

  [[nodiscard]] const kvc_slot& slot() const { return slot_; }
  [[nodiscard]] bool is_reserved() const { return slot_.code == KVC_OK && slot_.data != nullptr; }
  /// Hands the reservation to the caller, who commits it, and may hand back what was not.
  kvc_slot take();
  void put_back(const kvc_slot& slot) { slot_ = slot; }

 private:
  std::shared_ptr<kvc_space> space_;
  kvc_slot slot_;
};

class Slot {
 public:
  Slot(std::shared_ptr<kvc_space> space, const kvc_slot& slot, std::size_t block_bytes)
      : memory_(std::make_shared<SlotMemory>(std::move(space), slot)), block_bytes_(block_bytes) {}

  [[nodiscard]] SlotMemory& memory() const { return *memory_; }
  [[nodiscard]] bool is_reserved() const { return memory_ && memory_->is_reserved(); }
  [[nodiscard]] py::memoryview buffer() const;
  void abort() { memory_.reset(); }

 private:
  std::shared_ptr<SlotMemory> memory_;
  std::size_t block_bytes_;
};

/// (code, list of (code, cause, detail, Slot or None))
py::tuple reserve(const Space& space, const py::object& keys, const py::object& parent, std::uint32_t flags,
                  std::uint64_t deadline_ns);
void bind_slot(py::module_& module);

}  // namespace kvtier::python
