#pragma once
// The values of all settings while the sources are read, lowest first: default, file, environment, flags.

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/complaint.h"
#include "daemon/config/setting.h"
#include "daemon/config/setting_value.h"

namespace kvtier {

/// Where a value was written.
struct SourcePlace {
  SettingSource source = SettingSource::kDefault;
  std::string where;
  int line = 0;
};

class EffectiveValues {
 public:
  /// Every setting at its default.
  EffectiveValues();

  /// Takes the value over if it is right, else complains. A path that no row has is an unknown setting.
  void set(std::string_view path, SettingText text, const SourcePlace& place,
           std::vector<Complaint>& complaints);

  [[nodiscard]] const std::vector<EffectiveValue>& values() const { return values_; }

 private:
  std::vector<EffectiveValue> values_;  // index: row of settings_table()
};

/// Complaint about a name that no setting has, with the nearest one that exists.
Complaint unknown_setting(std::string_view path, const SourcePlace& place);
/// The same against a given list of names.
Complaint unknown_name(std::string_view name, const std::vector<std::string_view>& candidates,
                       const SourcePlace& place);

/// Splits "what; fix" of a Status into a Complaint.
Complaint complaint_from(const Status& status, std::string_view path, const SourcePlace& place);

}  // namespace kvtier
