#pragma once
// The events of a JSON parser → series and samples. For matrix_reader.cpp and its fuzz target only.

#include <boost/json/error.hpp>
#include <boost/json/string_view.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backfill/matrix_reader.h"

namespace tidemark::backfill {

/// What boost::json::basic_parser calls a handler. Not thread-safe.
class MatrixHandler {
 public:
  static constexpr size_t max_object_size = static_cast<size_t>(-1);
  static constexpr size_t max_array_size = static_cast<size_t>(-1);
  static constexpr size_t max_key_size = static_cast<size_t>(-1);
  static constexpr size_t max_string_size = static_cast<size_t>(-1);

  using Text = boost::json::string_view;
  using Code = boost::json::error_code;

  explicit MatrixHandler(const ReaderLimits& limits) : limits_(limits) {}

  bool on_document_begin(Code&) { return true; }
  bool on_document_end(Code& code);
  bool on_object_begin(Code& code) { return Open(true, code); }
  bool on_object_end(size_t, Code& code) { return Close(code); }
  bool on_array_begin(Code& code) { return Open(false, code); }
  bool on_array_end(size_t, Code& code) { return Close(code); }
  bool on_key_part(Text text, size_t, Code& code) { return Append(key_, text, code); }
  bool on_key(Text text, size_t, Code& code);
  bool on_string_part(Text text, size_t, Code& code) { return Append(text_, text, code); }
  bool on_string(Text text, size_t, Code& code);
  bool on_number_part(Text, Code&) { return true; }
  bool on_int64(int64_t value, Text, Code& code) {
    return Number(static_cast<double>(value), code);
  }
  bool on_uint64(uint64_t value, Text, Code& code) {
    return Number(static_cast<double>(value), code);
  }
  bool on_double(double value, Text, Code& code) { return Number(value, code); }
  bool on_bool(bool value, Code& code);
  bool on_null(Code& code) { return Other(code); }
  bool on_comment_part(Text, Code&) { return true; }
  bool on_comment(Text, Code&) { return true; }

  ReadFault fault = ReadFault::kNone;
  std::string message;
  QueryAnswer answer;

 private:
  /// What is open. kSkip: something that nobody asked for.
  enum class Place : uint8_t {
    kTop,
    kRoot,
    kData,
    kResult,
    kSeries,
    kMetric,
    kValues,
    kPoint,
    kWarnings,
    kSkip,
  };

  bool Open(bool object, Code& code);
  bool Close(Code& code);
  /// The place that opens within the one that is open; kTop: it cannot stand there.
  Place Inner(bool object) const;
  bool Append(std::string& to, Text text, Code& code);
  bool Scalar(std::string_view text, Code& code);
  bool Number(double value, Code& code);
  bool Other(Code& code);
  bool PointValue(std::string_view text, Code& code);
  bool EndSeries(Code& code);
  bool Stop(ReadFault what, std::string why, Code& code);

  const ReaderLimits limits_;
  std::vector<Place> open_{Place::kTop};
  std::string key_;
  std::string text_;
  bool key_open_ = false;
  bool has_status_ = false;
  bool has_result_ = false;
  AnswerSeries series_;
  bool has_metric_ = false;
  int point_members_ = 0;
  int64_t point_ms_ = 0;
};

}  // namespace tidemark::backfill
