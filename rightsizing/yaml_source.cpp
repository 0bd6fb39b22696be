#include "rightsizing/yaml_source.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <exception>
#include <istream>
#include <streambuf>
#include <string>
#include <utility>

namespace tidemark::rightsizing {
namespace {

/// Reads from memory that somebody else holds.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* const begin = const_cast<char*>(text.data());  // never written to
    setg(begin, begin, begin + text.size());
  }
};

/// Thrown through the parser, which has no other way out.
class TooMuch : public std::exception {
 public:
  TooMuch(const YAML::Mark& mark, std::string what) : mark_(mark), what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }
  const YAML::Mark& mark() const { return mark_; }

 private:
  YAML::Mark mark_;
  std::string what_;
};

/// One past the quoted text that begins at `start`; nothing when it goes over a line's end.
std::optional<size_t> EndOfQuoted(std::string_view text, size_t start) {
  const char quote = text[start];
  for (size_t i = start + 1; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') return std::nullopt;
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!doubled) return i + 1;
      ++i;
    }
  }
  return std::nullopt;
}

class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, std::vector<SourceNode>& documents, size_t& nodes)
      : text_(text), documents_(documents), nodes_(nodes) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_.size() >= kMaxManifestDocuments) {
      throw TooMuch(mark, fmt::format("more than {} documents", kMaxManifestDocuments));
    }
    open_.clear();
    root_ = SourceNode();
    has_root_ = false;
  }
  void OnDocumentEnd() override { documents_.push_back(std::move(root_)); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    SourceNode node = Begin(mark, anchor);
    // Nothing, or a word for it.
    for (const std::string_view word : {"null", "Null", "NULL", "~"}) {
      if (node.start < text_.size() && text_.substr(node.start, word.size()) == word) {
        node.end = node.start + word.size();
      }
    }
    Put(mark, std::move(node));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    SourceNode node = Begin(mark, anchor);
    node.kind = SourceNode::Kind::kScalar;
    node.text = fmt::format("*{}", anchor);
    node.shared = true;
    Put(mark, std::move(node));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    SourceNode node = Begin(mark, anchor);
    node.kind = SourceNode::Kind::kScalar;
    node.text = value;
    // What yaml-cpp calls plain and not plain text without a tag.
    node.shared = node.shared || (tag != "?" && tag != "!" && !tag.empty());
    if (!node.shared) Locate(tag == "?", node);
    Put(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    Open(mark, tag, anchor, style, SourceNode::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    Open(mark, tag, anchor, style, SourceNode::Kind::kMap);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    SourceNode node;
    std::optional<SourceNode> key;  // of a map, between key and value
    YAML::Mark mark;
  };

  SourceNode Begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (++nodes_ > kMaxManifestNodes) {
      throw TooMuch(mark, fmt::format("more than {} values", kMaxManifestNodes));
    }
    SourceNode node;
    node.start = static_cast<size_t>(mark.pos);
    node.column = static_cast<size_t>(mark.column);
    node.shared = anchor != 0;
    return node;
  }

  /// Finds where a scalar stands: only what is there to the letter can be replaced.
  void Locate(bool plain, SourceNode& node) const {
    if (node.start >= text_.size()) return;
    const char first = text_[node.start];
    if (plain) {
      if (text_.substr(node.start, node.text.size()) == node.text) {
        node.end = node.start + node.text.size();
      }
    } else if (first == '"' || first == '\'') {
      node.quote = first;
      node.end = EndOfQuoted(text_, node.start);
    } else {
      node.quote = '|';  // a block of text; never null
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style, SourceNode::Kind kind) {
    if (open_.size() >= kMaxManifestDepth) {
      throw TooMuch(mark, fmt::format("more than {} levels deep", kMaxManifestDepth));
    }
    SourceNode node = Begin(mark, anchor);
    node.kind = kind;
    node.flow = style == YAML::EmitterStyle::Flow;
    node.shared = node.shared || (tag != "?" && !tag.empty());
    open_.push_back({std::move(node), std::nullopt, mark});
  }

  void Close() {
    Level level = std::move(open_.back());
    open_.pop_back();
    SourceNode& node = level.node;
    // Of block maps the mark is sometimes that of what stands before: the first key is where one
    // begins.
    if (!node.flow && node.IsMap() && !node.entries.empty()) {
      node.start = node.entries.front().first.start;
      node.column = node.entries.front().first.column;
    }
    Put(level.mark, std::move(node));
  }

  void Put(const YAML::Mark& mark, SourceNode node) {
    if (open_.empty()) {
      if (std::exchange(has_root_, true)) throw TooMuch(mark, "more than one value in a document");
      root_ = std::move(node);
      return;
    }
    Level& level = open_.back();
    if (level.node.IsList()) {
      level.node.items.push_back(std::move(node));
    } else if (!level.key) {
      level.key = std::move(node);
    } else {
      level.node.entries.emplace_back(*std::move(level.key), std::move(node));
      level.key.reset();
    }
  }

  const std::string_view text_;
  std::vector<SourceNode>& documents_;
  size_t& nodes_;
  std::vector<Level> open_;
  SourceNode root_;
  bool has_root_ = false;
};

tl::unexpected<Error> WrongAt(const YAML::Mark& mark, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, what));
}

}  // namespace

Result<std::vector<SourceNode>> ReadYamlSource(std::string_view text) {
  if (text.size() > kMaxManifestBytes) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("the manifest has {} bytes, allowed: {}",
                                                         text.size(), kMaxManifestBytes));
  }
  std::vector<SourceNode> documents;
  size_t nodes = 0;
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    Builder builder(text, documents, nodes);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    return WrongAt(error.mark, "this is no YAML: " + error.msg);
  } catch (const TooMuch& error) {
    return WrongAt(error.mark(), error.what());
  }
  return documents;
}

}  // namespace tidemark::rightsizing
