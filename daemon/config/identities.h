#pragma once
// User and group names to numbers.

#include <cstdint>
#include <optional>
#include <string>

namespace kvtier {

class IdentityLookup {
 public:
  IdentityLookup() = default;
  IdentityLookup(const IdentityLookup&) = delete;
  IdentityLookup& operator=(const IdentityLookup&) = delete;
  virtual ~IdentityLookup() = default;

  [[nodiscard]] virtual std::optional<std::uint32_t> uid_of(const std::string& name) const = 0;
  [[nodiscard]] virtual std::optional<std::uint32_t> gid_of(const std::string& name) const = 0;
  [[nodiscard]] virtual std::uint32_t own_uid() const = 0;
};

/// The host's user database. Thread-safe.
class SystemIdentities final : public IdentityLookup {
 public:
  [[nodiscard]] std::optional<std::uint32_t> uid_of(const std::string& name) const override;
  [[nodiscard]] std::optional<std::uint32_t> gid_of(const std::string& name) const override;
  [[nodiscard]] std::uint32_t own_uid() const override;
};

}  // namespace kvtier
