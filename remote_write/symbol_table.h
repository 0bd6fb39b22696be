#pragma once
// The symbols of one remote write 2.0 request: texts that its series name by index.
//
// A symbol takes 4 bytes here, where its length stands in the message; the text stays in the
// message. The shortest symbol on the wire, the empty one, takes 2 bytes, so the table is at most
// twice as large as the message.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "remote_write/utf8.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Not thread-safe; reused from request to request.
class SymbolTable {
 public:
  /// What Trim leaves: 64 Ki symbols, where 2,000 samples of an ordinary sender have about 1,000.
  static constexpr size_t kKeptSymbols = 64 << 10;
  static constexpr size_t kSymbolBytes = sizeof(uint32_t);

  /// Forgets all symbols; makes room for `expected` of those of `message` (less than 4 GiB), which
  /// must outlive their use.
  void Start(std::string_view message, size_t expected) {
    message_ = message;
    at_.clear();
    at_.reserve(expected);
    all_utf8_ = true;
  }
  /// Adds the bytes field whose length stands at `length`, within the message; its shape is known
  /// to be good.
  void Add(const char* length) {
    at_.push_back(static_cast<uint32_t>(length - message_.data()));
    all_utf8_ = all_utf8_ && IsUtf8(Text(at_.back()));
  }

  std::string_view message() const { return message_; }
  size_t size() const { return at_.size(); }
  /// `index` is below size(). Points into the message.
  std::string_view operator[](size_t index) const { return Text(at_[index]); }
  /// Whether every symbol is UTF-8: seen once for all series that use it.
  bool all_utf8() const { return all_utf8_; }

  /// Gives memory over kKeptSymbols back.
  void Trim() {
    if (at_.capacity() > kKeptSymbols) at_ = std::vector<uint32_t>();
  }

 private:
  std::string_view Text(uint32_t at) const {
    const char* next = message_.data() + at;
    size_t size = static_cast<unsigned char>(*next++);
    if (size >= 0x80) [[unlikely]] {
      size &= 0x7f;
      for (unsigned shift = 7, more = 1; more != 0; shift += 7) {
        const auto byte = static_cast<unsigned char>(*next++);
        if (shift < 64) size |= static_cast<size_t>(byte & 0x7f) << shift;
        more = byte & 0x80;
      }
    }
    return {next, size};
  }

  std::string_view message_;
  std::vector<uint32_t> at_;
  bool all_utf8_ = true;
};

}  // namespace tidemark::remote_write
