#pragma once
// Amounts as Kubernetes writes them: "500m", "4Gi", "1.5", "2e3".

#include <optional>
#include <string_view>

namespace tidemark::workloads {

/// The value of a quantity (k8s.io/apimachinery, pkg/api/resource): a decimal number with or
/// without sign, then nothing, a decimal suffix (n u m k M G T P E), a binary one (Ki Mi Gi Ti Pi
/// Ei) or a decimal exponent (e3, E-6). The number nearest to it. nullopt for everything else, and
/// for what a double cannot hold or takes more than 64 characters. Any bytes may be given.
std::optional<double> ParseQuantity(std::string_view text);

}  // namespace tidemark::workloads
