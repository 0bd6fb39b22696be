// libFuzzer's way to the edge of remote write: any bytes as a snappy block, and any bytes packed
// and cut. libsnappy itself is the oracle. What must hold for every input is checked with
// __builtin_trap.

#include <snappy.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remote_write/snappy_block.h"

namespace {

using namespace tidemark;
using namespace tidemark::remote_write;

constexpr uint64_t kMaxUnpacked = 1 << 20;

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

void RequireGoodError(const Error& error) {
  Require(error.code == ErrorCode::kInvalidArgument);
  Require(!error.message.empty() && error.message.size() < 256);
}

void AnyBytes(std::string_view block) {
  size_t claim = 0;
  const bool has_claim = snappy::GetUncompressedLength(block.data(), block.size(), &claim);
  const bool valid = has_claim && claim <= kMaxUnpacked &&
                     snappy::IsValidCompressedBuffer(block.data(), block.size());

  const Result<uint64_t> claimed = ClaimedSize(block, kMaxUnpacked);
  UnpackBuffer buffer;
  const Result<std::string_view> unpacked = UnpackBlock(block, kMaxUnpacked, buffer);
  Require(unpacked.has_value() == valid);
  if (!claimed) {
    RequireGoodError(claimed.error());
    Require(!valid);
    Require(buffer.capacity() == 0);
  } else {
    Require(*claimed == claim && claim <= kMaxUnpacked);
    Require(buffer.capacity() <= 2 * (claim + 1));
  }
  if (!unpacked) return RequireGoodError(unpacked.error());
  std::string expected;
  Require(snappy::Uncompress(block.data(), block.size(), &expected));
  Require(*unpacked == expected);
  // A buffer that has been used before changes nothing.
  Require(UnpackBlock(block, kMaxUnpacked, buffer).value() == expected);
}

void PackedAndCut(std::string_view message) {
  std::string block;
  snappy::Compress(message.data(), message.size(), &block);
  UnpackBuffer buffer;
  Require(UnpackBlock(block, kMaxUnpacked, buffer).value() == message);
  Require(UnpackBlock(block, message.size(), buffer).value() == message);
  if (!message.empty()) Require(!UnpackBlock(block, message.size() - 1, buffer));
  // No part of a block is a block: each cut must be seen.
  const size_t step = block.size() / 64 + 1;
  for (size_t size = 0; size < block.size(); size += step) {
    // A copy of the exact size, so that a sanitizer sees every byte read past the end.
    const std::vector<char> part(block.begin(), block.begin() + static_cast<ptrdiff_t>(size));
    const auto cut = UnpackBlock({part.data(), part.size()}, kMaxUnpacked, buffer);
    Require(!cut);
    RequireGoodError(cut.error());
  }
  Require(!UnpackBlock(block + '\0', kMaxUnpacked, buffer));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<char> bytes(data, data + size);
  const std::string_view input(bytes.data(), bytes.size());
  AnyBytes(input);
  if (size <= kMaxUnpacked) PackedAndCut(input);
  return 0;
}
