#pragma once
// Amounts as Kubernetes writes them: "500m", "4Gi", "1.5", "2e3".

#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// The value of a quantity (k8s.io/apimachinery, pkg/api/resource): a decimal number with or
/// without sign, then nothing, a decimal suffix (n u m k M G T P E), a binary one (Ki Mi Gi Ti Pi
/// Ei) or a decimal exponent (e3, E-6). The number nearest to it. nullopt for everything else, and
/// for what a double cannot hold or takes more than 64 characters. Any bytes may be given.
std::optional<double> ParseQuantity(std::string_view text);

/// How the digits of a quantity are put together (apimachinery's Format).
enum class QuantityFormat {
  kDecimalSi,  ///< "1500m", "7k": CPU, counts
  kBinarySi,   ///< "512Mi", else as decimal: memory
};

/// The canonical text of `value`: a whole mantissa with the largest suffix that loses nothing
/// ("7", "1500m", "7k", "2016"), no fraction and no exponent; what needs more than thousandths is
/// rounded up to the next. Binary suffixes only for whole numbers from 1024 on ("1536Mi"); others
/// as decimal. nullopt for NaN, infinities, negative numbers, and what 9.2e15 thousandths do not
/// hold: such amounts are nobody's request and nobody's number of replicas, and an HPA adds
/// thousandths up in 64 bits.
///
/// Source: k8s.io/apimachinery pkg/api/resource, Quantity.CanonicalizeBytes. Thread-safe.
std::optional<std::string> QuantityText(double value,
                                        QuantityFormat format = QuantityFormat::kDecimalSi);

}  // namespace tidemark
