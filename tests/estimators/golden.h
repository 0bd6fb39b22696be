#pragma once
// Reference values recorded from the Kubernetes VPA's own arithmetic, and the comparison with them.
//
// The files lie in <folder>/vpa, the folder being tests/data/golden or what TIDEMARK_GOLDEN names.
// Numbers must agree to a relative 1e-9, whole numbers exactly; in a state marked `ulp_sensitive`,
// where the last bit of a logarithm or a power may decide, the neighbouring bucket (or a stored
// weight off by one) is allowed too.

#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "estimators/decaying_histogram.h"

namespace tidemark::estimators::golden {

using Json = boost::json::value;

/// Reads <folder>/vpa/<name>. Throws, so that the test fails, when it is missing or no JSON.
Json Read(std::string_view name);

/// A number, whole or not, of a file.
double Number(const Json& value);

/// Unix seconds, with a fraction where there is one.
Time ToTime(const Json& seconds);

/// Equal to a relative 1e-9.
bool Close(double actual, double expected);

/// `value`.at(key), as text.
std::string Text(const Json& value, std::string_view key);

/// The layout that a file's `definition` or `options` entry describes.
Result<HistogramOptions> MakeOptions(const Json& definition);

/// The layouts under `options` of a file, by the names that its cases use.
class OptionsByName {
 public:
  explicit OptionsByName(const Json& file);
  const HistogramOptions& at(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, HistogramOptions>> options_;
};

/// Runs one `["a" or "s", value, weight, time]`.
void Apply(const Json& op, DecayingHistogram& histogram);

HistogramCheckpoint ToCheckpoint(const Json& checkpoint);

/// Compares states and counts them; prints the count at the end, and fails the test when it is 0.
class Comparison {
 public:
  /// `name` is the file's; `file` gives the percentile points.
  Comparison(std::string name, const Json& file);

  /// CHECKs every field of a state but its checkpoint.
  void CheckState(const DecayingHistogram& actual, const Json& expected);
  /// CHECKs the checkpoint that is saved.
  void CheckCheckpoint(const HistogramCheckpoint& actual, const Json& expected, bool sensitive);
  /// Call once, at the end.
  void Finish() const;

 private:
  std::string name_;
  std::vector<double> points_;
  int compared_ = 0;
  int sensitive_ = 0;
  int different_ = 0;  // sensitive states that made use of the tolerance
};

}  // namespace tidemark::estimators::golden
