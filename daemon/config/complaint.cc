#include "daemon/config/complaint.h"

namespace kvtier {

std::string to_string(const Complaint& complaint) {
  std::string text = complaint.where;
  if (complaint.line > 0) text += ":" + std::to_string(complaint.line);
  text += ": ";
  if (!complaint.path.empty()) text += complaint.path + ": ";
  text += complaint.what;
  if (!complaint.fix.empty()) text += "; " + complaint.fix;
  return text;
}

std::string to_string(const std::vector<Complaint>& complaints) {
  std::string text;
  for (const Complaint& complaint : complaints) {
    if (!text.empty()) text += "\n";
    text += to_string(complaint);
  }
  return text;
}

}  // namespace kvtier
