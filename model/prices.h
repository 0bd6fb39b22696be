#pragma once
// What requested resources cost, so that what could be reclaimed can be said in money.

#include <optional>
#include <string>

#include "model/resource.h"
#include "model/snapshot.h"

namespace tidemark {

/// Of one hour; 0: no price is known. Plain values, from the configuration (`prices:`) or flags.
struct Prices {
  std::string currency = "USD";  ///< as it is shown; nothing is converted
  double cpu_core_hour = 0;
  double memory_gib_hour = 0;

  bool Any() const { return cpu_core_hour > 0 || memory_gib_hour > 0; }
  friend bool operator==(const Prices&, const Prices&) = default;
};

/// 365.25 days / 12, rounded to the number that cloud providers' calculators use.
inline constexpr double kHoursPerMonth = 730;

// What a price and a currency may be; beyond it somebody has mistaken the unit.
inline constexpr double kMaxPrice = 1e6;
inline constexpr size_t kMaxCurrencyBytes = 16;
/// 1 to kMaxCurrencyBytes printable ASCII characters without blanks, `"`, `\` and `,`, or a sign
/// such as € in UTF-8.
bool IsCurrency(const std::string& text);

/// What `amount` of a resource, in its unit, costs in a month. Nothing where it has no price.
std::optional<double> MonthlyCost(const Prices& prices, Resource resource, double amount);

/// What an advice would save in a month over all replicas; negative where it asks for more. Nothing
/// where current or recommended request or the price is not known.
std::optional<double> MonthlySavings(const Prices& prices, const ResourceAdvice& advice);
/// The same of all containers and resources of a workload, as far as they are known.
std::optional<double> MonthlySavings(const Prices& prices, const WorkloadAdvice& workload);

/// Adds what is known; nothing plus nothing is nothing.
void AddKnown(const std::optional<double>& value, std::optional<double>& sum);

}  // namespace tidemark
