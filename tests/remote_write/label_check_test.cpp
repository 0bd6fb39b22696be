#include "remote_write/label_check.h"

#include <algorithm>
#include <deque>

#include "remote_write/wire_reader.h"
#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::remote_write;

namespace {

using Views = std::vector<LabelView>;

/// Checks labels that lie anywhere, as those of an untidy sender.
std::optional<RejectReason> Check(LabelChecker& checker, const Views& labels,
                                  CheckedLabels& checked) {
  return checker.Check({labels, labels.size(), {}}, checked);
}

/// The same labels as a tidy sender's bytes, with views into them.
struct Placed {
  explicit Placed(const Views& from) {
    std::vector<size_t> values;
    for (const LabelView& label : from) {
      AppendLabelBytes(label, bytes);
      values.push_back(bytes.size() - label.value.size());
    }
    for (size_t i = 0; i < from.size(); ++i) {
      const size_t value_size = from[i].value.size();
      const size_t name_size = from[i].name.size();
      const std::string_view all = bytes;
      labels.push_back({all.substr(values[i] - 1 - VarintSize(value_size) - name_size, name_size),
                        all.substr(values[i], value_size)});
    }
    REQUIRE(labels == from);
  }
  WireLabels wire() const { return {labels, labels.size(), bytes}; }

  std::string bytes;
  Views labels;
};

std::optional<RejectReason> ReasonFor(const Views& labels) {
  LabelChecker checker{Limits{}};
  CheckedLabels checked;
  const auto reason = Check(checker, labels, checked);
  // The same labels where they lie, when they could: the verdict may not hang on it.
  if (std::none_of(labels.begin(), labels.end(), [](const LabelView& label) {
        return label.name.empty() || label.value.empty();
      })) {
    const Placed placed(labels);
    REQUIRE(checker.Check(placed.wire(), checked) == reason);
  }
  return reason;
}

const LabelView kName = {"__name__", "up"};

}  // namespace

TEST_CASE("tidy labels are used where they lie", "[remote_write][labels]") {
  LabelChecker checker{Limits{}};
  const Placed placed({kName, {"job", "node"}, {"pod", "cart-1"}});
  CheckedLabels checked;
  REQUIRE_FALSE(checker.Check(placed.wire(), checked));
  REQUIRE(checked.bytes.data() == placed.bytes.data());
  REQUIRE(checked.bytes.size() == placed.bytes.size());
  REQUIRE(checked.labels.data() == placed.labels.data());
}

TEST_CASE("labels in another order are the same series as sorted ones", "[remote_write][labels]") {
  LabelChecker checker{Limits{}};
  const Views sorted = {{"Zone", "1"}, kName, {"__replica__", "a"}, {"c", "2"}, {"cc", "3"}};
  Views labels = sorted;
  std::sort(labels.begin(), labels.end(),
            [](const LabelView& a, const LabelView& b) { return a.value < b.value; });
  do {
    CheckedLabels checked;
    const Placed placed(labels);
    REQUIRE_FALSE(checker.Check(placed.wire(), checked));
    REQUIRE(Views(checked.labels.begin(), checked.labels.end()) == sorted);
    REQUIRE(checked.bytes == EncodeLabels(sorted));
  } while (std::next_permutation(
      labels.begin(), labels.end(),
      [](const LabelView& a, const LabelView& b) { return a.value < b.value; }));
}

TEST_CASE("an empty value is the same as no label", "[remote_write][labels]") {
  LabelChecker checker{Limits{}};
  CheckedLabels checked;
  REQUIRE_FALSE(Check(checker, {kName, {"image", ""}, {"pod", "a"}, {"zone", ""}}, checked));
  const Views expected = {kName, {"pod", "a"}};
  REQUIRE(Views(checked.labels.begin(), checked.labels.end()) == expected);
  REQUIRE(checked.bytes == EncodeLabels(expected));
}

TEST_CASE("each fault of labels has its own verdict", "[remote_write][labels]") {
  const Limits limits;
  const std::string long_name(limits.max_label_name_bytes, 'n');
  const std::string long_value(limits.max_label_value_bytes, 'v');
  const std::string longer_name = long_name + "n";
  const std::string longer_value = long_value + "v";

  REQUIRE_FALSE(ReasonFor({kName}));
  REQUIRE_FALSE(ReasonFor({kName, {long_name, long_value}}));
  REQUIRE_FALSE(ReasonFor({kName, {"b\xc3\xbc", std::string_view("\0x", 2)}}));
  REQUIRE_FALSE(ReasonFor({{"__name__", "with space.and \xe6\x97\xa5"}}));

  REQUIRE(ReasonFor({}) == RejectReason::kMissingName);
  REQUIRE(ReasonFor({{"pod", "a"}}) == RejectReason::kMissingName);
  REQUIRE(ReasonFor({{"__name__", ""}, {"pod", "a"}}) == RejectReason::kMissingName);
  REQUIRE(ReasonFor({kName, {"", "a"}}) == RejectReason::kEmptyLabelName);
  REQUIRE(ReasonFor({kName, {"", ""}}) == RejectReason::kEmptyLabelName);
  REQUIRE(ReasonFor({kName, {"pod", "a"}, {"pod", "b"}}) == RejectReason::kDuplicateLabel);
  REQUIRE(ReasonFor({kName, {"pod", "a"}, {"pod", "a"}}) == RejectReason::kDuplicateLabel);
  REQUIRE(ReasonFor({kName, {"pod", "a"}, {"pod", ""}}) == RejectReason::kDuplicateLabel);
  REQUIRE(ReasonFor({{"pod", "a"}, kName, {"pod", "b"}}) == RejectReason::kDuplicateLabel);
  REQUIRE(ReasonFor({kName, kName}) == RejectReason::kDuplicateLabel);
  REQUIRE(ReasonFor({kName, {"pod", "\xff"}}) == RejectReason::kInvalidUtf8);
  REQUIRE(ReasonFor({kName, {"p\xc3", "a"}}) == RejectReason::kInvalidUtf8);
  REQUIRE(ReasonFor({{"__name__", "\xff"}}) == RejectReason::kInvalidUtf8);
  REQUIRE(ReasonFor({kName, {longer_name, "a"}}) == RejectReason::kLabelNameTooLong);
  REQUIRE(ReasonFor({kName, {"pod", longer_value}}) == RejectReason::kLabelValueTooLong);
}

TEST_CASE("a bad byte is found in every label, short or long, that lies in place",
          "[remote_write][labels]") {
  const std::string short_value(5, 's');
  const std::string long_value(200, 'l');
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"__name__", "up"}, {"a", short_value}, {"b", long_value}, {"c", short_value},
      {"d", short_value}, {"e", long_value},  {"f", long_value}, {"g", short_value}};
  for (size_t bad = 0; bad <= texts.size(); ++bad) {
    for (const bool in_name : {false, true}) {
      CAPTURE(bad, in_name);
      auto changed = texts;
      if (bad < texts.size()) (in_name ? changed[bad].first : changed[bad].second).back() = '\xff';
      Views labels;
      for (const auto& [name, value] : changed) labels.push_back({name, value});
      const bool good = bad == texts.size();
      REQUIRE(ReasonFor(labels) ==
              (good ? std::nullopt : std::optional(RejectReason::kInvalidUtf8)));
    }
  }
}

TEST_CASE("the number of labels is bounded and nothing is trimmed to fit",
          "[remote_write][labels]") {
  const Limits limits;
  std::deque<std::string> names;
  Views labels = {kName};
  while (labels.size() < limits.max_labels) {
    names.push_back("label_" + std::to_string(1000 + labels.size()));
    labels.push_back({names.back(), "x"});
  }
  REQUIRE_FALSE(ReasonFor(labels));
  labels.push_back({"one_more", "x"});
  REQUIRE(ReasonFor(labels) == RejectReason::kTooManyLabels);

  // A decoder counts what it does not keep.
  LabelChecker checker{limits};
  CheckedLabels checked;
  REQUIRE(checker.Check({std::span(labels).first(2), 100000, {}}, checked) ==
          RejectReason::kTooManyLabels);
}

TEST_CASE("encoded labels keep their place until they are cleared", "[remote_write][labels]") {
  LabelChecker checker{Limits{}};
  std::vector<std::string_view> kept;
  std::vector<std::string> expected;
  for (int i = 0; i < 5000; ++i) {
    const std::string value = std::string(static_cast<size_t>(i % 97), 'v') + std::to_string(i);
    CheckedLabels checked;
    REQUIRE_FALSE(Check(checker, {{"pod", value}, kName}, checked));
    kept.push_back(checked.bytes);
    const Views sorted = {kName, {"pod", value}};
    expected.push_back(EncodeLabels(sorted));
  }
  for (size_t i = 0; i < kept.size(); ++i) REQUIRE(kept[i] == expected[i]);
  checker.Clear();
  CheckedLabels checked;
  REQUIRE_FALSE(Check(checker, {{"pod", "x"}, kName}, checked));
  REQUIRE(checked.bytes == EncodeLabels(Views{kName, {"pod", "x"}}));
}

TEST_CASE("the arena holds texts of every size and starts over after Clear",
          "[remote_write][labels]") {
  ByteArena arena;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::string_view, std::string>> kept;
    for (const size_t size : {size_t{0}, size_t{1}, ByteArena::kChunkBytes - 1, size_t{2},
                              ByteArena::kChunkBytes, 3 * ByteArena::kChunkBytes, size_t{5}}) {
      const std::string text(size, static_cast<char>('a' + round));
      kept.emplace_back(arena.Copy(text), text);
    }
    for (const auto& [view, text] : kept) REQUIRE(view == text);
    arena.Clear();
  }
}
