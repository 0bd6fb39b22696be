#pragma once
// Bytes on disk: fixed and variable-length numbers, texts, floating point bit for bit.
//
// Little-endian; variable-length numbers in the base-128 form of Protocol Buffers, signed ones
// zigzag-coded. A reader never reads beyond its bytes: the first thing that does not fit makes it
// fail, and from then on it answers zeros and empty texts, so that a caller may look once at the
// end. Not thread-safe.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tidemark {

/// Appends to a string of the caller's, which must outlive it.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void Byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void Bool(bool value) { Byte(value ? 1 : 0); }
  void Fixed32(uint32_t value) { Raw(&value, sizeof value); }
  void Fixed64(uint64_t value) { Raw(&value, sizeof value); }
  void Varint(uint64_t value) {
    while (value >= 0x80) {
      Byte(static_cast<uint8_t>(value | 0x80));
      value >>= 7;
    }
    Byte(static_cast<uint8_t>(value));
  }
  void Signed(int64_t value) {
    Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  /// Every bit of it, also of NaN.
  void Double(double value) { Fixed64(std::bit_cast<uint64_t>(value)); }
  /// Its length, then its bytes.
  void Text(std::string_view text) {
    Varint(text.size());
    out_.append(text);
  }
  size_t size() const { return out_.size(); }

 private:
  static_assert(std::endian::native == std::endian::little);
  void Raw(const void* from, size_t bytes) { out_.append(static_cast<const char*>(from), bytes); }

  std::string& out_;
};

/// Reads bytes of the caller's, which must outlive it and the texts it gives.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint8_t Byte() {
    if (!Has(1)) return 0;
    const auto value = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  /// Anything but 0 and 1 is a failure.
  bool Bool() {
    const uint8_t value = Byte();
    if (value > 1) Fail();
    return value == 1;
  }
  uint32_t Fixed32() { return Fixed<uint32_t>(); }
  uint64_t Fixed64() { return Fixed<uint64_t>(); }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return failed_ ? 0 : value;
    }
    Fail();
    return 0;
  }
  /// A number of things of which each takes at least `least_bytes` of what is left: more is a
  /// failure, so that no caller sets memory aside for what cannot be there.
  uint64_t Count(size_t least_bytes = 1) {
    const uint64_t count = Varint();
    if (count <= rest_.size() / least_bytes) return count;
    Fail();
    return 0;
  }
  int64_t Signed() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  double Double() { return std::bit_cast<double>(Fixed64()); }
  std::string_view Text() {
    const uint64_t size = Varint();
    if (!Has(size)) return {};
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

  /// Makes it failed: for what is readable and yet cannot be.
  void Fail() {
    failed_ = true;
    rest_ = {};
  }
  bool failed() const { return failed_; }
  /// True when all was read and nothing failed.
  bool AtEnd() const { return !failed_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  bool Has(uint64_t bytes) {
    if (bytes <= rest_.size()) return true;
    Fail();
    return false;
  }
  template <class T>
  T Fixed() {
    T value = 0;
    if (!Has(sizeof value)) return 0;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace tidemark
