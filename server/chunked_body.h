#pragma once
// Takes a chunked body (RFC 9112 section 7.1) apart while it comes in.
//
// Not left to Beast 1.81's parser: a last chunk that comes in pieces ("0\r\n", then "\r") fails an
// assertion there, so a peer could end the process; it also counts a chunk twice against its limit
// when an extension is cut, and takes a line feed inside a quoted extension.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::server {

/// One body. Strict: lines end with CR LF, sizes have at most 16 digits, no control characters.
/// Extensions and trailers are checked, bounded and dropped (RFC 9110 section 6.5: trailers must
/// not be taken for headers).
class ChunkedBody {
 public:
  enum class State {
    kIncomplete,  ///< all input was used; call again with more
    kComplete,    ///< the body ended; what was not consumed belongs to the next request
    kTooLarge,    ///< the announced chunks pass the limit
    kMalformed,   ///< see problem()
  };
  struct Step {
    State state = State::kIncomplete;
    size_t consumed = 0;
  };

  /// `max_extra_bytes` bounds all extensions and trailers together.
  ChunkedBody(uint64_t max_body_bytes, size_t max_extra_bytes)
      : max_body_bytes_(max_body_bytes), max_extra_bytes_(max_extra_bytes) {}

  /// Appends the data in `input` to `body`, never more than the limit. Not to be called again after
  /// another state than kIncomplete.
  Step Feed(std::string_view input, std::string& body);

  /// A static text, after kMalformed.
  const char* problem() const { return problem_; }

 private:
  enum class Place {
    kSize,          // digits of a chunk's size
    kSizeBlank,     // blanks between size and extension
    kExtension,     // after ';'
    kSizeLineFeed,  // behind the CR of a size line
    kData,
    kDataReturn,    // the CR behind a chunk
    kDataLineFeed,  // the LF behind a chunk
    kTrailerStart,  // first byte of a line behind the last chunk
    kTrailerName,
    kTrailerValue,
    kTrailerLineFeed,
    kEndLineFeed,  // the LF of the empty line that ends the body
    kEnd,
  };

  /// One byte of anything but data. False: see problem_, or none when the size is too large.
  bool Advance(char c);
  bool AdvanceSize(char c);
  bool AdvanceTrailer(char c);
  bool EndSizeLine();
  bool Bad(const char* problem);
  bool CountExtra();

  uint64_t max_body_bytes_;
  size_t max_extra_bytes_;
  Place place_ = Place::kSize;
  uint64_t taken_ = 0;      // data bytes announced so far, within max_body_bytes_
  uint64_t size_ = 0;       // of the chunk whose line is being read
  unsigned digits_ = 0;     // of that size
  uint64_t remaining_ = 0;  // data bytes of the chunk that are still to come
  size_t extra_ = 0;
  const char* problem_ = nullptr;
};

}  // namespace tidemark::server
