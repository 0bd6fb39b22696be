#include "model/scale_point_text.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "model/amount_text.h"
#include "model/quantity.h"

namespace tidemark {
namespace {

/// As a manifest takes it.
std::string Amount(Resource resource, double amount) {
  const auto format =
      resource == Resource::kCpu ? QuantityFormat::kDecimalSi : QuantityFormat::kBinarySi;
  const auto text = QuantityText(resource == Resource::kCpu ? amount : std::ceil(amount), format);
  return text ? *text : AmountText(resource, amount);
}

std::string WhatToSet(const AutoscalerUtilization& target, double load) {
  // Below, a step of one pod is more than the tolerance; above, nothing is left for a peak.
  constexpr double kLeast = 0.30;
  constexpr double kMost = 0.90;
  const double ratio = *target.preserving_target_ratio;
  if (std::round(ratio * 100) == std::round(target.target_utilization_ratio * 100)) {
    return "it stays where it was meant to be";
  }
  const std::string keep = "to keep it at " + AmountText(target.resource, load);
  if (ratio >= kLeast && ratio <= kMost) {
    return fmt::format("{} set averageUtilization: {:.0f}", keep, ratio * 100);
  }
  return fmt::format("{} set type: AverageValue, averageValue: {}, since {:.0f} % leaves no room",
                     keep, Amount(target.resource, load), ratio * 100);
}

}  // namespace

std::string ScalePointText(const AutoscalerUtilization& target) {
  const std::string head =
      fmt::format("The HPA {} aims at {:.0f} % of the {} that pods request", target.autoscaler,
                  target.target_utilization_ratio * 100, ResourceName(target.resource));
  std::vector<std::string> points;
  const auto add = [&](std::string_view whose, const std::optional<double>& point) {
    if (!point) return;
    points.push_back(fmt::format("{} {} {} a pod", whose, points.empty() ? "it scales at" : "at",
                                 AmountText(target.resource, *point)));
  };
  add("with the original requests", target.scale_point_before);
  add("with those of now", target.scale_point_now);
  add("with the recommended ones", target.scale_point_after);
  if (points.empty()) {
    return head + ", and one of their containers requests none, so that it cannot scale by it.";
  }
  std::string text = fmt::format("{}: {}", head, fmt::join(points, ", "));
  const auto meant = target.scale_point_before ? target.scale_point_before : target.scale_point_now;
  if (meant && target.preserving_target_ratio) text += "; " + WhatToSet(target, *meant);
  return text + ".";
}

}  // namespace tidemark
