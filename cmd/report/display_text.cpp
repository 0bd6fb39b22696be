#include "cmd/report/display_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tidemark::report {
namespace {

constexpr char32_t kBad = 0xFFFD;

struct Range {
  char32_t first;
  char32_t last;
};

// Unicode 15, EastAsianWidth.txt (W and F), by whole blocks where a block has nothing else of note.
constexpr std::array<Range, 16> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0x33FF},
                                          {0x3400, 0x4DBF},
                                          {0x4E00, 0x9FFF},
                                          {0xA000, 0xA4CF},
                                          {0xA960, 0xA97F},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F680, 0x1F6FF},
                                          {0x1F900, 0x1F9FF},
                                          {0x20000, 0x3FFFD}}};

// Marks of general category Mn of the scripts that are met most, joiners, variation selectors.
constexpr std::array<Range, 14> kCombining = {{{0x0300, 0x036F},
                                               {0x0483, 0x0489},
                                               {0x0591, 0x05BD},
                                               {0x0610, 0x061A},
                                               {0x064B, 0x065F},
                                               {0x0900, 0x0902},
                                               {0x093C, 0x093C},
                                               {0x0E34, 0x0E3A},
                                               {0x0E47, 0x0E4E},
                                               {0x1AB0, 0x1AFF},
                                               {0x1DC0, 0x1DFF},
                                               {0x200B, 0x200D},
                                               {0x20D0, 0x20FF},
                                               {0xFE00, 0xFE0F}}};

// C0, DEL and C1; line and paragraph separators; what turns the direction of writing (UAX #9).
constexpr std::array<Range, 6> kUnprintable = {{{0x0000, 0x001F},
                                                {0x007F, 0x009F},
                                                {0x200E, 0x200F},
                                                {0x2028, 0x202E},
                                                {0x2066, 0x2069},
                                                {0xFEFF, 0xFEFF}}};

template <size_t N>
bool IsIn(const std::array<Range, N>& ranges, char32_t c) {
  return std::ranges::any_of(ranges, [c](const Range& r) { return c >= r.first && c <= r.last; });
}

/// The character at the start of `text` (not empty) and how many bytes it takes; kBad and 1 where
/// there is none (RFC 3629).
std::pair<char32_t, size_t> FirstOf(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {kBad, 1};
  char32_t c = lead & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0U) != 0x80U) return {kBad, 1};
    c = (c << 6U) | (at(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
  if (overlong || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return {kBad, 1};
  return {c, length};
}

}  // namespace

std::string Printable(std::string_view text) {
  constexpr std::string_view kBadText = "\xEF\xBF\xBD";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto [c, length] = FirstOf(text);
    if (c == kBad || IsIn(kUnprintable, c)) {
      out.append(kBadText);
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(length);
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const auto [c, length] = FirstOf(text);
    text.remove_prefix(length);
    if (IsIn(kCombining, c)) continue;
    width += IsIn(kWide, c) ? 2 : 1;
  }
  return width;
}

}  // namespace tidemark::report
