#pragma once
// One snappy block (github.com/google/snappy, format_description.txt), as remote write wraps its
// message: the size of the unpacked bytes stands in front, so a block that is too large is refused
// on its claim alone.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "model/result.h"

namespace tidemark::remote_write {

/// The memory a block is unpacked into, reused from request to request. Not thread-safe.
class UnpackBuffer {
 public:
  /// What Trim leaves: more than the bodies of an ordinary sender need (2,000 samples are about 800
  /// KB).
  static constexpr size_t kKeptBytes = 4 << 20;

  /// At least `size` bytes, their content undefined; what was handed out before is gone.
  char* Reserve(size_t size);
  /// Gives memory over kKeptBytes back, so that one large request is not remembered for ever.
  void Trim();
  size_t capacity() const { return capacity_; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t capacity_ = 0;
};

/// The size that a block claims to unpack to, if it is one that UnpackBlock would reserve; else its
/// error. Reads the first bytes only.
Result<uint64_t> ClaimedSize(std::string_view block, uint64_t max_unpacked_bytes);

/// Unpacks `block` into `buffer`. The view is valid until the buffer is used or trimmed again.
/// Nothing is reserved for a block that claims more than `max_unpacked_bytes`, or more than its
/// length could ever unpack to. The message of an error (kInvalidArgument) says what is wrong and
/// what the first bytes look like, because a proxy or a sender with another encoding is the usual
/// cause.
Result<std::string_view> UnpackBlock(std::string_view block, uint64_t max_unpacked_bytes,
                                     UnpackBuffer& buffer);

}  // namespace tidemark::remote_write
