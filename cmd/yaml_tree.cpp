#include "cmd/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "cmd/text.h"
#include "cmd/yaml_reader.h"

namespace tidemark::cmd {
namespace {

/// What the handler found wrong. Thrown through the parser, which has no other way to be stopped,
/// and caught below.
struct Refusal {
  int line;  // from 1
  std::string what;
};

std::string TooDeep() {
  return fmt::format("values are nested too deeply, allowed: at most {} levels", kMaxYamlDepth);
}

/// Builds the tree from the parser's events and refuses what is not plain data.
class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlNode Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_document_) Refuse(mark, "a second document begins, allowed: one document in a file");
    has_document_ = true;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (AwaitsKey()) {
      // yaml-cpp gives `~: x` and `: x` as a key without text.
      Refuse(mark, "a key is empty, allowed: a name");
    }
    Add(mark, anchor, YamlNode::Kind::kNull);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { RefuseAnchor(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (anchor != 0) RefuseAnchor(mark);
    CheckTag(mark, tag);
    if (AwaitsKey()) {
      TakeKey(mark, value);
      return;
    }
    YamlNode& node = Add(mark, anchor, YamlNode::Kind::kScalar);
    node.quoted = tag == "!";
    node.text = value;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kList);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, YamlNode::Kind::kMap);
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  /// A list or map that has not ended. Its node stays where it is: its parent takes no further item
  /// before it ends.
  struct Frame {
    YamlNode* node;
    bool has_key = false;
    int key_line = 0;
    std::string key;
    std::set<std::string, std::less<>> keys;
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, std::string what) {
    throw Refusal{std::max(mark.line, 0) + 1, std::move(what)};
  }
  [[noreturn]] static void RefuseAnchor(const YAML::Mark& mark) {
    Refuse(mark,
           "anchors, aliases and merge keys are not supported, allowed: the value written out");
  }
  /// "?" and "!" are what the parser gives to plain and to quoted values.
  static void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      Refuse(mark,
             fmt::format("the tag {} is not supported, allowed: values without tags", Shown(tag)));
    }
  }

  bool AwaitsKey() const {
    return !open_.empty() && open_.back().node->kind == YamlNode::Kind::kMap &&
           !open_.back().has_key;
  }

  /// Path of the innermost open map, to be followed by a key of it.
  std::string OpenPath() const {
    std::string path;
    for (size_t i = 1; i < open_.size(); ++i) {
      const YamlNode& parent = *open_[i - 1].node;
      if (parent.kind == YamlNode::Kind::kList) {
        path += fmt::format("[{}]", parent.items.size() - 1);
      } else {
        path += fmt::format("{}{}", path.empty() ? "" : ".", Shown(open_[i].node->key));
      }
    }
    return path.empty() ? path : path + ".";
  }

  void TakeKey(const YAML::Mark& mark, const std::string& value) {
    Frame& frame = open_.back();
    if (value == "<<") RefuseAnchor(mark);
    if (!frame.keys.insert(value).second) {
      Refuse(mark,
             fmt::format("{}{}: the key stands twice, allowed: once", OpenPath(), Shown(value)));
    }
    frame.has_key = true;
    frame.key = value;
    frame.key_line = mark.line + 1;
  }

  YamlNode& Add(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (anchor != 0) RefuseAnchor(mark);
    if (++values_ > kMaxYamlValues) {
      Refuse(mark, fmt::format("there are too many values, allowed: at most {}", kMaxYamlValues));
    }
    YamlNode* node = &root_;
    int line = mark.line + 1;
    std::string key;
    if (!open_.empty()) {
      Frame& frame = open_.back();
      if (frame.has_key) {
        key = std::exchange(frame.key, {});
        line = frame.key_line;
        frame.has_key = false;
      }
      node = &frame.node->items.emplace_back();
    }
    node->kind = kind;
    node->line = std::max(line, 1);
    node->key = std::move(key);
    return *node;
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    if (AwaitsKey()) Refuse(mark, "a list or map stands as a key, allowed: a name");
    CheckTag(mark, tag);
    if (open_.size() >= kMaxYamlDepth) {
      Refuse(mark, TooDeep());
    }
    YamlNode& node = Add(mark, anchor, kind);
    open_.push_back(Frame{.node = &node, .key = {}, .keys = {}});
  }

  YamlNode root_;
  std::vector<Frame> open_;
  size_t values_ = 0;
  bool has_document_ = false;
};

tl::unexpected<Error> At(std::string_view file_name, int64_t line, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}:{}: {}", file_name, line, OneLine(what)));
}

/// Line, from 1, in which the byte at `offset` stands.
int64_t LineOf(std::string_view text, size_t offset) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n');
}

/// Offset of the bracket that leaves more than kMaxOpenBrackets open; nullopt when there is none.
/// The library reads ahead to the end of the text while a bracket is open, at some hundred bytes of
/// memory for each byte. Brackets in quotes and comments count too: they would have to be a
/// thousand without their partners.
std::optional<size_t> FindBracketTooDeep(std::string_view text) {
  constexpr size_t kMaxOpenBrackets = 1000;
  size_t open = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '{') {
      if (++open > kMaxOpenBrackets) return at;
    } else if ((text[at] == ']' || text[at] == '}') && open > 0) {
      --open;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<YamlNode> ParseYamlTree(std::string_view text, std::string_view file_name) {
  if (text.size() > kMaxYamlBytes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: the file is too large, allowed: at most {} bytes", file_name,
                            kMaxYamlBytes));
  }
  if (const auto bad = FindBadByte(text)) {
    return At(
        file_name, LineOf(text, *bad),
        fmt::format("the byte 0x{:02x} is not text, allowed: UTF-8 without control characters",
                    static_cast<unsigned char>(text[*bad])));
  }
  if (const auto bad = FindBracketTooDeep(text))
    return At(file_name, LineOf(text, *bad), TooDeep());
  try {
    // The library lets a quoted text run into the end of the file; it does not let it run over an
    // end of document.
    const bool ends_line = text.empty() || text.ends_with('\n');
    std::istringstream stream{fmt::format("{}{}...\n", text, ends_line ? "" : "\n")};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.Take();
  } catch (const Refusal& refusal) {
    return At(file_name, refusal.line, refusal.what);
  } catch (const YAML::Exception& e) {
    // What an open quote meets at the latest is our own end of document.
    const bool open_quote = e.msg == YAML::ErrorMsg::DOC_IN_SCALAR;
    return At(
        file_name, std::max(e.mark.line, 0) + 1,
        fmt::format("this is not YAML: {}", open_quote ? "a quoted text is not closed" : e.msg));
  } catch (const std::exception& e) {
    return At(file_name, 1, fmt::format("this is not YAML: {}", e.what()));
  }
}

}  // namespace tidemark::cmd
