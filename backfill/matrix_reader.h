#pragma once
// Reads the JSON answer of a Prometheus query piece by piece as it comes from the network.
//
// Takes what /api/v1/query and /api/v1/query_range answer, in any order of members, whatever else
// stands there. Memory follows what is kept (series and samples), not the text; both are bounded.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/sample.h"

namespace tidemark::backfill {

struct AnswerSeries {
  std::vector<std::pair<std::string, std::string>> labels;  ///< as they came, names unique
  std::vector<Sample> samples;                              ///< as they came
};

struct QueryAnswer {
  std::vector<AnswerSeries> series;
  std::vector<std::string> warnings;  ///< at most kMaxWarnings
  bool partial = false;               ///< the server says that data is missing (VictoriaMetrics)
  uint64_t samples = 0;
  uint64_t native_histograms = 0;  ///< left out
  // Of an answer with "status":"error".
  bool is_error = false;
  std::string error_type;
  std::string error;
};
inline constexpr size_t kMaxWarnings = 8;

struct ReaderLimits {
  uint64_t max_samples = 5'000'000;
  uint64_t max_series = 1'000'000;
  size_t max_text_bytes = size_t{64} << 10;  ///< of one name or value; more fails
};

enum class ReadFault : uint8_t {
  kNone,
  kNotJson,   ///< the text is no JSON, or ends too early
  kShape,     ///< JSON, but not such an answer
  kTooLarge,  ///< over a limit
};

/// Not thread-safe.
class MatrixReader {
 public:
  explicit MatrixReader(const ReaderLimits& limits);
  ~MatrixReader();
  MatrixReader(const MatrixReader&) = delete;
  MatrixReader& operator=(const MatrixReader&) = delete;

  /// False once anything is wrong; later calls then do nothing.
  bool Feed(std::string_view piece);
  /// At the end of the text. False: fault() and message() say why.
  bool Finish();

  ReadFault fault() const;
  /// For people; empty while nothing is wrong.
  const std::string& message() const;
  /// What was read; complete only after Finish was true.
  QueryAnswer& answer();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::backfill
