#include "backfill/matrix_handler.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace tidemark::backfill {
namespace {

// Year 9999: far beyond what anybody stores, far from where milliseconds overflow.
constexpr double kMaxSeconds = 253'402'300'799.0;
constexpr size_t kMaxLabelsRead = 10'000;

/// As Prometheus' API writes values: `1.5`, `1e+06`, `NaN`, `+Inf`, `-Inf`.
std::optional<double> ParseValue(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Out of range: too small for a double is 0 enough, too large is none.
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (wrong == std::errc::result_out_of_range) return std::nullopt;
  if (wrong != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

bool MatrixHandler::Stop(ReadFault what, std::string why, Code& code) {
  fault = what;
  message = std::move(why);
  code = boost::json::error::syntax;  // any will do: what counts is in `fault`
  return false;
}

bool MatrixHandler::Append(std::string& to, Text text, Code& code) {
  if (open_.back() == Place::kSkip) return true;
  if (&to == &key_ && !key_open_) {
    key_.clear();
    key_open_ = true;
  }
  if (to.size() + text.size() > limits_.max_text_bytes) {
    return Stop(ReadFault::kTooLarge, "a text in it is too long", code);
  }
  to.append(text.data(), text.size());
  return true;
}

bool MatrixHandler::on_key(Text text, size_t, Code& code) {
  const bool good = Append(key_, text, code);
  key_open_ = false;
  return good;
}

bool MatrixHandler::on_string(Text text, size_t, Code& code) {
  if (!Append(text_, text, code)) return false;
  const bool good = Scalar(text_, code);
  text_.clear();
  return good;
}

MatrixHandler::Place MatrixHandler::Inner(bool object) const {
  switch (open_.back()) {
    case Place::kTop: return object ? Place::kRoot : Place::kTop;
    case Place::kRoot:
      if (key_ == "data" && object) return Place::kData;
      if (key_ == "warnings" && !object) return Place::kWarnings;
      return Place::kSkip;
    case Place::kData:
      if (key_ == "result") return object ? Place::kTop : Place::kResult;
      return Place::kSkip;
    case Place::kResult: return object ? Place::kSeries : Place::kTop;
    case Place::kSeries:
      if (key_ == "metric") return object ? Place::kMetric : Place::kTop;
      if (key_ == "values") return object ? Place::kTop : Place::kValues;
      if (key_ == "value") return object ? Place::kTop : Place::kPoint;
      return Place::kSkip;
    case Place::kValues: return object ? Place::kTop : Place::kPoint;
    case Place::kMetric:
    case Place::kPoint: return Place::kTop;
    case Place::kWarnings:
    case Place::kSkip: return Place::kSkip;
  }
  return Place::kTop;
}

bool MatrixHandler::Open(bool object, Code& code) {
  const Place inner = Inner(object);
  if (inner == Place::kTop) {
    return Stop(ReadFault::kShape, "it is JSON, but not the answer of a query", code);
  }
  if (inner == Place::kSeries) {
    series_ = {};
    has_metric_ = false;
  }
  if (inner == Place::kMetric) {
    if (has_metric_) return Stop(ReadFault::kShape, "a series in it has two label sets", code);
    has_metric_ = true;
  }
  if (inner == Place::kSkip && open_.back() == Place::kSeries &&
      (key_ == "histogram" || key_ == "histograms")) {
    ++answer.native_histograms;
  }
  if (inner == Place::kPoint) point_members_ = 0;
  if (inner == Place::kResult) has_result_ = true;
  open_.push_back(inner);
  return true;
}

bool MatrixHandler::Close(Code& code) {
  const Place closed = open_.back();
  open_.pop_back();
  if (closed == Place::kSeries) return EndSeries(code);
  if (closed == Place::kPoint && point_members_ != 2) {
    return Stop(ReadFault::kShape, "a sample in it is not a time and a value", code);
  }
  return true;
}

bool MatrixHandler::EndSeries(Code& code) {
  auto& labels = series_.labels;
  std::ranges::sort(labels);
  const auto same = std::ranges::adjacent_find(
      labels, [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same != labels.end()) {
    return Stop(ReadFault::kShape, "a series in it has one label twice", code);
  }
  if (answer.series.size() >= limits_.max_series) {
    return Stop(ReadFault::kTooLarge, "it has too many series", code);
  }
  if (!series_.samples.empty()) answer.series.push_back(std::move(series_));
  series_ = {};
  return true;
}

bool MatrixHandler::PointValue(std::string_view text, Code& code) {
  const std::optional<double> value = ParseValue(text);
  if (!value) return Stop(ReadFault::kShape, "a value in it is no number", code);
  if (++answer.samples > limits_.max_samples) {
    return Stop(ReadFault::kTooLarge, "it has too many samples", code);
  }
  series_.samples.push_back({.timestamp_ms = point_ms_, .value = *value});
  return true;
}

bool MatrixHandler::Scalar(std::string_view text, Code& code) {
  switch (open_.back()) {
    case Place::kRoot:
      if (key_ == "status") {
        has_status_ = true;
        answer.is_error = text != "success";
      } else if (key_ == "errorType") {
        answer.error_type = text.substr(0, 1000);
      } else if (key_ == "error") {
        answer.error = text.substr(0, 4000);
      }
      return true;
    case Place::kMetric:
      if (series_.labels.size() >= kMaxLabelsRead) {
        return Stop(ReadFault::kTooLarge, "a series in it has too many labels", code);
      }
      series_.labels.emplace_back(key_, text);
      return true;
    case Place::kPoint:
      if (point_members_++ != 1) return Other(code);
      return PointValue(text, code);
    case Place::kWarnings:
      if (answer.warnings.size() < kMaxWarnings) answer.warnings.emplace_back(text.substr(0, 500));
      return true;
    default: return Other(code);
  }
}

bool MatrixHandler::Number(double value, Code& code) {
  if (open_.back() != Place::kPoint) return Other(code);
  if (point_members_++ != 0 || !(value >= 0) || value > kMaxSeconds) {
    return Stop(ReadFault::kShape, "a sample in it is not a time and a value", code);
  }
  point_ms_ = std::llround(value * 1000);
  return true;
}

bool MatrixHandler::on_bool(bool value, Code& code) {
  if (open_.back() == Place::kRoot && key_ == "isPartial") {
    answer.partial = value;
    return true;
  }
  return Other(code);
}

bool MatrixHandler::Other(Code& code) {
  switch (open_.back()) {
    case Place::kRoot:
    case Place::kSkip:
    case Place::kWarnings: return true;
    case Place::kData:
      if (key_ != "result") return true;
      [[fallthrough]];
    case Place::kSeries:
      if (open_.back() == Place::kSeries && key_ != "metric" && key_ != "values" &&
          key_ != "value") {
        return true;
      }
      [[fallthrough]];
    default: return Stop(ReadFault::kShape, "it is JSON, but not the answer of a query", code);
  }
}

bool MatrixHandler::on_document_end(Code& code) {
  if (has_status_ && (answer.is_error || has_result_)) return true;
  return Stop(ReadFault::kShape, "it is JSON, but not the answer of a query", code);
}

}  // namespace tidemark::backfill
