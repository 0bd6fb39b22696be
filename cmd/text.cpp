#include "cmd/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace tidemark::cmd {
namespace {

constexpr size_t kMaxShownBytes = 64;
constexpr size_t kMinPrefix = 3;          // `mem` is memory
constexpr size_t kMaxComparedBytes = 64;  // keeps the distance table small

bool IsPlainByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._+-/%:").find(c) != std::string_view::npos;
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// Levenshtein distance: insertions, deletions and replacements.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// Length of the valid UTF-8 sequence at the start of `text`, 0 when there is none. Overlong forms,
/// surrogates and anything above U+10FFFF are not valid.
size_t SequenceLength(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const unsigned second = at(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string Shown(std::string_view text, bool always_quote) {
  bool cut = false;
  if (text.size() > kMaxShownBytes) {
    size_t end = kMaxShownBytes;
    while (end > 0 && IsContinuation(text[end])) --end;
    text = text.substr(0, end);
    cut = true;
  }
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), IsPlainByte);
  std::string out;
  if (plain && !always_quote) {
    out = text;
  } else {
    out.push_back('"');
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out.push_back('\\');
        out.push_back(c);
      } else if (c == '\n') {
        out.append("\\n");
      } else if (c == '\t') {
        out.append("\\t");
      } else if (byte < 0x20 || byte == 0x7f) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
      } else {
        out.push_back(c);
      }
    }
    out.push_back('"');
  }
  if (cut) out.append("...");
  return out;
}

std::string OneLine(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

std::optional<std::string_view> ClosestName(std::string_view text,
                                            std::span<const std::string_view> names) {
  if (text.empty() || text.size() > kMaxComparedBytes) return std::nullopt;
  if (text.size() >= kMinPrefix) {
    const auto longer = std::find_if(names.begin(), names.end(),
                                     [&](std::string_view name) { return name.starts_with(text); });
    if (longer != names.end()) return *longer;
  }
  std::optional<std::string_view> best;
  size_t best_distance = std::max<size_t>(1, text.size() / 3) + 1;
  for (const std::string_view name : names) {
    const size_t distance = Distance(text, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

std::string Join(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<size_t> FindBadByte(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control =
        (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
    const size_t length = control ? 0 : SequenceLength(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

}  // namespace tidemark::cmd
