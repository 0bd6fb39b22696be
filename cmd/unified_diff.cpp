#include "cmd/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tidemark::cmd {
namespace {

constexpr size_t kContext = 3;
/// How far the texts may be out of step before all of the rest is one block.
constexpr size_t kMostAhead = 400;

using Lines = std::vector<std::string_view>;

/// With their ends; the last one may have none.
Lines Split(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// Lines [before, before_end) became [after, after_end).
struct Change {
  size_t before;
  size_t before_end;
  size_t after;
  size_t after_end;
};

/// How many lines on either side have to go until the next two (or all that is left) agree.
std::pair<size_t, size_t> Resync(const Lines& a, size_t i, const Lines& b, size_t j) {
  const auto agree = [&](size_t x, size_t y) {
    for (size_t k = 0; k < 2; ++k) {
      if (x + k == a.size() && y + k == b.size()) return true;
      if (x + k >= a.size() || y + k >= b.size() || a[x + k] != b[y + k]) return false;
    }
    return true;
  };
  for (size_t sum = 1; sum <= kMostAhead; ++sum) {
    for (size_t gone = 0; gone <= sum; ++gone) {
      const size_t came = sum - gone;
      if (i + gone <= a.size() && j + came <= b.size() && agree(i + gone, j + came)) {
        return {gone, came};
      }
    }
  }
  return {a.size() - i, b.size() - j};
}

std::vector<Change> ChangesOf(const Lines& a, const Lines& b) {
  std::vector<Change> changes;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
      continue;
    }
    const auto [gone, came] = Resync(a, i, b, j);
    changes.push_back({i, i + gone, j, j + came});
    i += gone;
    j += came;
  }
  return changes;
}

void AppendLine(char sign, std::string_view line, std::string& out) {
  out += sign;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string Range(size_t begin, size_t end) {
  const size_t count = end - begin;
  const size_t first = count == 0 ? begin : begin + 1;  // of nothing: the line before
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

/// One hunk: changes that are close to each other, with what is around them.
void AppendHunk(const Lines& a, const Lines& b, const Change* first, const Change* last,
                std::string& out) {
  const size_t lead = std::min(kContext, first->before);
  const size_t begin = first->before - lead;
  const size_t end = std::min(last->before_end + kContext, a.size());
  const size_t after_begin = first->after - lead;
  const size_t after_end = last->after_end + (end - last->before_end);
  out += fmt::format("@@ -{} +{} @@\n", Range(begin, end), Range(after_begin, after_end));
  size_t at = begin;
  for (const Change* change = first; change <= last; ++change) {
    for (; at < change->before; ++at) AppendLine(' ', a[at], out);
    for (; at < change->before_end; ++at) AppendLine('-', a[at], out);
    for (size_t j = change->after; j < change->after_end; ++j) AppendLine('+', b[j], out);
  }
  for (; at < end; ++at) AppendLine(' ', a[at], out);
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after,
                        std::string_view before_name, std::string_view after_name) {
  const Lines a = Split(before);
  const Lines b = Split(after);
  const std::vector<Change> changes = ChangesOf(a, b);
  if (changes.empty()) return "";
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  for (size_t first = 0; first < changes.size();) {
    size_t last = first;
    while (last + 1 < changes.size() &&
           changes[last + 1].before - changes[last].before_end <= 2 * kContext) {
      ++last;
    }
    AppendHunk(a, b, &changes[first], &changes[last], out);
    first = last + 1;
  }
  return out;
}

}  // namespace tidemark::cmd
