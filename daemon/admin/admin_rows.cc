// Rows of lists: blocks, tree nodes, clients, spaces, namespaces.

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "daemon/admin/admin_lines.h"
#include "libkvclient/base/digest.h"

namespace kvtier {
namespace {

using Json = nlohmann::ordered_json;

// As text: many JSON readers round numbers above 2^53.
std::string hex16(std::uint64_t value) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(value));
  return digits.data();
}

Json to_json(const NamespaceView& view) {
  return {{"namespace", view.name},
          {"blocks", view.blocks},
          {"bytes", view.bytes},
          {"used_bytes", view.used_bytes},
          {"bytes_max", view.bytes_max},
          {"slabs", view.slabs},
          {"directory_entries", view.directory_entries},
          {"directory_capacity", view.directory_capacity},
          {"pinned_bytes", view.pinned_bytes},
          {"clients", view.sessions}};
}

Json to_json(const SpaceView& view) {
  return {{"namespace", view.namespace_name},  {"space", static_cast<std::uint32_t>(view.space)},
          {"digest", to_hex(view.digest)},     {"model", view.model},
          {"revision", view.revision},         {"adapter", view.adapter},
          {"block_tokens", view.block_tokens}, {"block_bytes", view.block_bytes},
          {"slot_bytes", view.slot_bytes},     {"blocks", view.blocks},
          {"invalidated", view.is_invalidated}};
}

Json to_json(const ClientView& view) {
  return {{"id", view.session_id},
          {"pid", view.pid},
          {"uid", view.uid},
          {"namespace", view.namespace_name},
          {"name", view.name},
          {"version", view.version},
          {"state", view.state},
          {"read_only", view.is_read_only},
          {"leased_blocks", view.leased_blocks},
          {"leased_bytes", view.leased_bytes},
          {"writing_blocks", view.writing_blocks},
          {"stocked_blocks", view.stocked_blocks},
          {"stocked_bytes", view.stocked_bytes},
          {"slabs_lent", view.slabs_lent},
          {"pinned_blocks", view.pinned_blocks},
          {"pinned_bytes", view.pinned_bytes},
          {"connected_ms", view.connected_ms}};
}

Json to_json(const BlockView& view) {
  Json row = {{"key", to_hex(view.key)},
              {"namespace", view.namespace_name},
              {"space", static_cast<std::uint32_t>(view.space)},
              {"state", view.state},
              {"bytes", view.bytes},
              {"depth", view.depth},
              {"children", view.children},
              {"hits", view.hits},
              {"age_ms", view.age_ms},
              {"leases", view.leases},
              {"writer_pid", view.writer_pid},
              {"pinned_ms", view.pinned_ms},
              {"on_disk", view.is_on_disk}};
  const bool has_slot = view.state != "cold";
  row["slab"] = has_slot ? Json(view.slot.slab()) : Json();
  row["slot"] = has_slot ? Json(view.slot.slot()) : Json();
  row["generation"] = has_slot ? Json(view.generation) : Json();
  row["parent"] = view.parent == Key{} ? Json() : Json(to_hex(view.parent));
  row["checksum"] = view.checksum ? Json(hex16(*view.checksum)) : Json();
  return row;
}

Json to_json(const TreeNode& node) {
  return {{"first", to_hex(node.first)}, {"last", to_hex(node.last)}, {"blocks", node.blocks},
          {"depth", node.depth},         {"level", node.level},       {"branches", node.branches},
          {"pinned", node.pinned},       {"hits", node.hits},         {"age_ms", node.age_ms}};
}

template <class Body>
constexpr bool kHasRows = requires(const Body& body) {
  body.rows;
};

}  // namespace

std::size_t row_count(const AdminAnswerBody& body) {
  return std::visit(
      [](const auto& page) -> std::size_t {
        if constexpr (kHasRows<std::decay_t<decltype(page)>>) return page.rows.size();
        return 0;
      },
      body);
}

std::string row_line(const AdminAnswerBody& body, std::size_t row) {
  const Json line = std::visit(
      [row](const auto& page) -> Json {
        if constexpr (kHasRows<std::decay_t<decltype(page)>>) return {{"row", to_json(page.rows[row])}};
        return Json::object();
      },
      body);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvtier
