#include "cmd/config_prices.h"

#include <fmt/format.h>

#include "cmd/config_fields.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

constexpr NumberRange kPriceRange = {.low = 0, .low_included = true, .high = kMaxPrice};

Result<void> ReadCurrency(const YamlValue& value, std::string& out) {
  auto text = value.ReadText();
  if (!text) return tl::unexpected(text.error());
  if (!IsCurrency(*text)) {
    return value.Wrong(fmt::format("{} is no currency, allowed: a short word such as USD",
                                   Shown(*text, text->empty())));
  }
  out = *std::move(text);
  return {};
}

}  // namespace

Result<void> ReadPrices(const YamlValue& value, Prices& out) {
  return value.ReadMap(
      {{"currency", [&out](const YamlValue& field) { return ReadCurrency(field, out.currency); }},
       {"cpu_core_hour", Number(out.cpu_core_hour, kPriceRange)},
       {"memory_gib_hour", Number(out.memory_gib_hour, kPriceRange)}});
}

std::string DumpPrices(const Prices& prices) {
  return fmt::format("prices:\n  currency: {}\n  cpu_core_hour: {}\n  memory_gib_hour: {}\n",
                     YamlQuoted(prices.currency), prices.cpu_core_hour, prices.memory_gib_hour);
}

}  // namespace tidemark::cmd
