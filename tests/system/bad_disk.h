#pragma once
// Disks of a real daemon that fail or hang when a test says so (bad_disk_preload.cc). No right and no fault build is
// needed; sanitizers want to be loaded first, so there it is skipped.

#include <fstream>
#include <string>
#include <vector>

namespace kvtier::test {

class BadDisk {
 public:
  /// `control`: a file in the test's folder.
  explicit BadDisk(std::string control) : control_(std::move(control)) { heal(); }

  /// Of the daemon whose disks these are.
  [[nodiscard]] std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" KVTIER_BAD_DISK_LIBRARY, "KVTIER_BAD_DISK=" + control_};
  }
  /// kinds: "r", "w", or "rw". From now on these calls below the folder fail with that errno.
  void fail(const std::string& folder, const std::string& kinds, int error) const {
    set(std::to_string(error) + " " + kinds + " " + folder);
  }
  /// They do not come back until heal().
  void stall(const std::string& folder, const std::string& kinds) const {
    set("stall " + kinds + " " + folder);
  }
  void heal() const { set(""); }

  /// Why it cannot be used in this build; empty: it can.
  [[nodiscard]] static std::string hindrance() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return "a sanitizer's runtime must be loaded before any other library";
#else
    return {};
#endif
  }

 private:
  // Short enough to be written, and read, in one call.
  void set(const std::string& line) const {
    std::ofstream(control_, std::ios::trunc) << line;
  }

  const std::string control_;
};

}  // namespace kvtier::test
