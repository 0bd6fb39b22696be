#include "cmd/replay_policies/minutes_csv.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string>

namespace tidemark::replay_policies {
namespace {

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void AppendAmount(std::string& out, double amount) {
  if (!std::isnan(amount)) fmt::format_to(std::back_inserter(out), "{:.6g}", amount);
}

}  // namespace

void WriteMinuteRows(const TraceMinutes& minutes, std::ostream& to) {
  const auto& policies = minutes.policies;
  const std::string name = Quoted(minutes.trace.name);
  std::string out;  // of one minute
  const size_t count = policies.empty() ? 0 : policies.front().outcome.minutes_kept.size();
  for (size_t i = 0; i < count; ++i) {
    out.clear();
    for (size_t p = 0; p < policies.size(); ++p) {
      const scaling::ReplayedMinute& at = policies[p].outcome.minutes_kept[i];
      fmt::format_to(std::back_inserter(out), "{},{},", name, at.minute * 60);
      if (!std::isnan(at.demand)) fmt::format_to(std::back_inserter(out), "{}", at.demand);
      fmt::format_to(std::back_inserter(out), ",{},{},{},", minutes.plan.policies[p].name,
                     at.replicas, at.ready);
      if (at.decision) {
        fmt::format_to(std::back_inserter(out), "{},{},{},{},", at.decision->target,
                       at.decision->recommended, ToString(at.decision->reason),
                       ToString(at.decision->mode));
        if (at.decision->forecast_load_ratio) {
          AppendAmount(out, *at.decision->forecast_load_ratio * at.replicas * minutes.trace.base);
        }
      } else {
        out += ",,,,";
      }
      out += ',';
      if (i < minutes.bands.size()) AppendAmount(out, double{minutes.bands[i].lower});
      out += ',';
      if (i < minutes.bands.size()) AppendAmount(out, double{minutes.bands[i].upper});
      const bool is_measured =
          static_cast<int64_t>(i) >= minutes.plan.warm_up_minutes && !std::isnan(at.demand);
      out += is_measured ? ",1\n" : ",0\n";
    }
    to << out;
  }
}

}  // namespace tidemark::replay_policies
