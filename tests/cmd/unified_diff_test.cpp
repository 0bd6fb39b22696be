#include "cmd/unified_diff.h"

#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/seed.h"

namespace tidemark::cmd {
namespace {

/// What `patch` makes of it; nothing when it does not fit.
std::string Patched(const std::string& before, const std::string& diff) {
  std::vector<std::string> lines;
  const auto split = [](const std::string& text) {
    std::vector<std::string> parts;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1);
      parts.push_back(text.substr(at, end + 1 - at));
      at = end + 1;
    }
    return parts;
  };
  const std::vector<std::string> old = split(before);
  const std::vector<std::string> steps = split(diff);
  std::string out;
  size_t at = 0;
  for (size_t i = 2; i < steps.size(); ++i) {
    std::string step = steps[i];
    if (step.starts_with("@@ -")) {
      size_t start = std::stoul(step.substr(4));
      const bool is_empty = step.find(",0 +") != std::string::npos;
      if (!is_empty) --start;
      for (; at < start; ++at) out += old.at(at);
      continue;
    }
    if (step.starts_with('\\')) continue;
    if (i + 1 < steps.size() && steps[i + 1].starts_with('\\')) step.pop_back();
    if (step[0] != '+') {
      REQUIRE(old.at(at) == step.substr(1));
      ++at;
    }
    if (step[0] != '-') out += step.substr(1);
  }
  for (; at < old.size(); ++at) out += old[at];
  return out;
}

}  // namespace

TEST_CASE("a difference is told as diff -u does", "[cmd][diff]") {
  CHECK(UnifiedDiff("a\nb\n", "a\nb\n", "x", "y").empty());
  CHECK(
      UnifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a/f", "b/f") ==
      "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  CHECK(UnifiedDiff("a\n", "a\nb", "x", "y") ==
        "--- x\n+++ y\n@@ -1 +1,2 @@\n a\n+b\n\\ No newline at end of file\n");
  CHECK(UnifiedDiff("", "a\n", "x", "y") == "--- x\n+++ y\n@@ -0,0 +1 @@\n+a\n");
  CHECK(UnifiedDiff("a\n", "", "x", "y") == "--- x\n+++ y\n@@ -1 +0,0 @@\n-a\n");
}

TEST_CASE("a patch makes the one text of the other", "[cmd][diff]") {
  const uint32_t seed = testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::string before;
    std::string after;
    const size_t kinds = 2 + below(30);
    for (size_t i = below(60); i > 0; --i) {
      const std::string line = std::to_string(below(kinds)) + "\n";
      if (below(12) != 0) before += line;
      if (below(12) != 0) after += below(12) == 0 ? "new\n" : line;
    }
    if (below(4) == 0) before += "end";
    if (below(4) == 0) after += "end";
    CAPTURE(before, after);
    const std::string diff = UnifiedDiff(before, after, "x", "y");
    CAPTURE(diff);
    CHECK(diff.empty() == (before == after));
    CHECK(Patched(before, diff) == after);
  }
}

}  // namespace tidemark::cmd
