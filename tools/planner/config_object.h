#pragma once
// An object of a model's config.json: strict reads that name the key and what it holds. The first mistake is kept and
// ends the reading; values read after it are 0 or empty. What was asked for is remembered, so that keys nobody asked
// for can be told. The only user of nlohmann-json in this library.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/result.h"

namespace kvtier::plan {

class ConfigObject {
 public:
  /// kInvalid: no JSON, or no object.
  static Result<ConfigObject> parse(std::string_view text);

  /// The object under the first of these keys that holds one; none: there is none.
  [[nodiscard]] std::optional<ConfigObject> child(std::initializer_list<std::string_view> keys) const;

  /// Missing and null are the same: absent.
  [[nodiscard]] bool has(std::string_view key) const;
  /// It is there, and is null.
  bool is_null(std::string_view key);
  /// Anything but absent, false, 0, "" and what is empty.
  [[nodiscard]] bool says(std::string_view key) const;

  /// The first of these keys that is there, a whole number above 0; absent is a mistake.
  std::uint64_t need(std::initializer_list<std::string_view> keys);
  /// Likewise; absent: `otherwise`.
  std::uint64_t number(std::initializer_list<std::string_view> keys, std::uint64_t otherwise);
  /// 0 is a number too.
  std::uint64_t count(std::string_view key, std::uint64_t otherwise);
  bool flag(std::string_view key, bool otherwise);
  std::string text(std::string_view key);
  /// Texts of a list; absent: empty.
  std::vector<std::string> texts(std::string_view key);
  /// Whole numbers of a list, 0 among them; absent: empty.
  std::vector<std::uint64_t> numbers(std::string_view key);
  /// It is known and changes nothing here.
  void pass_over(std::initializer_list<std::string_view> keys);

  /// Keys that say something and that nobody asked for.
  [[nodiscard]] std::vector<std::string> unread() const;

  void fail(std::string message);
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  ConfigObject(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* object, std::string prefix);
  const nlohmann::json* find(std::string_view key);
  void wrong(std::string_view key, std::string_view expected);
  std::uint64_t whole(std::string_view key, const nlohmann::json& value, std::uint64_t min);

  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* object_;
  std::string prefix_;  ///< "text_config."
  std::set<std::string, std::less<>> asked_;
  Status status_;
};

}  // namespace kvtier::plan
