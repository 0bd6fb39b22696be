#include "engine/checkpoint_block.h"

#include "model/byte_codec.h"

namespace tidemark::engine {

BlockKind KindOfBlock(std::string_view block) {
  return block.empty() ? BlockKind{} : static_cast<BlockKind>(block.front());
}

void EncodeHead(const CheckpointHead& head, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(BlockKind::kHead));
  writer.Varint(head.sources.size());
  for (const std::string& source : head.sources) writer.Text(source);
  writer.Text(head.past_cursor);
}

Result<CheckpointHead> DecodeHead(std::string_view block) {
  ByteReader reader(block);
  const auto kind = static_cast<BlockKind>(reader.Byte());
  CheckpointHead head;
  head.sources.resize(reader.Count());
  for (std::string& source : head.sources) source = reader.Text();
  head.past_cursor = reader.Text();
  if (kind != BlockKind::kHead || !reader.AtEnd()) {
    return Fail(ErrorCode::kInvalidArgument, "the head of a checkpoint cannot be read");
  }
  return head;
}

void EncodeNamespaceHead(const SavedNamespace& saved, std::string& out) {
  ByteWriter writer(out);
  writer.Byte(static_cast<uint8_t>(BlockKind::kNamespace));
  writer.Fixed64(saved.name_space);
  writer.Varint(saved.applied_number);
  writer.Signed(saved.silent_ms);
}

Result<SavedNamespace> DecodeNamespaceHead(std::string_view block) {
  ByteReader reader(block);
  const auto kind = static_cast<BlockKind>(reader.Byte());
  SavedNamespace saved;
  saved.name_space = reader.Fixed64();
  saved.applied_number = reader.Varint();
  saved.silent_ms = reader.Signed();
  saved.state = reader.rest();
  if (kind != BlockKind::kNamespace || reader.failed() || saved.silent_ms < 0) {
    return Fail(ErrorCode::kInvalidArgument, "a block of a checkpoint cannot be read");
  }
  return saved;
}

}  // namespace tidemark::engine
