#pragma once
// Takes a few metrics out of an exposition text (Prometheus text format 0.0.4).

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::doctor {

/// The value of the sample without labels; nullopt when there is none.
std::optional<double> MetricValue(std::string_view text, std::string_view name);
/// The values of a metric by one of its labels (those without it stand under ""), added up where
/// several have the same.
std::map<std::string, double> MetricByLabel(std::string_view text, std::string_view name,
                                            std::string_view label);

}  // namespace tidemark::doctor
