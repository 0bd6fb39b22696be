#pragma once
// What the comparisons with libprotobuf share: a slow second opinion on labels, and where the two
// readers are known to differ.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tests/remote_write/wire_builder.h"

namespace tidemark::remote_write::test {

/// The labels that a series has in the end; nothing when it must be refused.
std::optional<std::map<std::string, std::string>> GoodLabels(const LabelList& labels);

/// A message type, as far as messages within messages go: the types of its fields, by number.
struct MessageType {
  std::map<uint64_t, const MessageType*> children;
};

/// Whether some key or length takes five bytes or more, where libprotobuf (which reads 32 bits) and
/// this reader (which reads what a varint may hold) are known to differ. Stops at faults.
bool HasLongKeyOrLength(std::string_view bytes, const MessageType& type);

}  // namespace tidemark::remote_write::test
