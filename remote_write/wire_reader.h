#pragma once
// A forward reader of the protobuf wire format (protobuf.dev, "Encoding") over somebody else's
// bytes.
//
// It copies nothing, allocates nothing and never recurses; every view it hands out points into the
// bytes it was given and lives as long as they do. Whatever ends in the middle is an error, never a
// shorter value. One reader belongs to one thread. After an error the reader's position means
// nothing: give it up.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tidemark::remote_write {

/// Why bytes are not the message they should be. A bare number, because the hot path must not build
/// texts.
enum class DecodeError : uint8_t {
  kNone,            ///< no error
  kTruncated,       ///< the bytes end inside a field
  kVarintTooLong,   ///< a varint of more than 10 bytes
  kBadFieldNumber,  ///< field number 0 or over 2^29 - 1
  kBadWireType,     ///< wire type 6 or 7
  kWrongWireType,   ///< a known field with another wire type than the schema gives it
  kLengthPastEnd,   ///< a length that runs past the end of its message
  kGroupMismatch,   ///< an end of a group that was not open
  kGroupTooDeep,    ///< groups nested deeper than kMaxGroupDepth
  kNoRoom,          ///< 2.0: good, but there is no memory now to read it
  kLabelsTooLarge,  ///< 2.0: good, but its labels written out take more bytes than are allowed
};

/// One line for people; empty for kNone.
std::string_view Message(DecodeError error);

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

/// A field's key as it stands on the wire: number and wire type in one.
constexpr uint32_t FieldKey(uint32_t number, WireType type) {
  return number << 3 | static_cast<uint32_t>(type);
}
constexpr uint32_t FieldNumber(uint32_t key) { return key >> 3; }
constexpr WireType TypeOf(uint32_t key) { return static_cast<WireType>(key & 7); }

/// The fewest bytes that a varint of this value takes.
constexpr size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

class WireReader {
 public:
  /// Groups (an encoding that was given up long ago) may still stand in unknown fields, nested up
  /// to here.
  static constexpr size_t kMaxGroupDepth = 64;

  explicit WireReader(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool AtEnd() const { return next_ == end_; }
  /// Where the next byte stands.
  const char* position() const { return next_; }
  /// What has not been read yet.
  std::string_view rest() const { return {next_, static_cast<size_t>(end_ - next_)}; }
  /// Passes over `size` bytes, at most those of rest().
  void Advance(size_t size) { next_ += size; }

  /// The key of the next field. Refuses field number 0 and the wire types that do not exist.
  [[nodiscard]] DecodeError ReadKey(uint32_t& key) {
    uint64_t value = 0;
    if (const DecodeError error = ReadVarint(value); error != DecodeError::kNone) return error;
    if (value > UINT32_MAX || value < 8) return DecodeError::kBadFieldNumber;
    if ((value & 7) > 5) return DecodeError::kBadWireType;
    key = static_cast<uint32_t>(value);
    return DecodeError::kNone;
  }

  /// At most 10 bytes; needless ones are legal, bits over the 64th are dropped, as by other
  /// protobuf readers.
  [[nodiscard]] DecodeError ReadVarint(uint64_t& value) {
    if (next_ != end_ && static_cast<unsigned char>(*next_) < 0x80) [[likely]] {
      value = static_cast<unsigned char>(*next_++);
      return DecodeError::kNone;
    }
    return ReadLongVarint(value);
  }

  [[nodiscard]] DecodeError ReadFixed64(uint64_t& value) { return ReadFixed(value); }
  [[nodiscard]] DecodeError ReadFixed32(uint32_t& value) { return ReadFixed(value); }

  /// A length and that many bytes.
  [[nodiscard]] DecodeError ReadBytes(std::string_view& bytes) {
    uint64_t length = 0;
    if (const DecodeError error = ReadVarint(length); error != DecodeError::kNone) return error;
    if (length > static_cast<uint64_t>(end_ - next_)) return DecodeError::kLengthPastEnd;
    bytes = std::string_view(next_, length);
    next_ += length;
    return DecodeError::kNone;
  }

  /// Passes over the value of the field whose key was just read, whatever its type.
  [[nodiscard]] DecodeError Skip(uint32_t key);

 private:
  [[nodiscard]] DecodeError ReadLongVarint(uint64_t& value);
  [[nodiscard]] DecodeError SkipGroup(uint32_t number);

  /// Little-endian, as on every machine that this program is built for.
  template <class T>
  [[nodiscard]] DecodeError ReadFixed(T& value) {
    if (static_cast<size_t>(end_ - next_) < sizeof(T)) return DecodeError::kTruncated;
    std::memcpy(&value, next_, sizeof(T));
    next_ += sizeof(T);
    return DecodeError::kNone;
  }

  const char* next_;
  const char* end_;
};

/// Passes over a field that the schema does not know. `known` has bit n set for each field number n
/// that it does know: such a field came here because its wire type is not the schema's.
[[nodiscard]] inline DecodeError SkipUnknown(WireReader& reader, uint32_t key, uint32_t known) {
  const uint32_t number = FieldNumber(key);
  if (number < 32 && (known >> number & 1) != 0) return DecodeError::kWrongWireType;
  return reader.Skip(key);
}

}  // namespace tidemark::remote_write
