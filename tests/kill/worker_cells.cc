#include "tests/kill/worker_cells.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libkvclient/base/check.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier::kill {
namespace {

Cells* map(const std::string& path, int flags) {
  const UniqueFd fd(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0600));
  KV_CHECK(fd.is_open() && ::ftruncate(fd.get(), sizeof(Cells)) == 0, "the workers' cells must be there");
  void* at = ::mmap(nullptr, sizeof(Cells), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  KV_CHECK(at != MAP_FAILED, "the workers' cells must be mapped");
  return static_cast<Cells*>(at);  // zero bytes are the initial state
}

}  // namespace

CellsFile CellsFile::create(const std::string& path) {
  return CellsFile(map(path, O_CREAT | O_EXCL));
}

CellsFile CellsFile::open(const std::string& path) {
  return CellsFile(map(path, 0));
}

CellsFile::~CellsFile() {
  if (cells_ != nullptr) ::munmap(cells_, sizeof(Cells));
}

}  // namespace kvtier::kill
