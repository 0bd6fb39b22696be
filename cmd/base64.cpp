#include "cmd/base64.h"

#include <algorithm>
#include <cstdint>

namespace tidemark::cmd {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - at);
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out.push_back(i <= count ? kDigits[group >> (18 - 6 * i) & 63U] : '=');
    }
  }
  return out;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const size_t value = kDigits.find(c);
    if (value == kDigits.npos || padding > 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    ++digits;
    // The digit that completes a byte leaves 4, 2 or 0 bits for the next.
    if (digits % 4 != 1) {
      out.push_back(static_cast<char>(bits >> (2 * (3 - (digits + 3) % 4)) & 0xFFU));
    }
  }
  if ((digits + padding) % 4 != 0 || padding > 2 || digits % 4 == 1) return std::nullopt;
  return out;
}

}  // namespace tidemark::cmd
