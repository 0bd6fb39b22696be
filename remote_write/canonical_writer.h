#pragma once
// Labels into their canonical bytes (model/label.h), written where there is room for them: what
// AppendLabelBytes does, for the path on which every series of remote write 2.0 goes.

#include <cstddef>
#include <cstring>
#include <string_view>

#include "model/label.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Not thread-safe. The memory must have LeastBytes + kLongLengthBytes for each label, kSlackBytes
/// more at its end, and outlive the views that Write leaves.
class CanonicalWriter {
 public:
  /// What a label takes when its lengths take one byte each.
  static constexpr size_t LeastBytes(LabelView label) {
    return 6 + label.name.size() + label.value.size();
  }
  /// What three lengths of up to 2^32 may take beyond that.
  static constexpr size_t kLongLengthBytes = 12;
  /// Bytes that may be written over behind the last label.
  static constexpr size_t kSlackBytes = 32;

  /// Texts lie within `source`.
  CanonicalWriter(char* out, std::string_view source)
      : out_(out),
        wide_until_(source.size() < kWide ? source.data() : source.data() + source.size() - kWide) {
  }

  /// Writes `label`, each of its texts shorter than 2 GiB, and points it to what was written.
  void Write(LabelView& label) {
    const size_t name = label.name.size();
    const size_t value = label.value.size();
    out_[0] = kLabelTag;
    if (name + value < 0x80 - 4) [[likely]] {
      out_[1] = static_cast<char>(name + value + 4);
      out_[2] = kLabelTag;
      out_ += 3;
      WriteShortText(label.name);
      *out_++ = kValueTag;
      WriteShortText(label.value);
      return;
    }
    ++out_;
    WriteVarint(2 + VarintSize(name) + name + VarintSize(value) + value);
    *out_++ = kLabelTag;
    WriteText(label.name);
    *out_++ = kValueTag;
    WriteText(label.value);
  }

  /// After the last byte written.
  char* end() const { return out_; }

 private:
  static constexpr char kLabelTag = 0x0a;  // field 1: TimeSeries.labels and Label.name
  static constexpr char kValueTag = 0x12;  // field 2: Label.value

  void WriteVarint(size_t value) {
    for (; value >= 0x80; value >>= 7) *out_++ = static_cast<char>((value & 0x7f) | 0x80);
    *out_++ = static_cast<char>(value);
  }

  /// Of a text shorter than 2^7, whose length is one byte.
  void WriteShortText(std::string_view& text) {
    *out_++ = static_cast<char>(text.size());
    CopyText(text);
    text = std::string_view(out_, text.size());
    out_ += text.size();
  }

  void WriteText(std::string_view& text) {
    WriteVarint(text.size());
    CopyText(text);
    text = std::string_view(out_, text.size());
    out_ += text.size();
  }

  /// Most texts are short, and their lengths differ: copies that are always as wide cost less than
  /// the branches that choose the right one. What they take too much is overwritten next.
  void CopyText(std::string_view text) {
    const char* from = text.data();
    if (text.size() > kMostWide || from + text.size() > wide_until_) {
      std::memcpy(out_, from, text.size());
      return;
    }
    char* to = out_;
    for (size_t left = text.size();; left -= kWide, from += kWide, to += kWide) {
      std::memcpy(to, from, kWide);
      if (left <= kWide) return;
    }
  }

  static constexpr size_t kWide = 32;
  static constexpr size_t kMostWide = 4 * kWide;
  static_assert(kWide <= kSlackBytes);

  char* out_;
  const char* wide_until_;  // the last place from which kWide bytes can be read
};

}  // namespace tidemark::remote_write
