#include "daemon/tier/path_set.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "daemon/io/place_error.h"
#include "daemon/tier/space_catalog.h"
#include "libkvclient/base/clock.h"

namespace kvtier {
namespace {

std::string name_of(std::size_t place) {
  return "nvme.paths[" + std::to_string(place) + "]";
}

// Whatever is done about it, a path is taken at a start.
std::string cause_of(std::size_t place, const Status& status) {
  return name_of(place) + ": " + status.message() + "; then restart kvtierd";
}

// However it is written, and by whatever links it is reached.
bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) && !error;
}

// As the catalog will find it, which is too late for a refusal that changes nothing.
Status check_spaces(const std::string& folder) {
  SpaceCatalog catalog;
  const Status status = catalog.read_folder(folder);
  if (status.code() == Code::kNotFound) return Status::ok();
  KV_RETURN_IF_ERROR(status);
  const std::string file = folder + "/" + kSpacesFileName;
  if (::faccessat(AT_FDCWD, file.c_str(), R_OK | W_OK, AT_EACCESS) == 0) return Status::ok();
  return file_error("open(" + file + ")", file, errno);
}

// What is given up is as if it were not there.
void give_up(PathSet::Each& each) {
  each.finding.superblock = {.is_new = true};
  each.finding.has_content = false;
  each.finding.epoch_max = 0;
  each.size.is_given_up = true;
}

}  // namespace

void PathSet::own(const std::vector<DiskFolder>& folders) {
  for (std::size_t place = 0; place < folders.size(); ++place) {
    facts_.push_back({.folder = folders[place].folder, .bytes_wanted = folders[place].bytes});
    const Status status = own_one(folders[place], place);
    if (!status.is_ok()) facts_[place].cause = cause_of(place, status);
  }
}

Status PathSet::own_one(const DiskFolder& folder, std::size_t place) {
  for (std::size_t other = 0; other < place; ++other) {
    if (!is_same_folder(folder.folder, facts_[other].folder)) continue;
    return {Code::kInvalid, folder.folder + " is the same folder as " + name_of(other) + ", " +
                                facts_[other].folder + "; give each path a folder of its own, or remove one"};
  }
  Result<OwnedPath> owned = open_disk_path(folder, options_, facts_[place]);
  if (!owned.is_ok()) return owned.status();
  Status spaces = check_spaces(folder.folder);
  all_.push_back({.place = place, .owned = std::move(owned).value()});
  if (!spaces.is_ok()) leave_out(all_.size() - 1, spaces);
  return spaces;
}

void PathSet::leave_out(std::size_t i, const Status& status) {
  DiskPathFacts& facts = facts_[all_[i].place];
  facts.is_open = false;
  facts.cause = cause_of(all_[i].place, status);
  disown_path(all_[i].owned);
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
}

std::vector<StoreFile> PathSet::files() const {
  std::vector<StoreFile> files;
  for (const Each& each : all_) {
    files.push_back({.file = IoFile{static_cast<std::uint32_t>(files.size())},
                     .bytes = each.owned.bytes,
                     .home = each.owned.home,
                     .folder = facts_[each.place].folder});
  }
  return files;
}

Result<std::vector<PathFinding>> PathSet::look_at_all() const {
  Result<std::unique_ptr<IoBackend>> backend = open_io_engine(options_.engine);
  if (!backend.is_ok()) return backend.status();
  auto ring = std::make_unique<IoRing>(
      std::move(backend).value(),
      IoRingOptions{.files_max = options_.engine.files_max, .regions_max = options_.engine.regions_max});
  const std::vector<StoreFile> files = this->files();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    KV_RETURN_IF_ERROR(
        ring->set_file(files[i].file, all_[i].owned.data.get(), facts_[all_[i].place].alignment));
  }
  return look_at_files(store_, std::move(ring), files);
}

std::vector<PathFinding> PathSet::findings() const {
  std::vector<PathFinding> findings;
  for (const Each& each : all_) findings.push_back(each.finding);
  return findings;
}

Status PathSet::look() {
  if (all_.empty()) return Status::ok();
  Result<std::vector<PathFinding>> found = look_at_all();
  if (!found.is_ok()) return found.status();
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i].finding = std::move(found.value()[i]);
  give_up_copies();
  KV_RETURN_IF_ERROR(judge());
  KV_RETURN_IF_ERROR(plan());
  return choose();
}

void PathSet::give_up_copies() {
  if (store_.home != HomePolicy::kFresh) return;
  for (Each& each : all_) {
    if (is_elsewhere(each.finding)) give_up(each);
  }
}

// What the device does not give stays: the store tries once more, and says it of a path that it has.
Status PathSet::judge() {
  const Result<std::vector<Status>> verdicts = judge_paths(findings(), store_.home);
  if (!verdicts.is_ok()) return verdicts.status();
  for (std::size_t i = all_.size(); i-- > 0;) {
    if (verdicts.value()[i].is_ok() || all_[i].finding.is_unread) continue;
    is_path_left_out_ = is_path_left_out_ || !all_[i].finding.has_store();
    leave_out(i, verdicts.value()[i]);
  }
  return Status::ok();
}

// The sizes that they are going to have.
Status PathSet::plan() {
  Status left_out;
  for (std::size_t i = 0; i < all_.size();) {
    Each& each = all_[i];
    PathFinding& finding = each.finding;
    const bool is_given_up = each.size.is_given_up;
    facts_[each.place].lost_bytes = lost_bytes(finding);
    each.size = path_size_options(finding, options_, facts_[each.place]);
    each.size.is_given_up = is_given_up;
    const Result<std::uint64_t> bytes = plan_path_size(each.owned, each.size);
    if (bytes.is_ok() || !finding.status.is_ok()) {
      finding.file.bytes = bytes.is_ok() ? bytes.value() : each.owned.bytes;
      ++i;
    } else {
      if (finding.has_store()) left_out = {bytes.code(), bytes.status().message() + ". Nothing was changed."};
      leave_out(i, bytes.status());
    }
  }
  // No store is made anew beside one that is there and finds no room.
  const bool has_store = std::ranges::any_of(all_, [](const Each& each) { return each.finding.has_store(); });
  return all_.empty() || has_store ? Status::ok() : left_out;
}

Status PathSet::choose() const {
  if (all_.empty()) return Status::ok();
  const SystemClock clock;
  return choose_store(findings(), store_, clock.now_ns()).status();
}

void PathSet::settle() {
  for (std::size_t i = 0; i < all_.size();) {
    Each& each = all_[i];
    const Status status = each.finding.status.is_ok()
                              ? settle_disk_path(each.owned, each.size, facts_[each.place])
                              : Status::ok();
    if (status.is_ok()) {
      ++i;
    } else {
      leave_out(i, status);
    }
  }
}

void PathSet::disown() {
  for (Each& each : all_) disown_path(each.owned);
}

}  // namespace kvtier
