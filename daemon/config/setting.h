#pragma once
// What one row of the settings table says, and the value that a source gave it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvtier {

enum class SettingType : std::uint8_t {
  kSize,      ///< bytes with a unit: 5GiB
  kCount,     ///< a whole number
  kPercent,   ///< 25%
  kBool,      ///< true or false
  kChoice,    ///< one of SettingInfo::choices
  kPath,      ///< an absolute path
  kName,      ///< a-z 0-9 . _ -, first a letter or digit
  kText,      ///< anything printable; may be "" when min is 0
  kUserList,  ///< list of user names or uids
  kGroupList  ///< list of group names or gids
};

enum class Reload : std::uint8_t { kLive, kRestart };

struct SettingInfo {
  std::string_view path;
  SettingType type;
  std::string_view default_text;  ///< as written in the file
  std::uint64_t min;              ///< of the number, or of the length of a text
  std::uint64_t max;
  std::string_view choices;  ///< "off|try|require"
  Reload reload;
  std::string_view unit;  ///< of a bare number; empty where the value carries its own
  std::string_view effect;
};

/// A checked value. `number` for sizes, counts, percents, booleans and the index of a choice.
struct SettingValue {
  std::uint64_t number = 0;
  std::string text;  ///< canonical spelling, parses to the same value
  std::vector<std::uint32_t> ids;
};

enum class SettingSource : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };

struct EffectiveValue {
  SettingValue value;
  SettingSource source = SettingSource::kDefault;
  std::string where;  ///< "/etc/kvtier/kvtierd.yaml:12", "KVTIER_HOST_BYTES", "--set"; empty for a default
};

/// One row: what the setting is, and where its value goes.
template <class Target>
struct Setting {
  SettingInfo info;
  void (*store)(Target&, const SettingValue&);
};

}  // namespace kvtier
