#include "daemon/admin/admin_facts.h"

#include <nlohmann/json.hpp>

namespace kvtier {

std::string render_config_rows(const std::vector<ConfigRow>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ConfigRow& row : rows) {
    list.push_back({{"path", row.path},
                    {"value", row.value},
                    {"unit", row.unit},
                    {"source", row.source},
                    {"reload", row.reload},
                    {"effect", row.effect}});
  }
  return list.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kvtier
