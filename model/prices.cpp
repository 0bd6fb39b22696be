#include "model/prices.h"

#include <algorithm>
#include <string_view>

namespace tidemark {

bool IsCurrency(const std::string& text) {
  constexpr std::string_view kForbidden = "\"\\,";
  return !text.empty() && text.size() <= kMaxCurrencyBytes &&
         std::ranges::all_of(text, [&](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte > 0x20 && byte != 0x7f && kForbidden.find(c) == std::string_view::npos;
         });
}

std::optional<double> MonthlyCost(const Prices& prices, Resource resource, double amount) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  double hourly = 0;
  if (resource == Resource::kCpu) hourly = prices.cpu_core_hour;
  if (resource == Resource::kMemory) hourly = prices.memory_gib_hour / kGib;
  if (hourly <= 0) return std::nullopt;
  return amount * hourly * kHoursPerMonth;
}

std::optional<double> MonthlySavings(const Prices& prices, const ResourceAdvice& advice) {
  if (!advice.reclaimable) return std::nullopt;
  return MonthlyCost(prices, advice.resource, *advice.reclaimable);
}

std::optional<double> MonthlySavings(const Prices& prices, const WorkloadAdvice& workload) {
  std::optional<double> sum;
  for (const ContainerAdvice& container : workload.containers) {
    for (const ResourceAdvice& advice : container.resources) {
      AddKnown(MonthlySavings(prices, advice), sum);
    }
  }
  return sum;
}

void AddKnown(const std::optional<double>& value, std::optional<double>& sum) {
  if (value) sum = sum.value_or(0) + *value;
}

}  // namespace tidemark
