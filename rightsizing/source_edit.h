#pragma once
// Changing a few values of a document and nothing else of its text.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/result.h"
#include "rightsizing/source_node.h"

namespace tidemark::rightsizing {

struct WantedEntry;

/// What a map is to have: by key a text, or a map again. What else it has stays.
struct Wanted {
  std::string text;                  ///< used when there are no entries
  std::vector<WantedEntry> entries;  ///< in the order in which new ones are put

  bool IsMap() const { return !entries.empty(); }
  /// The map at `key`, made where it is not there.
  Wanted& At(std::string_view key);
};

/// A key and what it is to have.
struct WantedEntry {
  WantedEntry(std::string key, Wanted value) : first(std::move(key)), second(std::move(value)) {}

  std::string first;
  Wanted second;
};

/// How a document is written.
struct SourceStyle {
  bool json = false;
  std::string newline = "\n";
};

/// Collects changes of one text. Not thread-safe.
class SourceEditor {
 public:
  /// `text` must outlive it, and be what the nodes were read of.
  SourceEditor(std::string_view text, SourceStyle style) : text_(text), style_(std::move(style)) {}

  /// `map` gets what is wanted. `after`: of a block map that gets new keys, behind whose line (that
  /// of a key with a text on one line) they come; else, and where it has no such key, they come
  /// first. kInvalidArgument, and nothing noted, where the way it is written does not allow it.
  Result<void> Set(const SourceNode& map, const Wanted& wanted, std::string_view after = {});

  /// The text with all that was set. Every part that was not set is as it was, byte for byte.
  std::string Text() const;

 private:
  struct Edit {
    size_t at;
    size_t removed;
    std::string inserted;
  };

  Result<void> Change(const SourceNode& map, const Wanted& wanted, std::string_view after,
                      std::vector<Edit>& edits) const;
  Result<void> Replace(const SourceNode& key, const SourceNode& value, const Wanted& wanted,
                       std::vector<Edit>& edits) const;
  Result<void> Insert(const SourceNode& map, const Wanted& wanted, std::string_view after,
                      std::vector<Edit>& edits) const;
  std::string Scalar(std::string_view value, char quote) const;
  std::string Flow(const Wanted& wanted) const;
  std::string FlowEntries(const Wanted& wanted) const;
  std::string Block(const Wanted& wanted, size_t indent) const;

  const std::string_view text_;
  const SourceStyle style_;
  std::vector<Edit> edits_;
};

/// The tree with what is wanted: what the text must read as after Set.
void Apply(SourceNode& map, const Wanted& wanted);

}  // namespace tidemark::rightsizing
