#include "libkvclient/src/last_error.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <system_error>

namespace kvtier::client {
namespace {

struct LastError {
  std::string owned;
  const char* text = "";
};

LastError& slot() {
  thread_local LastError instance;
  return instance;
}

}  // namespace

int report(const Status& status) {
  if (status.is_ok()) return 0;
  LastError& last = slot();
  last.owned = status.message();
  last.text = last.owned.c_str();
  return static_cast<int>(status.code());
}

int report(Code code, const char* static_text) {
  slot().text = static_text;
  return static_cast<int>(code);
}

int report_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return report(Code::kSystem, "out of memory");
  } catch (const std::length_error&) {
    return report(Code::kInvalid, "a count is larger than any memory");
  } catch (const std::system_error& error) {  // no thread could be made
    slot().text = ::strerrordesc_np(error.code().value());
    return static_cast<int>(Code::kSystem);
  } catch (...) {
    return report(Code::kSystem, "an exception in the library");
  }
}

const char* last_error() {
  return slot().text;
}

int report_forked() {
  return report(Code::kStale, "opened before fork; open a new client in this process");
}

int report_closed() {
  return report(Code::kStale, "the client is closed");
}

}  // namespace kvtier::client
