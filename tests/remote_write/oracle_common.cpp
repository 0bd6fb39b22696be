#include "tests/remote_write/oracle_common.h"

#include <array>

#include "remote_write/limits.h"

namespace tidemark::remote_write::test {
namespace {

/// By code points, unlike the one under test.
bool IsUtf8Slowly(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t size = first < 0x80   ? 1
                        : first < 0xc0 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;
    if (size == 0 || first >= 0xf8 || i + size > text.size()) return false;
    uint32_t point = size == 1 ? first : first & (0xffU >> (size + 1));
    for (size_t k = 1; k < size; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 0x3fU);
    }
    constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[size] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      return false;
    i += size;
  }
  return true;
}

}  // namespace

std::optional<std::map<std::string, std::string>> GoodLabels(const LabelList& list) {
  const Limits limits;
  std::map<std::string, std::string> labels;
  if (list.size() > limits.max_labels) return std::nullopt;
  for (const auto& [name, value] : list) {
    if (name.empty() || name.size() > limits.max_label_name_bytes ||
        value.size() > limits.max_label_value_bytes || !IsUtf8Slowly(name) ||
        !IsUtf8Slowly(value) || !labels.emplace(name, value).second) {
      return std::nullopt;
    }
  }
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  if (!labels.contains("__name__")) return std::nullopt;
  return labels;
}

bool HasLongKeyOrLength(std::string_view bytes, const MessageType& type) {
  const auto take_varint = [&bytes](uint64_t& value) -> size_t {
    value = 0;
    for (size_t i = 0; i < 10 && i < bytes.size(); ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        bytes.remove_prefix(i + 1);
        return i + 1;
      }
    }
    return 0;
  };
  size_t groups = 0;
  while (!bytes.empty()) {
    uint64_t key = 0;
    const size_t key_size = take_varint(key);
    if (key_size >= 5) return true;
    uint64_t value = 0;
    size_t skip = 0;
    switch (key & 7) {
      case 0:
        if (take_varint(value) == 0) return false;
        break;
      case 1: skip = 8; break;
      case 2: {
        if (take_varint(value) >= 5) return true;
        if (value > bytes.size()) return false;
        const auto child = type.children.find(key >> 3);
        if (groups == 0 && child != type.children.end() &&
            HasLongKeyOrLength(bytes.substr(0, value), *child->second)) {
          return true;
        }
        skip = value;
        break;
      }
      case 3: ++groups; break;
      case 4:
        if (groups == 0) return false;
        --groups;
        break;
      case 5: skip = 4; break;
      default: return false;
    }
    if (key_size == 0 || skip > bytes.size()) return false;
    bytes.remove_prefix(skip);
  }
  return false;
}

}  // namespace tidemark::remote_write::test
