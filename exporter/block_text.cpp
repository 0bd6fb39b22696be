#include "exporter/block_text.h"

#include <utility>

namespace tidemark::exporter {

void AppendNextLabel(std::string_view name, std::string_view value, std::string& out) {
  out.push_back(out.empty() ? '{' : ',');
  AppendLabel(name, value, out);
}

void BlockTextBuilder::Add(size_t family, std::string_view name, std::string_view labels,
                           double value) {
  std::string& lines = lines_[family];
  lines.append(name).append(labels);
  AppendNumber(value, lines);
  lines.push_back('\n');
}

BlockText BlockTextBuilder::Take() {
  BlockText result;
  size_t size = 0;
  for (const std::string& lines : lines_) size += lines.size();
  result.text.reserve(size);
  result.ends.reserve(lines_.size());
  for (std::string& lines : lines_) {
    result.text += lines;
    result.ends.push_back(result.text.size());
    lines.clear();
  }
  return result;
}

BlockTextCache::Texts BlockTextCache::Render(
    const Snapshot& snapshot, const std::function<BlockText(const NamespaceBlock&)>& render) {
  std::shared_ptr<const Entries> known;
  {
    const std::lock_guard lock(mutex_);
    known = entries_;
  }
  auto now = std::make_shared<Entries>();
  now->reserve(snapshot.blocks.size());
  Texts texts;
  texts.reserve(snapshot.blocks.size());
  size_t rendered = 0;
  for (const std::shared_ptr<const NamespaceBlock>& block : snapshot.blocks) {
    const auto found = known->find(block.get());
    if (found != known->end() && found->second.IsOf(block)) {
      texts.push_back(found->second.text);
    } else {
      texts.push_back(std::make_shared<BlockText>(render(*block)));
      ++rendered;
    }
    now->insert_or_assign(block.get(), Entry{block, texts.back()});
  }
  const std::lock_guard lock(mutex_);
  entries_ = std::move(now);
  rendered_last_ = rendered;
  return texts;
}

void BlockTextCache::Clear() {
  const std::lock_guard lock(mutex_);
  if (!entries_->empty()) entries_ = std::make_shared<Entries>();
}

size_t BlockTextCache::RenderedLast() const {
  const std::lock_guard lock(mutex_);
  return rendered_last_;
}

size_t SizeOf(const BlockTextCache::Texts& texts) {
  size_t bytes = 0;
  for (const auto& text : texts) bytes += text->text.size();
  return bytes;
}

void WriteFamily(const FamilyHeader& header, size_t family, const BlockTextCache::Texts& texts,
                 ExpositionWriter& writer) {
  bool begun = false;
  for (const std::shared_ptr<const BlockText>& text : texts) {
    const std::string_view lines = text->Lines(family);
    if (lines.empty()) continue;
    if (!begun) writer.BeginFamily(header);
    begun = true;
    writer.Lines(lines);
  }
}

}  // namespace tidemark::exporter
