#include "model/amount_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace tidemark {
namespace {

/// With so many digits behind the point that three count in all; zeros at the end are left out.
std::string ThreeDigits(double amount) {
  const int decimals = amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", amount, decimals);
  if (decimals > 0) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text;
}

std::string CoresText(double cores) {
  // A kubelet rounds what is finer than a millicore up, so finer requests are not written.
  const double milli = std::round(cores * 1000);
  if (milli >= 1000) return ThreeDigits(cores);
  if (milli >= 1 || cores == 0) return fmt::format("{:.0f}{}", milli, cores == 0 ? "" : "m");
  return "<1m";
}

std::string BytesText(double bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  // 1023.7Mi must not become 1024Mi.
  if (std::round(bytes) >= 1024 && unit + 1 < kUnits.size()) {
    bytes = 1;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f}", bytes);
  return ThreeDigits(bytes) + std::string(kUnits[unit]);
}

/// Of whatever unit: with the decimal suffixes of Kubernetes.
std::string PlainText(double amount) {
  constexpr std::array<std::string_view, 6> kSuffixes = {"", "k", "M", "G", "T", "P"};
  if (amount > 0 && amount < 0.0095) return amount < 0.0005 ? "<1m" : CoresText(amount);
  size_t suffix = 0;
  while (amount >= 999.5 && suffix + 1 < kSuffixes.size()) {
    amount /= 1000;
    ++suffix;
  }
  return ThreeDigits(amount) + std::string(kSuffixes[suffix]);
}

std::string PositiveText(Resource resource, double amount) {
  switch (resource) {
    case Resource::kCpu: return CoresText(amount);
    case Resource::kMemory:
    case Resource::kGpuMemory:
    case Resource::kEphemeralStorage: return BytesText(amount);
    case Resource::kGpuUtilization: return ThreeDigits(amount * 100) + " %";
    case Resource::kFirstCustom: break;
  }
  return PlainText(amount);
}

}  // namespace

std::string AmountText(Resource resource, double amount) {
  if (!std::isfinite(amount)) return "unknown";
  if (amount < 0) return "-" + PositiveText(resource, -amount);
  return PositiveText(resource, amount);
}

}  // namespace tidemark
