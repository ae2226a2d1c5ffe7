#include "daemon/disk/format_order.h"

namespace kvtier {

RecordOrder order_of(const RecordHeader& header) {
  return {header.kind, header.sequence, header.born, header.tenant, header.space, header.key};
}

RecordOrder order_of(const IndexEntry& entry, const IndexScope& scope) {
  return {entry.kind, entry.sequence, entry.born, scope.tenant, scope.space, entry.key};
}

bool is_void(const RecordOrder& mark, const RecordOrder& block) {
  if (block.born >= mark.born || block.tenant != mark.tenant) return false;
  switch (mark.kind) {
    case RecordKind::kBlock:
      return false;
    case RecordKind::kTombstone:
      return block.space == mark.space && block.key == mark.key;
    case RecordKind::kInvalidation:
      return mark.space.is_zero() || block.space == mark.space;
  }
  return false;
}

bool is_newer(const RecordOrder& a, const RecordOrder& b) {
  return a.sequence > b.sequence;
}

}  // namespace kvtier
