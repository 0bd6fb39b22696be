#include "server/chunked_body.h"

#include <algorithm>

namespace tidemark::server {
namespace {

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

constexpr unsigned kMaxDigits = 16;

}  // namespace

bool ChunkedBody::Bad(const char* problem) {
  problem_ = problem;
  return false;
}

bool ChunkedBody::CountExtra() {
  if (++extra_ <= max_extra_bytes_) return true;
  return Bad("chunk extensions and trailers are too long");
}

bool ChunkedBody::EndSizeLine() {
  if (size_ > max_body_bytes_ - taken_) return false;  // no problem named: too large
  taken_ += size_;
  remaining_ = size_;
  place_ = size_ == 0 ? Place::kTrailerStart : Place::kData;
  size_ = 0;
  digits_ = 0;
  return true;
}

bool ChunkedBody::AdvanceSize(char c) {
  unsigned digit = 0;
  if (c >= '0' && c <= '9') {
    digit = static_cast<unsigned>(c - '0');
  } else if (c >= 'a' && c <= 'f') {
    digit = static_cast<unsigned>(c - 'a') + 10;
  } else if (c >= 'A' && c <= 'F') {
    digit = static_cast<unsigned>(c - 'A') + 10;
  } else {
    if (digits_ == 0) return Bad("a chunk without a hexadecimal size");
    if (c == '\r') {
      place_ = Place::kSizeLineFeed;
    } else if (c == ';') {
      place_ = Place::kExtension;
    } else if (IsBlank(c)) {
      place_ = Place::kSizeBlank;
    } else {
      return Bad("a chunk size that is not hexadecimal");
    }
    return true;
  }
  if (++digits_ > kMaxDigits) return Bad("a chunk size of more than 16 digits");
  size_ = size_ * 16 + digit;
  return true;
}

bool ChunkedBody::AdvanceTrailer(char c) {
  if (place_ == Place::kTrailerStart) {
    if (c == '\r') {
      place_ = Place::kEndLineFeed;
      return true;
    }
    if (c == ':' || IsBlank(c) || IsControl(c)) return Bad("a malformed trailer");
    place_ = Place::kTrailerName;
    return CountExtra();
  }
  if (place_ == Place::kTrailerName) {
    if (IsBlank(c) || IsControl(c)) return Bad("a malformed trailer");
    if (c == ':') place_ = Place::kTrailerValue;
    return CountExtra();
  }
  if (c == '\r') {
    place_ = Place::kTrailerLineFeed;
    return true;
  }
  if (IsControl(c)) return Bad("a control character in a trailer");
  return CountExtra();
}

bool ChunkedBody::Advance(char c) {
  switch (place_) {
    case Place::kSize: return AdvanceSize(c);
    case Place::kSizeBlank:
      if (c == ';') {
        place_ = Place::kExtension;
      } else if (!IsBlank(c)) {
        return Bad("a malformed chunk extension");
      }
      return CountExtra();
    case Place::kExtension:
      if (c == '\r') {
        place_ = Place::kSizeLineFeed;
        return true;
      }
      if (IsControl(c)) return Bad("a control character in a chunk extension");
      return CountExtra();
    case Place::kSizeLineFeed:
      return c == '\n' ? EndSizeLine() : Bad("a chunk size line that does not end with CR LF");
    case Place::kDataReturn:
      place_ = Place::kDataLineFeed;
      return c == '\r' || Bad("a chunk that is longer than its size");
    case Place::kDataLineFeed:
      place_ = Place::kSize;
      return c == '\n' || Bad("a chunk that does not end with CR LF");
    case Place::kTrailerStart:
    case Place::kTrailerName:
    case Place::kTrailerValue: return AdvanceTrailer(c);
    case Place::kTrailerLineFeed:
      place_ = Place::kTrailerStart;
      return c == '\n' || Bad("a trailer that does not end with CR LF");
    case Place::kEndLineFeed:
      place_ = Place::kEnd;
      return c == '\n' || Bad("a body that does not end with CR LF");
    case Place::kData:
    case Place::kEnd: break;
  }
  return Bad("input behind the end of the body");
}

ChunkedBody::Step ChunkedBody::Feed(std::string_view input, std::string& body) {
  size_t position = 0;
  while (position < input.size() && place_ != Place::kEnd) {
    if (place_ == Place::kData) {
      const size_t piece =
          static_cast<size_t>(std::min<uint64_t>(remaining_, input.size() - position));
      body.append(input, position, piece);
      position += piece;
      remaining_ -= piece;
      if (remaining_ == 0) place_ = Place::kDataReturn;
      continue;
    }
    const bool good = Advance(input[position]);
    ++position;
    if (!good) return {problem_ == nullptr ? State::kTooLarge : State::kMalformed, position};
  }
  return {place_ == Place::kEnd ? State::kComplete : State::kIncomplete, position};
}

}  // namespace tidemark::server
