#include "remote_write/snappy_block.h"

#include <fmt/format.h>
#include <snappy.h>

#include <bit>

#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {
namespace {

/// The densest element, a copy of 64 bytes, takes 3 bytes: no block grows more than 64/3 times.
constexpr uint64_t kMaxGrowth = 22;

/// A message that nobody packed: field 1, a length that fits, and inside again field 1.
bool LooksLikeWriteRequest(std::string_view bytes) {
  WireReader outer(bytes);
  uint32_t key = 0;
  std::string_view inner;
  constexpr uint32_t kFirstField = FieldKey(1, WireType::kBytes);
  if (outer.ReadKey(key) != DecodeError::kNone || key != kFirstField) return false;
  if (outer.ReadBytes(inner) != DecodeError::kNone || inner.empty()) return false;
  return static_cast<unsigned char>(inner.front()) == kFirstField;
}

/// What the first bytes look like; empty when they tell nothing.
std::string_view Guess(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x1f\x8b"sv)) return "gzip";
  if (bytes.starts_with("\x28\xb5\x2f\xfd"sv)) return "zstd";
  if (bytes.starts_with("\xff\x06\x00\x00sNaPpY"sv)) {
    return "the framed (stream) format of snappy; one block is needed";
  }
  if (bytes.starts_with("{"sv)) return "JSON";
  if (LooksLikeWriteRequest(bytes)) return "plain protobuf that was not packed";
  return "";
}

tl::unexpected<Error> Refuse(std::string_view block, std::string what) {
  if (const std::string_view guess = Guess(block); !guess.empty()) {
    what += fmt::format("; the first bytes look like {}", guess);
  }
  return Fail(ErrorCode::kInvalidArgument, std::move(what));
}

}  // namespace

char* UnpackBuffer::Reserve(size_t size) {
  if (size > capacity_ || bytes_ == nullptr) {
    bytes_.reset();  // first, so that old and new are never held together
    capacity_ = size < kKeptBytes ? std::bit_ceil(size + 1) : size;
    bytes_ = std::make_unique_for_overwrite<char[]>(capacity_);
  }
  return bytes_.get();
}

void UnpackBuffer::Trim() {
  if (capacity_ <= kKeptBytes) return;
  bytes_.reset();
  capacity_ = 0;
}

Result<uint64_t> ClaimedSize(std::string_view block, uint64_t max_unpacked_bytes) {
  if (block.empty()) {
    return Refuse(block, "body is empty: a snappy block has at least one byte");
  }
  size_t claimed = 0;
  if (!snappy::GetUncompressedLength(block.data(), block.size(), &claimed)) {
    return Refuse(block, "body is not a snappy block: it does not begin with a size");
  }
  if (claimed > max_unpacked_bytes) {
    return Refuse(block, fmt::format("body claims to unpack to {} bytes; at most {} are allowed",
                                     claimed, max_unpacked_bytes));
  }
  if (claimed / kMaxGrowth > block.size()) {
    return Refuse(block,
                  fmt::format("body is not a snappy block: {} bytes cannot unpack to {} bytes",
                              block.size(), claimed));
  }
  return claimed;
}

Result<std::string_view> UnpackBlock(std::string_view block, uint64_t max_unpacked_bytes,
                                     UnpackBuffer& buffer) {
  const Result<uint64_t> claimed = ClaimedSize(block, max_unpacked_bytes);
  if (!claimed) return tl::unexpected(claimed.error());
  char* const unpacked = buffer.Reserve(*claimed);
  if (!snappy::RawUncompress(block.data(), block.size(), unpacked)) {
    return Refuse(block, "body is not a snappy block, or it is cut or damaged");
  }
  return std::string_view(unpacked, *claimed);
}

}  // namespace tidemark::remote_write
