#include "remote_write/wire_reader.h"

#include <array>
#include <bit>

namespace tidemark::remote_write {

static_assert(std::endian::native == std::endian::little);

std::string_view Message(DecodeError error) {
  switch (error) {
    case DecodeError::kNone: return "";
    case DecodeError::kTruncated: return "the message ends inside a field";
    case DecodeError::kVarintTooLong: return "a varint is longer than 10 bytes";
    case DecodeError::kBadFieldNumber: return "a field number is not within 1 and 536870911";
    case DecodeError::kBadWireType: return "a wire type is not within 0 and 5";
    case DecodeError::kWrongWireType: return "a known field has the wrong wire type";
    case DecodeError::kLengthPastEnd: return "a length runs past the end of its message";
    case DecodeError::kGroupMismatch: return "a group ends that was not open";
    case DecodeError::kGroupTooDeep: return "groups are nested more than 64 deep";
    case DecodeError::kNoRoom: return "there is no memory for it now";
    case DecodeError::kLabelsTooLarge:
      return "the labels of its series, written out, take more bytes than max_unpacked_size allows";
  }
  return "unknown error";
}

DecodeError WireReader::ReadLongVarint(uint64_t& value) {
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (next_ == end_) return DecodeError::kTruncated;
    const auto byte = static_cast<unsigned char>(*next_++);
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return DecodeError::kNone;
    }
  }
  return DecodeError::kVarintTooLong;
}

DecodeError WireReader::Skip(uint32_t key) {
  switch (TypeOf(key)) {
    case WireType::kVarint: {
      uint64_t ignored = 0;
      return ReadVarint(ignored);
    }
    case WireType::kFixed64: {
      uint64_t ignored = 0;
      return ReadFixed64(ignored);
    }
    case WireType::kBytes: {
      std::string_view ignored;
      return ReadBytes(ignored);
    }
    case WireType::kStartGroup: return SkipGroup(FieldNumber(key));
    case WireType::kEndGroup: return DecodeError::kGroupMismatch;
    case WireType::kFixed32: {
      uint32_t ignored = 0;
      return ReadFixed32(ignored);
    }
  }
  return DecodeError::kBadWireType;
}

DecodeError WireReader::SkipGroup(uint32_t number) {
  // A stack of our own instead of recursion: the depth is the peer's choice.
  std::array<uint32_t, kMaxGroupDepth> open{};
  open[0] = number;
  size_t depth = 1;
  while (depth > 0) {
    if (AtEnd()) return DecodeError::kTruncated;
    uint32_t key = 0;
    if (const DecodeError error = ReadKey(key); error != DecodeError::kNone) return error;
    if (TypeOf(key) == WireType::kStartGroup) {
      if (depth == open.size()) return DecodeError::kGroupTooDeep;
      open[depth++] = FieldNumber(key);
    } else if (TypeOf(key) == WireType::kEndGroup) {
      if (open[--depth] != FieldNumber(key)) return DecodeError::kGroupMismatch;
    } else if (const DecodeError error = Skip(key); error != DecodeError::kNone) {
      return error;
    }
  }
  return DecodeError::kNone;
}

}  // namespace tidemark::remote_write
