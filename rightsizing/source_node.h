#pragma once
// A document as a tree that knows where in the text its parts stand, so that a part can be changed
// and all else stay as it was written: comments, order, quotes, indentation.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::rightsizing {

struct SourceEntry;

struct SourceNode {
  enum class Kind : uint8_t { kNull, kScalar, kMap, kList };

  Kind kind = Kind::kNull;
  std::string text;     ///< of a scalar: its value
  char quote = 0;       ///< of a scalar: the quotes around it, ' or "; 0: none
  bool flow = false;    ///< of a map or list: written in brackets
  bool shared = false;  ///< has an anchor or a tag, or is an alias: not to be edited
  size_t start = 0;     ///< where it begins in the text, in bytes
  /// Of a scalar that stands on one line: one past its last byte, quotes included. Absent where
  /// there is nothing to be replaced: blocks of text, text over several lines, nulls.
  std::optional<size_t> end;
  size_t column = 0;                 ///< of `start`, in characters, from 0
  std::vector<SourceEntry> entries;  ///< of a map, as written
  std::vector<SourceNode> items;     ///< of a list

  bool IsMap() const { return kind == Kind::kMap; }
  bool IsList() const { return kind == Kind::kList; }
  /// A scalar's, without those that mean nothing (null, ~, unquoted).
  std::optional<std::string_view> Text() const;
  bool IsNothing() const { return kind == Kind::kNull || (kind == Kind::kScalar && !Text()); }
  /// The value of a key; null where this is no map or does not have it.
  const SourceNode* Find(std::string_view key) const;
  /// Along several keys.
  const SourceNode* FindPath(std::initializer_list<std::string_view> keys) const;
  /// The key itself, as FindPath of one.
  const SourceNode* FindKey(std::string_view key) const;
  /// Something in it, or it itself, is shared, is merged in (`<<`), or a key stands twice.
  bool IsTangled() const;
};

/// A key and its value.
struct SourceEntry {
  SourceEntry(SourceNode key, SourceNode value) : first(std::move(key)), second(std::move(value)) {}

  SourceNode first;
  SourceNode second;
};

/// Whether two trees mean the same: scalars by value, maps in any order.
bool SameMeaning(const SourceNode& a, const SourceNode& b);

}  // namespace tidemark::rightsizing
