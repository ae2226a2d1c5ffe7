#include "tools/planner/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "libkvclient/base/unique_fd.h"
#include "libkvclient/base/units.h"
#include "tools/planner/gguf_model.h"
#include "tools/planner/hf_model.h"

namespace kvtier::plan {
namespace {

constexpr std::uint64_t kConfigBytesMax = 8 * kMiB;

struct OpenFile {
  UniqueFd fd;
  std::uint64_t bytes = 0;
  std::string path;
};

Status refused(const std::string& path, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::kNotFound
                    : error == EACCES                   ? Code::kDenied
                                                        : Code::kSystem;
  const std::string why = std::strerror(error);
  return {code,
          "reading " + path + ": " + why + "; name a GGUF file, a config.json, or a folder that has one"};
}

// Without waiting for the writer of a pipe.
Result<OpenFile> open_file(const std::string& path) {
  OpenFile file{UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), 0, path};
  if (file.fd.get() < 0) return refused(path, errno);
  struct stat facts {};
  if (::fstat(file.fd.get(), &facts) != 0) return refused(path, errno);
  if (S_ISDIR(facts.st_mode)) return open_file(path + "/config.json");
  if (!S_ISREG(facts.st_mode)) return Status(Code::kInvalid, "reading " + path + ": it is no regular file");
  file.bytes = static_cast<std::uint64_t>(facts.st_size);
  return file;
}

Result<KvModel> read_open(OpenFile file, std::string_view read_as) {
  constexpr std::size_t kMagicBytes = 4;
  BoundedFile source(std::move(file.fd), file.bytes, kMetadataBytesMax);
  std::string text(file.bytes < kMagicBytes ? file.bytes : kMagicBytes, '\0');
  KV_RETURN_IF_ERROR(source.read(std::as_writable_bytes(std::span(text)), "its beginning"));
  if (has_gguf_magic(text)) {
    source.rewind();
    const Result<GgufHeader> header = read_gguf_header(source);
    if (!header.is_ok()) return header.status();
    return read_gguf_model(header.value(), read_as);
  }
  if (file.bytes > kConfigBytesMax)
    return Status(Code::kInvalid,
                  "it is no GGUF file, and with " + format_size(file.bytes) + " no config.json");
  const std::size_t begun = text.size();
  text.resize(file.bytes);
  KV_RETURN_IF_ERROR(source.read(std::as_writable_bytes(std::span(text)).subspan(begun), "the file"));
  return read_hf_config(text, read_as);
}

}  // namespace

Result<KvModel> read_model_file(const std::string& path, std::string_view read_as) {
  Result<OpenFile> file = open_file(path);
  if (!file.is_ok()) return file.status();
  const std::string found = file.value().path;
  Result<KvModel> model = read_open(std::move(file).value(), read_as);
  if (!model.is_ok()) return model.status().while_doing("reading " + found);
  model.value().source = found;
  return model;
}

}  // namespace kvtier::plan
