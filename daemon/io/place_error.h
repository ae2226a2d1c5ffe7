#pragma once
// Why a folder or file that somebody named in the configuration does not open, and what to do about it: said by whoever
// knows errno and name. Codes as path_error().

#include <string>

#include "libkvclient/base/status.h"

namespace kvtier {

Status folder_error(const std::string& call, const std::string& folder, int error_number);
/// Of a file in a folder that opened.
Status file_error(const std::string& call, const std::string& file, int error_number);

}  // namespace kvtier
