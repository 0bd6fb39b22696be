#include "rightsizing/source_node.h"

#include <algorithm>
#include <set>

namespace tidemark::rightsizing {

std::optional<std::string_view> SourceNode::Text() const {
  if (kind != Kind::kScalar) return std::nullopt;
  const bool is_null = text == "null" || text == "Null" || text == "NULL" || text == "~";
  if (quote == 0 && is_null) return std::nullopt;
  return text;
}

const SourceNode* SourceNode::Find(std::string_view key) const {
  const auto found =
      std::ranges::find_if(entries, [key](const auto& entry) { return entry.first.text == key; });
  return found == entries.end() ? nullptr : &found->second;
}

const SourceNode* SourceNode::FindPath(std::initializer_list<std::string_view> keys) const {
  const SourceNode* node = this;
  for (const std::string_view key : keys) {
    node = node->Find(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

const SourceNode* SourceNode::FindKey(std::string_view key) const {
  const auto found =
      std::ranges::find_if(entries, [key](const auto& entry) { return entry.first.text == key; });
  return found == entries.end() ? nullptr : &found->first;
}

bool SourceNode::IsTangled() const {
  if (shared) return true;
  std::set<std::string_view> keys;
  for (const auto& [key, value] : entries) {
    if (key.kind != Kind::kScalar || key.shared || key.text == "<<") return true;
    if (!keys.insert(key.text).second || value.IsTangled()) return true;
  }
  return std::ranges::any_of(items, [](const SourceNode& item) { return item.IsTangled(); });
}

bool SameMeaning(const SourceNode& a, const SourceNode& b) {
  if (a.IsNothing() && b.IsNothing()) return true;
  if (a.kind != b.kind || a.shared != b.shared) return false;
  switch (a.kind) {
    case SourceNode::Kind::kNull: return true;
    // `2` and `"2"` are not the same but in quantities, where nobody minds.
    case SourceNode::Kind::kScalar: return a.text == b.text;
    case SourceNode::Kind::kList: return std::ranges::equal(a.items, b.items, SameMeaning);
    case SourceNode::Kind::kMap: break;
  }
  if (a.entries.size() != b.entries.size()) return false;
  // Most keys stand where they stood; those that were put in before them push them on.
  return std::ranges::all_of(a.entries, [&b](const auto& entry) {
    if (entry.first.kind != SourceNode::Kind::kScalar) {
      return std::ranges::any_of(b.entries, [&entry](const auto& other) {
        return SameMeaning(entry.first, other.first) && SameMeaning(entry.second, other.second);
      });
    }
    const SourceNode* const other = b.Find(entry.first.text);
    return other != nullptr && SameMeaning(entry.second, *other);
  });
}

}  // namespace tidemark::rightsizing
