#pragma once
// A strict way to read YAML. What configuration files are commonly hurt by is an error here:
// unknown and duplicate keys, wrong types, `yes` and 0755 taken for numbers, aliases and merge
// keys, tags, several documents in one file.
//
// Every error is one line: `FILE:LINE: KEY.PATH: what was wrong, allowed: ...`; lines count from 1,
// list items from 0. All errors are kInvalidArgument. Input is bounded: kMaxYamlBytes,
// kMaxYamlDepth, kMaxYamlValues.
//
// An empty value (`key:` or `key: null`) counts as an empty map or list and as nothing else.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/result.h"

namespace tidemark::cmd {

// A thousand profiles with every key written out (DumpConfig) fit.
inline constexpr size_t kMaxYamlBytes = size_t{4} << 20;
inline constexpr size_t kMaxYamlDepth = 16;
inline constexpr size_t kMaxYamlValues = 200'000;

struct YamlNode;
class YamlValue;

/// The numbers that are allowed. `high` is always included.
struct NumberRange {
  double low;
  bool low_included;
  double high;
  bool high_included = true;
};
/// `0 < x <= 1`
std::string ToString(const NumberRange& range);

/// A key that a map may have, and what reads its value.
struct YamlField {
  std::string_view key;
  std::function<Result<void>(const YamlValue&)> read;
};

/// One value of a document and how to name it in an error. Cheap to copy; immutable, thread-safe;
/// keeps its document alive.
class YamlValue {
 public:
  /// A map: the matching field's `read` is called for each key, in the order of the file, up to the
  /// first error.
  Result<void> ReadMap(std::span<const YamlField> fields) const;
  Result<void> ReadMap(std::initializer_list<YamlField> fields) const {
    return ReadMap(std::span<const YamlField>(fields.begin(), fields.size()));
  }
  /// The value of `key`, for a key that decides how the others are read; nullopt when it is absent
  /// or this is no map.
  std::optional<YamlValue> Find(std::string_view key) const;
  /// A map whose keys are free (names of users): the pairs in the order of the file; at most
  /// `max_entries`. Errors about a value name its key.
  Result<std::vector<std::pair<std::string, YamlValue>>> ReadEntries(size_t max_entries) const;
  /// A list; at most `max_items`.
  Result<std::vector<YamlValue>> ReadList(size_t max_items) const;
  /// Any scalar as it is written (`yes`, `0755` and `1` are text here); may be the empty text in
  /// quotes.
  Result<std::string> ReadText() const;
  /// An unquoted `true` or `false`.
  Result<bool> ReadBool() const;
  /// An unquoted decimal number such as 1, -0.5 or 1e6, without leading zeros; never infinite or
  /// NaN.
  Result<double> ReadNumber(const NumberRange& range) const;
  /// An unquoted whole number in digits.
  Result<int64_t> ReadInteger(int64_t low, int64_t high) const;

  /// The error `what` about this value, or about `key` in it.
  tl::unexpected<Error> Wrong(std::string_view what) const;
  tl::unexpected<Error> WrongKey(std::string_view key, std::string_view what) const;
  int line() const;
  /// Nothing stands there (`key:`, `key: null`).
  bool IsEmpty() const;

 private:
  friend Result<YamlValue> ParseYaml(std::string_view text, std::string file_name);
  struct Document;
  YamlValue(std::shared_ptr<const Document> document, const YamlNode* node, std::string path);
  YamlValue Child(const YamlNode& node, std::string path) const;
  std::string Describe() const;
  tl::unexpected<Error> NotA(std::string_view kind, std::string_view allowed) const;

  std::shared_ptr<const Document> document_;
  const YamlNode* node_;
  std::string path_;  // empty for the whole file
};

/// Parses one document; an empty file is an empty value. `file_name` is for the errors.
Result<YamlValue> ParseYaml(std::string_view text, std::string file_name);

}  // namespace tidemark::cmd
