#include "storage/frame.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "model/byte_codec.h"

namespace tidemark::storage {

namespace {

/// In one go each, and not by XXH3's streaming state: on the stack that looks at what was there
/// before it to see whether it knows the seed.
uint64_t FrameChecksum(uint64_t number, uint64_t distance, std::string_view payload) {
  std::string head;
  ByteWriter(head).Fixed64(distance);
  return Checksum(Checksum(number, head), payload);
}

}  // namespace

std::string FrameHead(uint64_t number, uint64_t previous, std::string_view payload) {
  const uint64_t distance = number - previous;
  std::string head;
  ByteWriter writer(head);
  writer.Fixed64(FrameChecksum(number, distance, payload));
  writer.Varint(distance);
  return head;
}

std::optional<Frame> ReadFrame(uint64_t number, std::string_view bytes) {
  ByteReader reader(bytes);
  const uint64_t checksum = reader.Fixed64();
  const uint64_t distance = reader.Varint();
  if (reader.failed() || distance == 0 || distance > number) return std::nullopt;
  const std::string_view payload = reader.rest();
  if (FrameChecksum(number, distance, payload) != checksum) return std::nullopt;
  return Frame{.previous = number - distance, .payload = payload};
}

uint64_t Checksum(uint64_t number, std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), number);
}

}  // namespace tidemark::storage
