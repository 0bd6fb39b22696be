#pragma once
// What a record of the journal looks like on disk, and the checksum that records and the blocks of
// checkpoints carry.
//
//   record = checksum (8 bytes, little-endian), distance (varint), payload
//
// The checksum is XXH3-64 (https://xxhash.com) over the payload, seeded with that over the distance
// (8 bytes), which is seeded with the record's number: a record that stands at another number than
// its own is a damaged one. The
// distance is that from the number of the record before it: a record that is missing in between is
// seen, while numbers that were left out on purpose are none. Stateless, thread-safe.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::storage {

/// What stands before the payload of record `number`, which follows the record `previous`.
std::string FrameHead(uint64_t number, uint64_t previous, std::string_view payload);

struct Frame {
  uint64_t previous = 0;  ///< number of the record before it
  std::string_view payload;
};

/// Takes a record apart; nothing when it is not what was once written at this number. The payload
/// lies within `bytes`.
std::optional<Frame> ReadFrame(uint64_t number, std::string_view bytes);

/// Checksum of the bytes that stand at the place `number`.
uint64_t Checksum(uint64_t number, std::string_view bytes);

}  // namespace tidemark::storage
