#pragma once
// Parts and layers of a block: which bytes each checksum covers, and their checksums.

#include <cstddef>
#include <span>

#include "daemon/disk/format_record.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/spec.h"

namespace kvtier {

/// Lays out the parts of a block as it lies in a slot, uncoded: one sum a layer. Layers share a sum, whole ones and
/// as few as possible, where one is smaller than kAlignmentMin (none can be read alone) or the header would
/// overflow; a part whose bytes are no multiple of its layers has one. Fails as validate_spec.
Status plan_raw_parts(const Spec& spec, DiskRecord& record);

/// Fills in the checksums; parts and lengths stand already. `payload` has payload_bytes, or its padding too.
void sum_payload(std::span<const std::byte> payload, DiskRecord& record);

/// The first sum that is wrong. kTruncated when `payload` is shorter than payload_bytes.
DiskVerdict verify_payload(const DiskRecord& record, std::span<const std::byte> payload);

/// One part alone, for readers that take layers as they come: `sum_first` of `sum_count` in that part; `bytes`
/// begin with the first of them.
DiskVerdict verify_layers(const DiskRecord& record, std::uint16_t part, std::uint16_t sum_first,
                          std::uint16_t sum_count, std::span<const std::byte> bytes);

}  // namespace kvtier
