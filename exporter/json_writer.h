#pragma once
// Writes JSON (RFC 8259) straight into a string: answers are lists of many equal items, for which a
// tree would cost more than the text. Shortest round-trip numbers.

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::exporter {

/// The caller opens and closes in pairs and gives a Key before each value of an object; commas are
/// the writer's. Not thread-safe.
class JsonWriter {
 public:
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  void Key(std::string_view key);
  /// Bytes that are not UTF-8 become U+FFFD, so that the text stays JSON whatever a client sent.
  void String(std::string_view value);
  /// NaN and infinities, which JSON cannot write, become null.
  void Number(double value);
  /// The same with no more digits than single precision has.
  void Float(float value);
  void Integer(int64_t value);
  void Unsigned(uint64_t value);
  void Bool(bool value);

  void Member(std::string_view key, std::string_view value) { Key(key), String(value); }

  /// What was written; the writer is then empty.
  std::string Take();

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();  // writes the comma that is due before a key or value
  void AppendQuoted(std::string_view text);

  std::string out_;
  bool comma_due_ = false;
};

}  // namespace tidemark::exporter
