#pragma once
// Durations and sizes as Prometheus writes them, amounts as Kubernetes writes them.
// Free functions without state, thread-safe. Errors are kInvalidArgument and name the text, what
// was wrong and what is allowed. For every value x that a Parse function can give: Parse(Format(x))
// == x.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/result.h"

namespace tidemark::cmd {

/// `90s`, `1h30m`, `7d`: whole numbers with the units y (365 d), w, d, h, m, s, ms, each at most
/// once and in this order; `0` needs no unit. At most 292y, as in Prometheus
/// (common/model/time.go).
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);
/// The shortest such text, without y and w; `duration` must not be negative.
std::string FormatDuration(std::chrono::milliseconds duration);

/// `64MB`, `512KB`, `1.5GiB`, in bytes. KB and KiB are the same: powers of 1024, as Prometheus' own
/// flags count. The unit is required (`0` needs none) and the result must be a whole number of
/// bytes below 2^63.
Result<uint64_t> ParseSize(std::string_view text);
/// In the largest unit that leaves a whole number.
std::string FormatSize(uint64_t bytes);

/// A Kubernetes quantity: `250m`, `1.5`, `128Mi`, `1Gi`, `1e3`, `500M`, `-1`
/// (apimachinery/pkg/api/resource). Always finite.
Result<double> ParseQuantity(std::string_view text);
enum class QuantityStyle : uint8_t {
  kDecimal,  ///< `250m`, `1.5`
  kBinary,   ///< `128Mi`
};
/// `value` must be finite and not negative. What has no short form in the style is written as a
/// plain decimal number.
std::string FormatQuantity(double value, QuantityStyle style);

}  // namespace tidemark::cmd
