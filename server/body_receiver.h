#pragma once
// A request's body while it comes in, and the memory that is booked for it. Internal to server/.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/byte_budget.h"
#include "server/chunked_body.h"
#include "server/read_buffer.h"

namespace tidemark::server {

/// One body, of an announced size or in chunks. Its memory is booked before it is there and grows
/// by doubling, behind what has come: an announced length reserves nothing. Not thread-safe.
class BodyReceiver {
 public:
  enum class State {
    kComplete,
    kIncomplete,  ///< read more: of chunks into the buffer, else into Extend()'s space
    kNoRoom,      ///< the budget is used up
    kTooLarge,    ///< the chunks pass what is allowed
    kMalformed,   ///< see problem()
  };

  /// How far the body grows ahead of what has come.
  static constexpr size_t kStep = 64 << 10;

  /// `body`, where the bytes go, and `budget` must outlive it.
  BodyReceiver(std::string& body, ByteBudget& budget) : body_(body), budget_(budget) {}
  /// As Release.
  ~BodyReceiver() { Release(); }
  BodyReceiver(const BodyReceiver&) = delete;
  BodyReceiver& operator=(const BodyReceiver&) = delete;

  /// One of the two comes first. `max_extra_bytes` bounds extensions and trailers.
  void ExpectBytes(size_t size) { size_ = size; }
  void ExpectChunks(size_t max_bytes, size_t max_extra_bytes);
  bool chunked() const { return chunks_.has_value(); }

  /// Takes what belongs to the body out of `buffer`, which may be empty.
  State TakeFrom(ReadBuffer& buffer);

  /// Room for the next bytes of a body of announced size, so that they are copied no more; none
  /// when the budget is used up. Commit says how many of them have come.
  ReadBuffer::Space Extend();
  void Commit(size_t bytes);

  /// A static text, after kMalformed.
  const char* problem() const { return chunks_->problem(); }

  /// Lets the body go, and what is booked for it.
  void Release();

 private:
  State TakeChunks(ReadBuffer& buffer);
  bool Grow(size_t size);

  std::string& body_;
  ByteBudget& budget_;
  size_t size_ = 0;  // as announced; of chunks, at most
  std::optional<ChunkedBody> chunks_;
  size_t before_extend_ = 0;
  uint64_t booked_bytes_ = 0;
};

}  // namespace tidemark::server
