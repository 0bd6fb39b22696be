#pragma once
// Rendered sample lines of NamespaceBlocks, kept from page to page.
//
// Blocks are immutable and shared between Snapshots, so a namespace that did not change since the
// last page costs a copy.

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exporter/exposition.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// The lines of one block, family after family; `ends` says where each ends.
struct BlockText {
  std::string text;
  std::vector<size_t> ends;

  std::string_view Lines(size_t family) const {
    const size_t begin = family == 0 ? 0 : ends[family - 1];
    return std::string_view(text).substr(begin, ends[family] - begin);
  }
};

/// Appends `name="value"` to a label set that begins with '{'; `out` empty begins it.
void AppendNextLabel(std::string_view name, std::string_view value, std::string& out);

/// Collects lines of several families in buffers that it keeps, so that what is kept of a block has
/// its exact size. Not thread-safe.
class BlockTextBuilder {
 public:
  explicit BlockTextBuilder(size_t families) : lines_(families) {}

  /// One line; `labels` is a whole label set and a blank.
  void Add(size_t family, std::string_view name, std::string_view labels, double value);
  /// What was added since the last call.
  BlockText Take();

 private:
  std::vector<std::string> lines_;
};

/// The text of the Snapshot rendered last (some 170 bytes a series); blocks themselves are not kept
/// alive. Thread-safe: concurrent calls render for themselves what neither finds.
class BlockTextCache {
 public:
  using Texts = std::vector<std::shared_ptr<const BlockText>>;

  /// The texts of all blocks in order; `render` makes those that the last call did not have.
  Texts Render(const Snapshot& snapshot,
               const std::function<BlockText(const NamespaceBlock&)>& render);
  void Clear();
  /// How many blocks the last call had to format anew.
  size_t RenderedLast() const;

 private:
  struct Entry {
    // A weak owner keeps the control block, so another block can never take the place of a dead one
    // unnoticed.
    std::weak_ptr<const NamespaceBlock> owner;
    std::shared_ptr<const BlockText> text;

    bool IsOf(const std::shared_ptr<const NamespaceBlock>& block) const {
      return !owner.owner_before(block) && !block.owner_before(owner);
    }
  };
  using Entries = std::unordered_map<const NamespaceBlock*, Entry>;

  mutable std::mutex mutex_;
  // Replaced as a whole, never changed.
  std::shared_ptr<const Entries> entries_ = std::make_shared<Entries>();
  size_t rendered_last_ = 0;
};

/// How many bytes `texts` have together.
size_t SizeOf(const BlockTextCache::Texts& texts);
/// Writes family number `family` of all texts, with its header when there is any line.
void WriteFamily(const FamilyHeader& header, size_t family, const BlockTextCache::Texts& texts,
                 ExpositionWriter& writer);

}  // namespace tidemark::exporter
