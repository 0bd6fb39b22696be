#include "model/label.h"

#include <random>

#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;

TEST_CASE("labels survive being encoded and decoded", "[model][label]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    const size_t count = random() % 12;
    for (size_t i = 0; i < count; ++i) {
      texts.push_back(std::string(1, static_cast<char>('a' + i)) +
                      std::string(random() % 300, 'n'));
      texts.push_back(std::string(1 + random() % 400, static_cast<char>(random())));
    }
    std::vector<LabelView> labels;
    for (size_t i = 0; i < texts.size(); i += 2) labels.push_back({texts[i], texts[i + 1]});
    const std::string bytes = EncodeLabels(labels);
    std::vector<LabelView> decoded;
    REQUIRE(DecodeLabels(bytes, decoded));
    REQUIRE(decoded == labels);
    if (!bytes.empty()) {
      REQUIRE_FALSE(DecodeLabels(std::string_view(bytes).substr(0, bytes.size() - 1), decoded));
    }
  }
}

TEST_CASE("only the canonical encoding is decoded", "[model][label]") {
  std::vector<LabelView> labels;
  CHECK(DecodeLabels("", labels));
  CHECK(labels.empty());
  const std::string a = EncodeLabels(std::vector<LabelView>{{"a", "1"}});
  const std::string b = EncodeLabels(std::vector<LabelView>{{"b", "2"}});
  CHECK(DecodeLabels(a + b, labels));
  CHECK_FALSE(DecodeLabels(b + a, labels));  // not sorted
  CHECK_FALSE(DecodeLabels(a + a, labels));  // not unique
  CHECK_FALSE(DecodeLabels(EncodeLabels(std::vector<LabelView>{{"a", ""}}), labels));
  std::string overlong = a;
  overlong[1] = static_cast<char>(overlong[1] | 0x80);
  overlong.insert(2, 1, '\0');
  CHECK_FALSE(DecodeLabels(overlong, labels));
}

TEST_CASE("labels are shown with the metric name in front and cut", "[model][label]") {
  const std::vector<LabelView> labels = {{"__name__", "up"}, {"a", "x\"y\\z\n"}, {"b", "2"}};
  CHECK(FormatLabels(labels) == R"(up{a="x\"y\\z\n", b="2"})");
  CHECK(FormatLabels(labels, 4) == R"(up{a="x\"y\\", ...})");
  CHECK(FormatLabels({}) == "{}");
  CHECK(FindLabel(labels, "b") == "2");
  CHECK(FindLabel(labels, "c").empty());
}
