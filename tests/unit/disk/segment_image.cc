#include "tests/unit/disk/segment_image.h"

#include <algorithm>
#include <array>

#include "daemon/disk/format_group.h"
#include "daemon/disk/format_order.h"
#include "daemon/disk/format_seal.h"
#include "daemon/disk/format_segment.h"
#include "libkvclient/base/prng.h"
#include "tests/support/pattern_block.h"

namespace kvtier::test {
namespace {

Spec spec_of(std::vector<SpecPart> parts) {
  Spec spec;
  spec.model = "image";
  spec.revision = "1";
  spec.tokenizer = "1";
  spec.parts = std::move(parts);
  return spec;
}

// A page of tiny layers; two parts of a few layers; and one whose header has more than one sector.
const std::vector<Spec>& specs() {
  static const std::vector<Spec> all = {
      spec_of({{"kv", 4096, 0, 32, 1, 64, "f16", "flat"}}),
      spec_of({{"kv", 2 * 4608, 0, 2, 1, 64, "f16", "flat"}, {"mamba", 1000, 2, 1, 0, 0, "f32", "flat"}}),
      spec_of({{"kv", 14 * 4096, 0, 14, 1, 64, "f16", "flat"}, {"swa", 5000, 14, 1, 1, 64, "f16", "flat"}}),
  };
  return all;
}

class ImageWriter {
 public:
  ImageWriter(std::uint64_t shape, Role role, SegmentImage& image)
      : prng_(shape), role_(role), image_(image), chain_(shape * 8 + static_cast<std::uint64_t>(role)) {}

  void write_header() {
    put(0, encode_segment_header(image_.segment, 1));
    image_.data_end = data_offset(image_.segment.geometry);
  }

  /// False when the next group does not fit before the footer.
  bool write_group() {
    std::vector<DiskRecord> group(1 + prng_.below(5));
    for (DiskRecord& record : group) record = make_block();
    const SegmentGeometry& g = image_.segment.geometry;
    const std::uint64_t footer = footer_bytes(g, specs().size(), image_.records.size() + group.size());
    const Result<std::uint64_t> end =
        place_group(image_.segment, image_.data_end, g.segment_bytes - footer, group);
    if (!end.is_ok()) return false;
    write_payloads(group);
    const RecordHeader& first = group.front().header;
    std::vector<std::byte> area(group_header_bytes(g, first.group_count, first.header_stride));
    encode_group(group, area);
    put(first.offset, area);
    image_.groups.push_back({first.offset, end.value()});
    image_.records.insert(image_.records.end(), group.begin(), group.end());
    image_.data_end = end.value();
    return true;
  }

  void write_footer() {
    std::vector<IndexScope> scopes;
    std::vector<IndexEntry> entries;
    for (const DiskRecord& record : image_.records) {
      const IndexScope scope{record.header.tenant, record.header.space};
      const auto known = std::find(scopes.begin(), scopes.end(), scope);
      entries.push_back(index_entry(record, static_cast<std::uint32_t>(known - scopes.begin())));
      if (known == scopes.end()) scopes.push_back(scope);
    }
    std::vector<std::byte> footer(footer_bytes(image_.segment.geometry, scopes.size(), entries.size()));
    encode_footer(image_.segment, {scopes, entries, image_.data_end, image_.segment.identity.epoch, 2},
                  footer);
    put(image_.segment.geometry.segment_bytes - footer.size(), footer);
    image_.is_sealed = true;
  }

 private:
  DiskRecord make_block() {
    const Spec& spec = specs()[prng_.below(specs().size())];
    DiskRecord record{};
    record.header.kind = RecordKind::kBlock;
    record.header.tenant = namespace_digest("image");
    record.header.space = spec_digest(spec).value();
    record.header.key = pattern_key(chain_, count_);
    record.header.sequence = sequence_number(image_.segment.identity.epoch, ++count_);
    KV_CHECK(plan_raw_parts(spec, record).is_ok(), "the image's specs are valid");
    return record;
  }

  void write_payloads(std::span<DiskRecord> group) {
    for (DiskRecord& record : group) {
      std::vector<std::byte> payload(
          round_up(record.header.payload_bytes, image_.segment.geometry.alignment));
      fill_pattern(record.header.key, payload);
      sum_payload(payload, record);
      put(record.header.payload_offset, payload);
    }
  }

  void put(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), image_.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::uint64_t at = offset; at < offset + bytes.size(); at += kSectorBytes) {
      const auto sector = static_cast<std::uint32_t>(at / kSectorBytes);
      image_.origins[sector] = {role_, sector};
    }
  }

  Prng prng_;
  Role role_;
  SegmentImage& image_;
  std::uint64_t chain_;
  std::uint64_t count_ = 0;
};

}  // namespace

SegmentImage write_segment(std::uint64_t shape, Role role, const SegmentIdentity& identity, bool is_sealed,
                           const SegmentImage* previous) {
  SegmentImage image{.segment = {identity, kImageGeometry}};
  image.bytes = previous != nullptr ? previous->bytes : std::vector<std::byte>(kImageGeometry.segment_bytes);
  image.origins = previous != nullptr ? previous->origins
                                      : std::vector<Origin>(kImageGeometry.segment_bytes / kSectorBytes);
  ImageWriter writer(shape, role, image);
  writer.write_header();
  const std::uint64_t groups_max = is_sealed ? 1000 : 3;
  while (image.groups.size() < groups_max && writer.write_group()) {
  }
  if (is_sealed) writer.write_footer();
  return image;
}

}  // namespace kvtier::test
