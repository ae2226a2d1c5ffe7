#pragma once
// What the file system gives: fio on a file of its own, with O_DIRECT. The reference of `kvbench nvme`.

#include <cstdint>
#include <string>
#include <vector>

namespace kvtier::bench {

enum class FioKind : std::uint8_t { kRead, kWrite };

struct FioShape {
  std::uint64_t block_bytes = 0;
  unsigned depth = 0;
  unsigned jobs = 0;

  /// Such as "1024k x 32 x 4": block, depth, jobs.
  [[nodiscard]] std::string name() const;
};

/// The grid that the best shape is looked for in.
std::vector<FioShape> fio_grid();

class Fio {
 public:
  /// Its file is made in `folder`, and removed at the end.
  /// `has_huge_pages`: its buffers are in huge pages, which is not how fio comes.
  Fio(const std::string& folder, bool has_huge_pages);
  Fio(const Fio&) = delete;
  Fio& operator=(const Fio&) = delete;
  ~Fio();

  /// Writes or reads `bytes` in order, each job a piece of its own. A write begins with a file without content, as a
  /// store that is made does; a read needs a write before it. Returns GB/s. Throws without fio, or when it fails.
  double rate(FioKind kind, const FioShape& shape, std::uint64_t bytes) const;
  /// The shape with the highest rate.
  [[nodiscard]] FioShape best(FioKind kind, const std::vector<FioShape>& grid, std::uint64_t bytes) const;

 private:
  const std::string file_;
  const bool has_huge_pages_;
};

}  // namespace kvtier::bench
