#include "storage/frame.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model/byte_codec.h"

namespace tidemark::storage {

std::string FrameHead(uint64_t number, uint64_t previous, std::string_view payload) {
  std::string distance;
  ByteWriter(distance).Varint(number - previous);
  XXH3_state_t state;
  XXH3_64bits_reset_withSeed(&state, number);
  XXH3_64bits_update(&state, distance.data(), distance.size());
  XXH3_64bits_update(&state, payload.data(), payload.size());
  std::string head;
  ByteWriter(head).Fixed64(XXH3_64bits_digest(&state));
  return head + distance;
}

std::optional<Frame> ReadFrame(uint64_t number, std::string_view bytes) {
  ByteReader reader(bytes);
  const uint64_t checksum = reader.Fixed64();
  if (reader.failed() || Checksum(number, reader.rest()) != checksum) return std::nullopt;
  const uint64_t distance = reader.Varint();
  if (reader.failed() || distance == 0 || distance > number) return std::nullopt;
  return Frame{.previous = number - distance, .payload = reader.rest()};
}

uint64_t Checksum(uint64_t number, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), number);
}

}  // namespace tidemark::storage
