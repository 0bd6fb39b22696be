#include "cmd/backtest/demand_query.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "backfill/query_text.h"
#include "cmd/replay_requests/range_queries.h"
#include "cmd/text.h"
#include "model/quoted.h"

namespace tidemark::backtest {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr std::string_view kNameLabel = "__name__";

/// `name{label="value",…}`, as Prometheus writes it.
std::string NameOf(const backfill::AnswerSeries& series, const std::string& query) {
  std::string name;
  std::string labels;
  for (const auto& [label, value] : series.labels) {
    if (label == kNameLabel) {
      name = value;
      continue;
    }
    labels += fmt::format("{}{}={}", labels.empty() ? "" : ",", label, QuotedText(value));
  }
  if (!labels.empty()) name += "{" + labels + "}";
  return cmd::OneLine(name.empty() ? query : name);
}

}  // namespace

Result<std::vector<Demand>> FetchDemands(const DemandQuery& source, const Clock& clock,
                                         const std::function<void(std::string_view)>& told) {
  auto queries = replay_requests::RangeQueries::Open(source.http, clock);
  if (!queries) return tl::unexpected(queries.error());
  const int64_t start = source.start_ms / kMinuteMs * kMinuteMs;
  const int64_t end = source.end_ms / kMinuteMs * kMinuteMs;
  std::map<std::string, std::vector<TimedValue>> found;  // in the order of their names
  const auto take = [&](backfill::QueryAnswer answer) -> Result<void> {
    for (const backfill::AnswerSeries& series : answer.series) {
      auto& values = found[NameOf(series, source.query)];
      if (found.size() > kMaxDemandSeries) {
        return Fail(ErrorCode::kInvalidArgument,
                    fmt::format("--query: more than {} series, allowed: fewer, as with sum by "
                                "(namespace, workload) (...)",
                                kMaxDemandSeries));
      }
      for (const Sample& sample : series.samples) {
        constexpr double kMaxValue = 1e30;  // as of files
        if (!(sample.value >= 0 && sample.value <= kMaxValue)) continue;
        const int64_t seconds = sample.timestamp_ms / 1000;
        if (!values.empty() && values.back().seconds >= seconds) continue;
        values.push_back({seconds, sample.value});
      }
    }
    return {};
  };
  told("asks for the demand");
  if (auto taken = (*queries)->Range(source.query, start, end, kMinuteMs, take); !taken) {
    return tl::unexpected(taken.error());
  }
  std::vector<Demand> demands;
  for (auto& [name, values] : found) {
    Demand demand;
    demand.name = name;
    if (!SetMinutes(values, demand)) continue;  // a value or none
    demands.push_back(std::move(demand));
  }
  if (demands.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: no demand between {} and {} for this query", source.http.url,
                            backfill::TimeText(start), backfill::TimeText(end)));
  }
  return demands;
}

}  // namespace tidemark::backtest
