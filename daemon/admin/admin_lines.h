#pragma once
// Answers as JSON lines. Names are stable: programs read them. Bytes of clients (names, versions) may be no
// UTF-8; they are replaced, never refused.

#include <string>

#include "daemon/admin/admin_command.h"
#include "daemon/admin/admin_facts.h"
#include "daemon/disk/verify_report.h"

namespace kvtier {

/// {"error":{"code":"invalid","message":"..."},"done":true}
std::string error_line(const Status& status);
/// {"progress":{"evicted":..}}
std::string progress_line(const EvictReport& total);
/// {"progress":{"durable":..}}
std::string progress_line(const SyncView& view);
/// {"progress":{"segments_done":..}}
std::string verify_progress_line(const VerifyReport& report);
/// What a scrub found, or why there was none.
std::string verify_last_line(const VerifyReport& report);
/// The line that ends an answer, an error's included.
std::string last_line(const AdminFacts& facts, AdminVerb verb, const AdminAnswer& answer, TimeNs now_ns);

/// Rows of a page; 0 for answers of one line.
std::size_t row_count(const AdminAnswerBody& body);
/// {"row":{...}}
std::string row_line(const AdminAnswerBody& body, std::size_t row);

}  // namespace kvtier
