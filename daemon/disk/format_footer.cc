#include "daemon/disk/format_footer.h"

#include <algorithm>
#include <cstring>

#include "daemon/disk/format_seal.h"
#include "libkvclient/base/check.h"
#include "libkvclient/base/checksum.h"

namespace kvtier {
namespace {

SegmentTrailer make_trailer(const SegmentContext& segment, const FooterContent& content) {
  SegmentTrailer trailer{};
  trailer.identity = segment.identity;
  trailer.offset = trailer_offset(segment.geometry);
  trailer.index_bytes = index_bytes(content.scopes.size(), content.entries.size());
  trailer.index_offset = trailer.offset - round_up(trailer.index_bytes, segment.geometry.alignment);
  trailer.scope_count = static_cast<std::uint32_t>(content.scopes.size());
  trailer.entry_count = static_cast<std::uint32_t>(content.entries.size());
  trailer.data_end = content.data_end;
  trailer.sealed_epoch = content.sealed_epoch;
  trailer.sealed_ns = content.sealed_ns;
  return trailer;
}

}  // namespace

IndexEntry index_entry(const DiskRecord& record, std::uint32_t scope) {
  const RecordHeader& h = record.header;
  IndexEntry entry{};
  entry.key = h.key;
  entry.parent = h.parent;
  entry.sequence = h.sequence;
  entry.born = h.born;
  entry.header_sector = static_cast<std::uint32_t>(h.offset / kSectorBytes);
  entry.payload_sector = static_cast<std::uint32_t>(h.payload_offset / kSectorBytes);
  entry.payload_bytes = static_cast<std::uint32_t>(h.payload_bytes);
  entry.block_bytes = static_cast<std::uint32_t>(h.block_bytes);
  entry.header_bytes = record.header_bytes();
  entry.scope = scope;
  entry.kind = h.kind;
  entry.created_ns = h.created_ns;
  return entry;
}

void encode_footer(const SegmentContext& segment, const FooterContent& content, std::span<std::byte> out) {
  SegmentTrailer trailer = make_trailer(segment, content);
  KV_CHECK(out.size() == segment.geometry.segment_bytes - trailer.index_offset &&
               content.data_end <= trailer.index_offset,
           "a footer fits behind the data");
  std::memset(out.data(), 0, out.size());
  const std::span<const std::byte> scopes = std::as_bytes(content.scopes);
  const std::span<const std::byte> entries = std::as_bytes(content.entries);
  std::copy(entries.begin(), entries.end(), std::copy(scopes.begin(), scopes.end(), out.begin()));
  trailer.index_checksum = checksum64(out.first(trailer.index_bytes));
  const std::span<std::byte> last = out.last(segment.geometry.alignment).first(sizeof trailer);
  std::memcpy(last.data(), &trailer, sizeof trailer);
  seal(kTrailerMagic, last);
}

IndexScope read_scope(const SegmentTrailer& trailer, std::span<const std::byte> index, std::uint32_t i) {
  KV_CHECK(i < trailer.scope_count, "a scope of the index");
  IndexScope scope;
  std::memcpy(&scope, index.data() + i * sizeof scope, sizeof scope);
  return scope;
}

IndexEntry read_entry(const SegmentTrailer& trailer, std::span<const std::byte> index, std::uint32_t i) {
  KV_CHECK(i < trailer.entry_count, "an entry of the index");
  IndexEntry entry;
  std::memcpy(&entry, index.data() + index_bytes(trailer.scope_count, i), sizeof entry);
  return entry;
}

ExpectedRecord expect(const IndexEntry& entry, const IndexScope& scope) {
  return {.offset = std::uint64_t{entry.header_sector} * kSectorBytes,
          .sequence = entry.sequence,
          .tenant = scope.tenant,
          .space = scope.space,
          .key = entry.key,
          .payload_offset = std::uint64_t{entry.payload_sector} * kSectorBytes,
          .payload_bytes = entry.payload_bytes,
          .block_bytes = entry.block_bytes,
          .header_bytes = entry.header_bytes};
}

}  // namespace kvtier
