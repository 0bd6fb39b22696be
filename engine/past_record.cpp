#include "engine/past_record.h"

#include <utility>

#include "engine/journal_record.h"
#include "engine/shard.h"
#include "model/byte_codec.h"

namespace tidemark::engine {
namespace {

/// Four texts and the counts of minutes.
constexpr size_t kLeastContainerBytes = 4 + kResourceCount;

tl::unexpected<Error> Unreadable() {
  return Fail(ErrorCode::kInvalidArgument, "a journal record of back-filling cannot be read");
}

void Write(ByteWriter& writer, const workloads::PastContainer& container) {
  writer.Text(container.workload_type);
  writer.Text(container.workload);
  writer.Text(container.container);
  for (const auto& minutes : container.minutes) {
    writer.Varint(minutes.count);
    if (minutes.count == 0) continue;
    writer.Signed(minutes.from_ms);
    writer.Signed(minutes.until_ms);
  }
  writer.Text(container.history);
}

workloads::PastContainer Read(ByteReader& reader) {
  workloads::PastContainer container;
  container.workload_type = reader.Text();
  container.workload = reader.Text();
  container.container = reader.Text();
  for (auto& minutes : container.minutes) {
    minutes.count = reader.Varint();
    if (minutes.count == 0) continue;
    minutes.from_ms = reader.Signed();
    minutes.until_ms = reader.Signed();
    if (minutes.from_ms >= minutes.until_ms || minutes.from_ms < 0) reader.Fail();
  }
  container.history = reader.Text();
  if (container.workload_type.empty()) reader.Fail();
  return container;
}

}  // namespace

void PastRecord::Encode(const std::vector<Namespace>& namespaces, std::string_view cursor,
                        std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(RecordKind::kPast));
  writer.Text(cursor);
  writer.Varint(namespaces.size());
  for (const Namespace& one : namespaces) {
    writer.Fixed64(one.hash);
    writer.Text(one.cluster);
    writer.Text(one.name);
    writer.Varint(one.containers.size());
    for (const workloads::PastContainer& container : one.containers) Write(writer, container);
  }
}

Result<std::shared_ptr<const PastRecord>> PastRecord::Decode(std::string record) {
  std::shared_ptr<PastRecord> past(new PastRecord(std::move(record)));
  ByteReader reader(past->bytes_);
  if (static_cast<RecordKind>(reader.Byte()) != RecordKind::kPast) return Unreadable();
  past->cursor_ = reader.Text();
  past->namespaces_.resize(reader.Count(sizeof(uint64_t)));
  for (Namespace& one : past->namespaces_) {
    one.hash = reader.Fixed64();
    one.cluster = reader.Text();
    one.name = reader.Text();
    one.containers.resize(reader.Count(kLeastContainerBytes));
    for (workloads::PastContainer& container : one.containers) {
      container = Read(reader);
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
    ++outcome.containers;
    for (const auto& minutes : container.minutes) outcome.minutes += minutes.count;
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
