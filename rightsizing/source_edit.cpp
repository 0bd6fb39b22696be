#include "rightsizing/source_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

namespace tidemark::rightsizing {
namespace {

constexpr size_t kStep = 2;  // of indentation, as kubectl writes

tl::unexpected<Error> CannotEdit(const std::string& what) {
  return Fail(ErrorCode::kInvalidArgument, what);
}

/// What may stand in YAML without quotes and means itself: names, quantities, label keys.
bool IsPlain(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '/' || c == '_';
  };
  return !text.empty() && text.front() != '-' && text.front() != '.' &&
         std::ranges::all_of(text, is_plain);
}

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? "''" : std::string(1, c));
  return quoted + "'";
}

std::string JsonQuoted(std::string_view text) {
  return boost::json::serialize(boost::json::value(boost::json::string(text)));
}

}  // namespace

Wanted& Wanted::At(std::string_view key) {
  const auto found = std::ranges::find(entries, key, &WantedEntry::first);
  if (found != entries.end()) return found->second;
  return entries.emplace_back(std::string(key), Wanted()).second;
}

Result<void> SourceEditor::Set(const SourceNode& map, const Wanted& wanted,
                               std::string_view after) {
  std::vector<Edit> edits;
  if (auto done = Change(map, wanted, after, edits); !done) return done;
  edits_.insert(edits_.end(), edits.begin(), edits.end());
  return {};
}

Result<void> SourceEditor::Change(const SourceNode& map, const Wanted& wanted,
                                  std::string_view after, std::vector<Edit>& edits) const {
  Wanted missing;
  for (const auto& [key, value] : wanted.entries) {
    const SourceNode* const present = map.Find(key);
    if (present == nullptr) {
      missing.entries.emplace_back(key, value);
    } else if (value.IsMap() && present->IsMap()) {
      if (auto done = Change(*present, value, {}, edits); !done) return done;
    } else if (auto done = Replace(*map.FindKey(key), *present, value, edits); !done) {
      return done;
    }
  }
  return missing.IsMap() ? Insert(map, missing, after, edits) : Result<void>();
}

Result<void> SourceEditor::Replace(const SourceNode& key, const SourceNode& value,
                                   const Wanted& wanted, std::vector<Edit>& edits) const {
  const std::string text = wanted.IsMap() ? Flow(wanted) : Scalar(wanted.text, value.quote);
  if (value.IsMap() || value.IsList() || (wanted.IsMap() && !value.IsNothing())) {
    return CannotEdit(fmt::format("{} is not what it should be", key.text));
  }
  if (value.end) {
    edits.push_back({value.start, *value.end - value.start, text});
    return {};
  }
  if (value.kind != SourceNode::Kind::kNull || !key.end) {
    return CannotEdit(fmt::format("{} is written over several lines", key.text));
  }
  // `key:` and nothing behind it.
  size_t colon = *key.end;
  while (colon < text_.size() && text_[colon] == ' ') ++colon;
  if (colon >= text_.size() || text_[colon] != ':') {
    return CannotEdit(fmt::format("{} has no ':' behind it", key.text));
  }
  edits.push_back({colon + 1, 0, " " + text});
  return {};
}

Result<void> SourceEditor::Insert(const SourceNode& map, const Wanted& wanted,
                                  std::string_view after, std::vector<Edit>& edits) const {
  if (map.flow) {
    if (map.start >= text_.size() || text_[map.start] != '{') return CannotEdit("no { is there");
    if (map.entries.empty()) {
      edits.push_back({map.start + 1, 0, FlowEntries(wanted)});
      return {};
    }
    // New entries stand as the first one does.
    const size_t first = map.entries.front().first.start;
    const std::string_view space = text_.substr(map.start + 1, first - map.start - 1);
    const bool is_blank = space.find_first_not_of(" \t\r\n") == std::string_view::npos;
    std::string inserted;
    for (const auto& entry : wanted.entries) {
      const std::string one = FlowEntries(Wanted{{}, {entry}});
      inserted += one + "," + (is_blank && !space.empty() ? std::string(space) : " ");
    }
    edits.push_back({first, 0, inserted});
    return {};
  }
  if (map.entries.empty()) return CannotEdit("an empty map without brackets");
  const SourceNode& first = map.entries.front().first;
  const SourceNode* const behind = after.empty() ? nullptr : map.Find(after);
  if (behind != nullptr && behind->kind == SourceNode::Kind::kScalar && behind->end) {
    const size_t line_end = text_.find('\n', *behind->end);
    const bool is_last = line_end == std::string_view::npos;
    const std::string lines = Block(wanted, first.column);
    edits.push_back(
        {is_last ? text_.size() : line_end + 1, 0,
         is_last ? style_.newline + lines.substr(0, lines.size() - style_.newline.size()) : lines});
    return {};
  }
  // The first key's own indentation stays in front of what is put in.
  std::string lines = Block(wanted, first.column).substr(first.column);
  lines.append(first.column, ' ');
  edits.push_back({first.start, 0, lines});
  return {};
}

std::string SourceEditor::Scalar(std::string_view value, char quote) const {
  if (style_.json || (quote == '"' && IsPlain(value))) return JsonQuoted(value);
  if (quote == 0 && IsPlain(value)) return std::string(value);
  return SingleQuoted(value);
}

std::string SourceEditor::Flow(const Wanted& wanted) const {
  return "{" + FlowEntries(wanted) + "}";
}

std::string SourceEditor::FlowEntries(const Wanted& wanted) const {
  std::string text;
  for (const auto& [key, value] : wanted.entries) {
    if (!text.empty()) text += ", ";
    text += Scalar(key, 0) + ": " + (value.IsMap() ? Flow(value) : Scalar(value.text, 0));
  }
  return text;
}

std::string SourceEditor::Block(const Wanted& wanted, size_t indent) const {
  std::string text;
  for (const auto& [key, value] : wanted.entries) {
    text.append(indent, ' ').append(Scalar(key, 0)).append(":");
    if (value.IsMap()) {
      text.append(style_.newline).append(Block(value, indent + kStep));
    } else {
      text.append(" ").append(Scalar(value.text, 0)).append(style_.newline);
    }
  }
  return text;
}

std::string SourceEditor::Text() const {
  std::vector<Edit> edits = edits_;
  std::ranges::stable_sort(edits, {}, &Edit::at);
  std::string text;
  size_t taken = 0;
  for (const Edit& edit : edits) {
    if (edit.at < taken) continue;  // two of one place: the reading after shows that it is wrong
    text.append(text_.substr(taken, edit.at - taken)).append(edit.inserted);
    taken = edit.at + edit.removed;
  }
  return text.append(text_.substr(std::min(taken, text_.size())));
}

void Apply(SourceNode& map, const Wanted& wanted) {
  map.kind = SourceNode::Kind::kMap;
  for (const auto& [key, value] : wanted.entries) {
    auto found = std::ranges::find_if(
        map.entries, [&key = key](const auto& entry) { return entry.first.text == key; });
    if (found == map.entries.end()) {
      SourceNode name;
      name.kind = SourceNode::Kind::kScalar;
      name.text = key;
      map.entries.emplace_back(std::move(name), SourceNode());
      found = map.entries.end() - 1;
    }
    SourceNode& present = found->second;
    if (value.IsMap()) {
      if (!present.IsMap()) present = SourceNode();
      Apply(present, value);
    } else {
      const char quote = present.quote;
      present = SourceNode();
      present.kind = SourceNode::Kind::kScalar;
      present.text = value.text;
      present.quote = quote;
    }
  }
}

}  // namespace tidemark::rightsizing
