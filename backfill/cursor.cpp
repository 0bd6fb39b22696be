#include "backfill/cursor.h"

#include <algorithm>

#include "model/byte_codec.h"

namespace tidemark::backfill {
namespace {

constexpr uint8_t kVersion = 1;

}  // namespace

std::string EncodeCursor(const Cursor& cursor) {
  std::string out;
  ByteWriter writer(out);
  writer.Byte(kVersion);
  writer.Text(cursor.url);
  writer.Signed(cursor.grid.start_ms);
  writer.Signed(cursor.grid.end_ms);
  writer.Signed(cursor.grid.step_ms);
  writer.Varint(cursor.external_labels.size());
  for (const auto& [name, value] : cursor.external_labels) {
    writer.Text(name);
    writer.Text(value);
  }
  writer.Bool(cursor.from_config);
  writer.Bool(cursor.had_credentials);
  writer.Bool(cursor.finished);
  writer.Bool(cursor.last.has_value());
  if (cursor.last) {
    writer.Text(cursor.last->cluster);
    writer.Text(cursor.last->name_space);
  }
  for (const uint64_t number : {cursor.namespaces_done, cursor.namespaces_total, cursor.containers,
                                cursor.minutes, cursor.samples, cursor.not_covered_total}) {
    writer.Varint(number);
  }
  const size_t lines = std::min(cursor.not_covered.size(), kMaxNotCovered);
  writer.Varint(lines);
  for (size_t i = 0; i < lines; ++i) {
    writer.Text(std::string_view(cursor.not_covered[i]).substr(0, kMaxNotCoveredBytes));
  }
  return out;
}

Result<Cursor> DecodeCursor(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint8_t version = reader.Byte();
  if (version != kVersion) {
    return Fail(ErrorCode::kInvalidArgument,
                "the back-fill's cursor has version " + std::to_string(version) +
                    ", known is 1; was the store written by a newer release?");
  }
  Cursor cursor;
  cursor.url = reader.Text();
  cursor.grid.start_ms = reader.Signed();
  cursor.grid.end_ms = reader.Signed();
  cursor.grid.step_ms = reader.Signed();
  for (uint64_t left = reader.Count(2); left > 0; --left) {
    std::string name(reader.Text());
    cursor.external_labels.emplace_back(std::move(name), reader.Text());
  }
  cursor.from_config = reader.Bool();
  cursor.had_credentials = reader.Bool();
  cursor.finished = reader.Bool();
  if (reader.Bool()) {
    NamespaceName& last = cursor.last.emplace();
    last.cluster = reader.Text();
    last.name_space = reader.Text();
  }
  for (uint64_t* const number :
       {&cursor.namespaces_done, &cursor.namespaces_total, &cursor.containers, &cursor.minutes,
        &cursor.samples, &cursor.not_covered_total}) {
    *number = reader.Varint();
  }
  for (uint64_t left = reader.Count(1); left > 0; --left) {
    cursor.not_covered.emplace_back(reader.Text());
  }
  const bool good_grid = cursor.grid.step_ms > 0 && cursor.grid.start_ms >= 0 &&
                         cursor.grid.end_ms >= cursor.grid.start_ms;
  if (!reader.AtEnd() || !good_grid) {
    return Fail(ErrorCode::kInvalidArgument, "the back-fill's cursor is damaged");
  }
  return cursor;
}

}  // namespace tidemark::backfill
