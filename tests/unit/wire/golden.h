#pragma once
// Byte layouts that other versions rely on. A difference is an incompatible change: raise the version that
// belongs to it, change WIRE.md, and write the file anew with KVTIER_WRITE_GOLDEN=1.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace kvtier::test {

inline bool is_golden(const std::string& name, std::span<const std::byte> bytes) {
  const std::string path = std::string(KVTIER_SOURCE_DIR) + "/tests/unit/wire/golden/" + name;
  const std::string now(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (std::getenv("KVTIER_WRITE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << now;
  std::ifstream file(path, std::ios::binary);
  return file.is_open() && now == std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace kvtier::test
