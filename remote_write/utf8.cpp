#include "remote_write/utf8.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <iterator>

namespace tidemark::remote_write {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080ULL;

uint64_t Load64(const char* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

bool IsAscii(std::string_view text) {
  const char* next = text.data();
  size_t left = text.size();
  for (; left >= 32; left -= 32, next += 32) {
    const uint64_t all = Load64(next) | Load64(next + 8) | Load64(next + 16) | Load64(next + 24);
    if ((all & kHighBits) != 0) return false;
  }
  for (; left >= 8; left -= 8, next += 8) {
    if ((Load64(next) & kHighBits) != 0) return false;
  }
  unsigned all = 0;
  for (; left > 0; --left) all |= static_cast<unsigned char>(*next++);
  return all < 0x80;
}

size_t Utf8CharSize(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return text.size() >= 2 && continues(1) ? 2 : 0;
  if (first < 0xf0) {
    if (text.size() < 3 || !continues(1) || !continues(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogate
    return 3;
  }
  if (first > 0xf4 || text.size() < 4) return 0;
  if (!continues(1) || !continues(2) || !continues(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;   // overlong
  if (first == 0xf4 && byte(1) >= 0x90) return 0;  // over U+10FFFF
  return 4;
}

bool IsUtf8(std::string_view text) {
  if (IsAscii(text)) return true;
  while (!text.empty()) {
    const size_t size = Utf8CharSize(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string Printable(std::string_view text, size_t max_bytes) {
  std::string shown;
  while (!text.empty()) {
    const size_t size = Utf8CharSize(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool escape = size == 0 || first < 0x20 || first == 0x7f;
    if (shown.size() + (escape ? 4 : size) > max_bytes) break;
    if (escape) {
      fmt::format_to(std::back_inserter(shown), "\\x{:02x}", first);
    } else {
      shown.append(text.substr(0, size));
    }
    text.remove_prefix(escape ? 1 : size);
  }
  return shown;
}

}  // namespace tidemark::remote_write
