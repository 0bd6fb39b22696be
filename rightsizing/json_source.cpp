#include <fmt/format.h>

#include <algorithm>
#include <boost/json/error.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/stream_parser.hpp>
#include <boost/json/value.hpp>
#include <cctype>
#include <exception>
#include <string>

#include "rightsizing/yaml_source.h"

namespace tidemark::rightsizing {
namespace {

namespace json = boost::json;

/// Walks a text that is known to be JSON beside its value, and notes where everything stands.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  SourceNode Walk(const json::value& value) {
    SkipSpace();
    SourceNode node;
    node.start = at_;
    node.column = at_ - line_start_;
    if (value.is_object()) {
      WalkObject(value.get_object(), node);
    } else if (value.is_array()) {
      node.kind = SourceNode::Kind::kList;
      node.flow = true;
      ++at_;
      for (const json::value& item : value.get_array()) {
        node.items.push_back(Walk(item));
        SkipSpaceAnd(',');
      }
      SkipSpaceAnd(']');
    } else {
      WalkScalar(value, node);
    }
    return node;
  }

  bool has_duplicates() const { return has_duplicates_; }

 private:
  void WalkObject(const json::object& object, SourceNode& node) {
    node.kind = SourceNode::Kind::kMap;
    node.flow = true;
    ++at_;
    SkipSpace();
    // boost.json keeps the last of several values of a key: then text and value do not agree.
    for (const auto& [key, value] : object) {
      if (at_ >= text_.size() || text_[at_] != '"') {
        has_duplicates_ = true;
        return;
      }
      SourceNode name;
      name.start = at_;
      name.column = at_ - line_start_;
      name.kind = SourceNode::Kind::kScalar;
      name.text = std::string(key);
      name.quote = '"';
      SkipString();
      name.end = at_;
      json::error_code error;
      const json::value written =
          json::parse(std::string_view(text_.data() + name.start, *name.end - name.start), error);
      if (error || !written.is_string() || written.get_string() != key) {
        has_duplicates_ = true;
        return;
      }
      SkipSpaceAnd(':');
      node.entries.emplace_back(std::move(name), Walk(value));
      if (has_duplicates_) return;
      SkipSpaceAnd(',');
    }
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != '}') has_duplicates_ = true;
    ++at_;
  }

  void WalkScalar(const json::value& value, SourceNode& node) {
    if (value.is_string()) {
      node.kind = SourceNode::Kind::kScalar;
      node.text = std::string(value.get_string());
      node.quote = '"';
      SkipString();
    } else {
      const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+' || c == '.';
      };
      while (at_ < text_.size() && is_part(text_[at_])) ++at_;
      node.text = text_.substr(node.start, at_ - node.start);
      node.kind = value.is_null() ? SourceNode::Kind::kNull : SourceNode::Kind::kScalar;
    }
    node.end = at_;
  }

  void SkipString() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
  }
  void SkipSpace() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      if (text_[at_] == '\n') line_start_ = at_ + 1;
      ++at_;
    }
  }
  void SkipSpaceAnd(char c) {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == c) ++at_;
    SkipSpace();
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  bool has_duplicates_ = false;
};

size_t CountOf(const SourceNode& node) {
  size_t count = 1;
  for (const auto& [key, value] : node.entries) count += 1 + CountOf(value);
  for (const SourceNode& item : node.items) count += CountOf(item);
  return count;
}

}  // namespace

Result<SourceNode> ReadJsonSource(std::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("the manifest has {} bytes, allowed: {}",
                                                         text.size(), kMaxManifestBytes));
  }
  json::parse_options options;
  options.max_depth = kMaxManifestDepth;
  json::error_code error;
  try {
    json::stream_parser parser({}, options);
    const size_t read = parser.write_some(text.data(), text.size(), error);
    if (!error) parser.finish(error);
    const bool has_rest = std::ranges::any_of(text.substr(std::min(read, text.size())), [](char c) {
      return std::string_view(" \t\r\n").find(c) == std::string_view::npos;
    });
    if (!error && has_rest) error = json::error::extra_data;
    if (error) {
      const size_t line = 1 + static_cast<size_t>(std::ranges::count(text.substr(0, read), '\n'));
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("line {}: this is no JSON: {}", line, error.message()));
    }
    Walker walker(text);
    SourceNode root = walker.Walk(parser.release());
    if (walker.has_duplicates()) {
      return Fail(ErrorCode::kInvalidArgument, "a key stands twice in an object");
    }
    if (CountOf(root) > kMaxManifestNodes) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("more than {} values", kMaxManifestNodes));
    }
    return root;
  } catch (const std::exception& failure) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("this JSON cannot be read: {}", failure.what()));
  }
}

}  // namespace tidemark::rightsizing
