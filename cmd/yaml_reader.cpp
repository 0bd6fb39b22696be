#include "cmd/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include "cmd/text.h"
#include "cmd/yaml_tree.h"

namespace tidemark::cmd {
namespace {

/// JSON's notation of a number (RFC 8259, section 6), with a plus sign allowed in front.
bool LooksLikeNumber(std::string_view text) {
  const auto take_digits = [&text] {
    size_t count = 0;
    while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool leading_zero = text.starts_with('0');
  const size_t whole = take_digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (take_digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (take_digits() == 0) return false;
  }
  return text.empty();
}

std::string_view WithoutPlus(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

}  // namespace

struct YamlValue::Document {
  std::string file_name;
  YamlNode root;
};

std::string ToString(const NumberRange& range) {
  return fmt::format("{} {} x {} {}", range.low, range.low_included ? "<=" : "<",
                     range.high_included ? "<=" : "<", range.high);
}

YamlValue::YamlValue(std::shared_ptr<const Document> document, const YamlNode* node,
                     std::string path)
    : document_(std::move(document)), node_(node), path_(std::move(path)) {}

YamlValue YamlValue::Child(const YamlNode& node, std::string path) const {
  return YamlValue(document_, &node, std::move(path));
}

int YamlValue::line() const { return node_->line; }

bool YamlValue::IsEmpty() const { return node_->kind == YamlNode::Kind::kNull; }

tl::unexpected<Error> YamlValue::Wrong(std::string_view what) const {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}:{}: {}{}{}", document_->file_name, node_->line, path_,
                          path_.empty() ? "" : ": ", OneLine(what)));
}

tl::unexpected<Error> YamlValue::WrongKey(std::string_view key, std::string_view what) const {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}:{}: {}{}{}: {}", document_->file_name, node_->line, path_,
                          path_.empty() ? "" : ".", key, what));
}

std::string YamlValue::Describe() const {
  switch (node_->kind) {
    case YamlNode::Kind::kNull: return "an empty value";
    case YamlNode::Kind::kScalar: return Shown(node_->text, node_->quoted);
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a map";
  }
  return "this";
}

tl::unexpected<Error> YamlValue::NotA(std::string_view kind, std::string_view allowed) const {
  return Wrong(fmt::format("{} is not {}, allowed: {}", Describe(), kind, allowed));
}

std::optional<YamlValue> YamlValue::Find(std::string_view key) const {
  if (node_->kind != YamlNode::Kind::kMap) return std::nullopt;
  for (const YamlNode& item : node_->items) {
    if (item.key != key) continue;
    return Child(item, path_.empty() ? Shown(item.key) : fmt::format("{}.{}", path_, Shown(key)));
  }
  return std::nullopt;
}

Result<void> YamlValue::ReadMap(std::span<const YamlField> fields) const {
  std::vector<std::string_view> keys;
  keys.reserve(fields.size());
  for (const YamlField& field : fields) keys.push_back(field.key);
  if (node_->kind == YamlNode::Kind::kNull) return {};
  if (node_->kind != YamlNode::Kind::kMap) return NotA("a map", "the keys " + Join(keys));
  for (const YamlNode& item : node_->items) {
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const YamlField& candidate) {
      return candidate.key == item.key;
    });
    const YamlValue value =
        Child(item, path_.empty() ? Shown(item.key) : fmt::format("{}.{}", path_, Shown(item.key)));
    if (field == fields.end()) {
      const auto meant = ClosestName(item.key, keys);
      return value.Wrong(fmt::format("there is no such key{}, allowed: {}",
                                     meant ? fmt::format(" (did you mean {}?)", *meant) : "",
                                     Join(keys)));
    }
    if (auto done = field->read(value); !done) return done;
  }
  return {};
}

Result<std::vector<std::pair<std::string, YamlValue>>> YamlValue::ReadEntries(
    size_t max_entries) const {
  std::vector<std::pair<std::string, YamlValue>> entries;
  if (node_->kind == YamlNode::Kind::kNull) return entries;
  const std::string allowed = fmt::format("a map of at most {} entries", max_entries);
  if (node_->kind != YamlNode::Kind::kMap) return NotA("a map", allowed);
  if (node_->items.size() > max_entries) {
    return Wrong(fmt::format("{} entries are too many, allowed: {}", node_->items.size(), allowed));
  }
  entries.reserve(node_->items.size());
  for (const YamlNode& item : node_->items) {
    entries.emplace_back(item.key, Child(item, fmt::format("{}.{}", path_, Shown(item.key))));
  }
  return entries;
}

Result<std::vector<YamlValue>> YamlValue::ReadList(size_t max_items) const {
  std::vector<YamlValue> items;
  if (node_->kind == YamlNode::Kind::kNull) return items;
  const std::string allowed = fmt::format("a list of at most {} items", max_items);
  if (node_->kind != YamlNode::Kind::kList) return NotA("a list", allowed);
  if (node_->items.size() > max_items) {
    return Wrong(fmt::format("{} items are too many, allowed: {}", node_->items.size(), allowed));
  }
  items.reserve(node_->items.size());
  for (size_t i = 0; i < node_->items.size(); ++i) {
    items.push_back(Child(node_->items[i], fmt::format("{}[{}]", path_, i)));
  }
  return items;
}

Result<std::string> YamlValue::ReadText() const {
  if (node_->kind != YamlNode::Kind::kScalar) return NotA("text", "one word or quoted text");
  return node_->text;
}

Result<bool> YamlValue::ReadBool() const {
  const bool plain = node_->kind == YamlNode::Kind::kScalar && !node_->quoted;
  if (plain && node_->text == "true") return true;
  if (plain && node_->text == "false") return false;
  return NotA("a boolean", "true, false");
}

Result<double> YamlValue::ReadNumber(const NumberRange& range) const {
  const std::string allowed = ToString(range);
  if (node_->kind != YamlNode::Kind::kScalar || node_->quoted || !LooksLikeNumber(node_->text)) {
    return NotA("a number", allowed);
  }
  const std::string_view text = WithoutPlus(node_->text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool in_range = error == std::errc() && std::isfinite(number) &&
                        (range.low_included ? number >= range.low : number > range.low) &&
                        (range.high_included ? number <= range.high : number < range.high);
  if (!in_range) return Wrong(fmt::format("{} is out of range, allowed: {}", Describe(), allowed));
  return number;
}

Result<int64_t> YamlValue::ReadInteger(int64_t low, int64_t high) const {
  const std::string allowed = fmt::format("{} <= x <= {}", low, high);
  if (node_->kind != YamlNode::Kind::kScalar || node_->quoted || !LooksLikeNumber(node_->text) ||
      node_->text.find_first_of(".eE") != std::string::npos) {
    return NotA("a whole number", allowed);
  }
  const std::string_view text = WithoutPlus(node_->text);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < low || number > high) {
    return Wrong(fmt::format("{} is out of range, allowed: {}", Describe(), allowed));
  }
  return number;
}

Result<YamlValue> ParseYaml(std::string_view text, std::string file_name) {
  auto tree = ParseYamlTree(text, file_name);
  if (!tree) return tl::unexpected(tree.error());
  auto document = std::make_shared<YamlValue::Document>();
  document->file_name = std::move(file_name);
  document->root = std::move(*tree);
  const YamlNode* root = &document->root;
  return YamlValue(std::move(document), root, "");
}

}  // namespace tidemark::cmd
