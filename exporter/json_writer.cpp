#include "exporter/json_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "exporter/exposition.h"

namespace tidemark::exporter {
namespace {

/// The length of the UTF-8 character at the front of `text`, 0 when there is none (RFC 3629: no
/// surrogates, nothing overlong, nothing above U+10FFFF).
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool IsPlain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

}  // namespace

void JsonWriter::Key(std::string_view key) {
  Separate();
  AppendQuoted(key);
  out_.push_back(':');
  comma_due_ = false;
}

void JsonWriter::String(std::string_view value) {
  Separate();
  AppendQuoted(value);
}

void JsonWriter::Number(double value) {
  Separate();
  if (std::isfinite(value)) {
    AppendNumber(value, out_);
  } else {
    out_ += "null";
  }
}

void JsonWriter::Float(float value) {
  if (!std::isfinite(value)) return Number(static_cast<double>(value));
  Separate();
  std::array<char, 24> text{};  // the longest, -1.17549435e-38, has 15 characters
  out_.append(text.data(), std::to_chars(text.begin(), text.end(), value).ptr);
}

void JsonWriter::Integer(int64_t value) {
  Separate();
  out_ += std::to_string(value);
}

void JsonWriter::Unsigned(uint64_t value) {
  Separate();
  out_ += std::to_string(value);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
}

std::string JsonWriter::Take() {
  comma_due_ = false;
  return std::exchange(out_, {});
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_.push_back(bracket);
  comma_due_ = false;
}

void JsonWriter::Close(char bracket) {
  out_.push_back(bracket);
  comma_due_ = true;
}

void JsonWriter::Separate() {
  if (comma_due_) out_.push_back(',');
  comma_due_ = true;
}

void JsonWriter::AppendQuoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out_.push_back('"');
  for (;;) {
    const auto plain_end = std::find_if_not(text.begin(), text.end(), IsPlain);
    out_.append(text.begin(), plain_end);
    text.remove_prefix(static_cast<size_t>(plain_end - text.begin()));
    if (text.empty()) break;
    const size_t length = CharacterLength(text);
    const char c = text.front();
    if (length == 0) {
      out_ += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out_ += "\\u00";
      out_.push_back(kHex[static_cast<unsigned char>(c) >> 4U]);
      out_.push_back(kHex[static_cast<unsigned char>(c) & 0xFU]);
    } else {
      out_.append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out_.push_back('"');
}

}  // namespace tidemark::exporter
