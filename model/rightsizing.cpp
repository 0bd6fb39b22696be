#include "model/rightsizing.h"

namespace tidemark {

std::string_view ToString(RightsizingMode mode) {
  switch (mode) {
    case RightsizingMode::kOff: return "off";
    case RightsizingMode::kDryRun: return "dry-run";
    case RightsizingMode::kApply: return "apply";
  }
  return "unknown";
}

std::optional<RightsizingMode> RightsizingModeNamed(std::string_view name) {
  for (const auto mode :
       {RightsizingMode::kOff, RightsizingMode::kDryRun, RightsizingMode::kApply}) {
    if (ToString(mode) == name) return mode;
  }
  return std::nullopt;
}

}  // namespace tidemark
