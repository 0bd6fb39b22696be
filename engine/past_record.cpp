#include "engine/past_record.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/journal_record.h"
#include "engine/shard.h"
#include "model/byte_codec.h"

namespace tidemark::engine {
namespace {

/// Four texts and which minutes there are.
constexpr size_t kLeastContainerBytes = 5;
constexpr size_t kResources = 16;
/// Of records of the kind kFirstPast, which had the minutes of each, in order.
constexpr size_t kFirstResources = 4;

/// The present resource of each that a record may tell of.
using Mapping = std::vector<std::optional<Resource>>;

tl::unexpected<Error> Unreadable() {
  return Fail(ErrorCode::kInvalidArgument, "a journal record of back-filling cannot be read");
}

void Write(ByteWriter& writer, const workloads::PastContainer& container) {
  writer.Text(container.workload_type);
  writer.Text(container.workload);
  writer.Text(container.container);
  uint64_t there = 0;
  container.minutes.ForEach([&](Resource resource, const auto& minutes) {
    if (minutes.count > 0) there |= uint64_t{1} << static_cast<unsigned>(resource);
  });
  writer.Varint(there);
  container.minutes.ForEach([&](Resource, const auto& minutes) {
    if (minutes.count == 0) return;
    writer.Varint(minutes.count);
    writer.Signed(minutes.from_ms);
    writer.Signed(minutes.until_ms);
  });
  writer.Text(container.history);
}

workloads::PastContainer::Minutes ReadMinutes(ByteReader& reader) {
  workloads::PastContainer::Minutes minutes;
  minutes.count = reader.Varint();
  if (minutes.count == 0) return minutes;
  minutes.from_ms = reader.Signed();
  minutes.until_ms = reader.Signed();
  if (minutes.from_ms >= minutes.until_ms || minutes.from_ms < 0) reader.Fail();
  return minutes;
}

/// Of a record of the kind kFirstPast all of the first resources are there, and the mapping names
/// no others.
workloads::PastContainer Read(ByteReader& reader, const Mapping& mapping, bool is_first) {
  workloads::PastContainer container;
  container.workload_type = reader.Text();
  container.workload = reader.Text();
  container.container = reader.Text();
  const uint64_t all = (uint64_t{1} << mapping.size()) - 1;
  const uint64_t there = is_first ? all : reader.Varint();
  if ((there & ~all) != 0) reader.Fail();
  for (size_t i = 0; i < mapping.size(); ++i) {
    if ((there >> i & 1) == 0) continue;
    const auto minutes = ReadMinutes(reader);
    if (mapping[i] && minutes.count > 0) container.minutes.At(*mapping[i]) = minutes;
  }
  container.history = reader.Text();
  if (container.workload_type.empty()) reader.Fail();
  return container;
}

Mapping ReadMapping(ByteReader& reader, const ResourceTable& resources) {
  Mapping mapping(kBuiltInResources.begin(), kBuiltInResources.end());
  const uint64_t custom = reader.Count();
  if (custom > kResources - mapping.size()) {
    reader.Fail();
    return mapping;
  }
  for (uint64_t i = 0; i < custom; ++i) {
    auto resource = resources.Parse(reader.Text());
    if (resource && !IsCustom(*resource)) resource.reset();
    mapping.push_back(resource);
  }
  return mapping;
}

}  // namespace

void PastRecord::Encode(const std::vector<Namespace>& namespaces, std::string_view cursor,
                        const ResourceTable& resources, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kPast));
  writer.Text(cursor);
  writer.Varint(resources.custom().size());
  for (const CustomResource& resource : resources.custom()) writer.Text(resource.name);
  writer.Varint(namespaces.size());
  for (const Namespace& one : namespaces) {
    writer.Fixed64(one.hash);
    writer.Text(one.cluster);
    writer.Text(one.name);
    writer.Varint(one.containers.size());
    for (const workloads::PastContainer& container : one.containers) Write(writer, container);
  }
}

Result<std::shared_ptr<const PastRecord>> PastRecord::Decode(std::string record,
                                                             const ResourceTable& resources) {
  std::shared_ptr<PastRecord> past(new PastRecord(std::move(record)));
  ByteReader reader(past->bytes_);
  const auto kind = static_cast<RecordKind>(reader.Byte());
  const bool is_first = kind == RecordKind::kFirstPast;
  if (kind != RecordKind::kPast && !is_first) return Unreadable();
  past->cursor_ = reader.Text();
  const Mapping mapping =
      is_first ? Mapping(kBuiltInResources.begin(), kBuiltInResources.begin() + kFirstResources)
               : ReadMapping(reader, resources);
  past->namespaces_.resize(reader.Count(sizeof(uint64_t)));
  for (Namespace& one : past->namespaces_) {
    one.hash = reader.Fixed64();
    one.cluster = reader.Text();
    one.name = reader.Text();
    one.containers.resize(reader.Count(kLeastContainerBytes));
    for (workloads::PastContainer& container : one.containers) {
      container = Read(reader, mapping, is_first);
      if (reader.failed()) return Unreadable();
    }
  }
  if (!reader.AtEnd()) return Unreadable();
  return past;
}

PastOutcome PastRecord::Merge(const Namespace& one, Shard& shard, uint64_t number) const {
  PastOutcome outcome;
  if (number != 0 && shard.Holds(one.hash, number)) return outcome;
  workloads::NamespaceState& state = shard.FindOrMake(one.hash, one.cluster, one.name);
  for (const workloads::PastContainer& container : one.containers) {
    if (!state.MergePast(container)) {
      outcome.overtaken = true;
      continue;
    }
    // The demand is a sum of minutes that count with their containers.
    if (container.container == workloads::kDemand) continue;
    ++outcome.containers;
    container.minutes.ForEach(
        [&outcome](Resource, const auto& minutes) { outcome.minutes += minutes.count; });
  }
  state.EndBatch();
  shard.Reached(number);
  return outcome;
}

void EncodePastCursor(std::string_view cursor, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kPastCursor));
  writer.Text(cursor);
}

Result<std::string_view> DecodePastCursor(std::string_view record) {
  ByteReader reader(record);
  const auto kind = static_cast<RecordKind>(reader.Byte());
  const std::string_view cursor = reader.Text();
  if (kind != RecordKind::kPastCursor || !reader.AtEnd()) return Unreadable();
  return cursor;
}

}  // namespace tidemark::engine
