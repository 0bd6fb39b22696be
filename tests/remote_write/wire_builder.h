#pragma once
// Protobuf messages written byte by byte, so that tests can write them wrongly too.

#include <snappy.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::remote_write::test {

/// A varint; padded with needless bytes up to `min_size`.
inline std::string Varint(uint64_t value, size_t min_size = 1) {
  std::string out;
  while (value >= 0x80 || out.size() + 1 < min_size) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
  return out;
}

inline std::string Key(uint32_t number, uint32_t type, size_t min_size = 1) {
  return Varint(uint64_t{number} << 3 | type, min_size);
}
inline std::string VarintField(uint32_t number, uint64_t value) {
  return Key(number, 0) + Varint(value);
}
inline std::string Fixed64Field(uint32_t number, uint64_t bits) {
  std::string out = Key(number, 1);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
  return out;
}
inline std::string DoubleField(uint32_t number, double value) {
  return Fixed64Field(number, std::bit_cast<uint64_t>(value));
}
inline std::string BytesField(uint32_t number, std::string_view bytes) {
  return Key(number, 2) + Varint(bytes.size()) + std::string(bytes);
}

inline std::string Label(std::string_view name, std::string_view value) {
  return BytesField(1, BytesField(1, name) + BytesField(2, value));
}
using LabelList = std::vector<std::pair<std::string, std::string>>;
inline std::string Labels(const LabelList& labels) {
  std::string out;
  for (const auto& [name, value] : labels) out += Label(name, value);
  return out;
}
inline std::string SampleField(double value, int64_t timestamp_ms) {
  return BytesField(2, DoubleField(1, value) + VarintField(2, static_cast<uint64_t>(timestamp_ms)));
}
/// A TimeSeries entry of a WriteRequest.
inline std::string Series(std::string_view content) { return BytesField(1, content); }
inline std::string Series(const LabelList& labels, double value, int64_t timestamp_ms) {
  return Series(Labels(labels) + SampleField(value, timestamp_ms));
}

inline std::string Pack(std::string_view message) {
  std::string block;
  snappy::Compress(message.data(), message.size(), &block);
  return block;
}

}  // namespace tidemark::remote_write::test
