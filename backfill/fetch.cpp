#include "backfill/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>
#include <utility>

#include "backfill/query_text.h"
#include "model/label.h"

namespace tidemark::backfill {
namespace {

bool EndsTheJob(QueryFaultKind kind) {
  return kind == QueryFaultKind::kDenied || kind == QueryFaultKind::kUnreachable ||
         kind == QueryFaultKind::kCancelled || kind == QueryFaultKind::kNotTheApi;
}

std::string WhatText(const PastMetric& metric, std::span<const FoundNamespace> of) {
  Unit unit;
  unit.namespaces.assign(of.begin(), of.end());
  return fmt::format("{} of {}", metric.metric, unit.Text());
}

}  // namespace

Matchers NamespaceMatchers(const PastMetric& metric, std::span<const FoundNamespace> of) {
  Matchers more = IdentityMatchers(metric);
  if (!metric.cluster_label.empty()) more.Equals(metric.cluster_label, of.front().query_cluster);
  if (!metric.namespace_label.empty()) {
    std::vector<std::string> names;
    for (const FoundNamespace& each : of) names.push_back(each.name.name_space);
    more.OneOf(metric.namespace_label, names);
  }
  return more;
}

std::string UnitQuery(const PastMetric& metric, std::span<const FoundNamespace> of,
                      int64_t step_ms) {
  const Matchers more = NamespaceMatchers(metric, of);
  // One millisecond less than a step: Prometheus before 3.0 takes in both ends of the range, and a
  // sample on the border of two steps would stand in both.
  return fmt::format("last_over_time({}[{}ms])", SelectorOf(metric, more.text()), step_ms - 1);
}

/// last_over_time keeps the name of the metric in Prometheus and loses it elsewhere.
void NameSeries(const PastMetric& metric, QueryAnswer& answer) {
  for (AnswerSeries& series : answer.series) {
    const bool named = std::ranges::any_of(
        series.labels, [](const auto& label) { return label.first == kMetricNameLabel; });
    if (!named) series.labels.emplace_back(kMetricNameLabel, metric.metric);
  }
}

void Fetcher::FetchMetric(Querier& querier, const PastMetric& metric,
                          std::span<const FoundNamespace> of, const TimeGrid& window,
                          bool can_be_shorter, Part& part) {
  auto answer = querier.QueryRange(UnitQuery(metric, of, window.step_ms), window.start_ms,
                                   window.end_ms, window.step_ms);
  Fetched& outcome = part.outcome;
  if (answer) {
    QueryAnswer& value = answer->value;
    NameSeries(metric, value);
    std::ranges::move(value.warnings, std::back_inserter(outcome.warnings));
    if (value.partial) outcome.warnings.emplace_back("the server calls its answer partial");
    outcome.native_histograms += value.native_histograms;
    part.answers.push_back(std::move(value));
    return;
  }
  if (EndsTheJob(answer.error().kind)) {
    outcome.end = std::move(answer.error());
    return;
  }
  const bool too_large = answer.error().kind == QueryFaultKind::kTooLarge;
  if (too_large && can_be_shorter) {
    outcome.too_large = true;
    return;
  }
  if (too_large && of.size() > 1) {
    const size_t half = of.size() / 2;
    FetchMetric(querier, metric, of.first(half), window, false, part);
    if (!outcome.end) FetchMetric(querier, metric, of.subspan(half), window, false, part);
    return;
  }
  outcome.gaps.push_back({.what = WhatText(metric, of), .fault = std::move(answer.error())});
}

Fetched Fetcher::Fetch(const Unit& unit, const TimeGrid& window, bool can_be_shorter,
                       Window& into) {
  std::vector<Part> parts(metrics_.size());
  const std::vector<FoundNamespace> killed = unit.WhereKilled();
  std::atomic<size_t> next{0};
  std::atomic<bool> enough{false};
  const auto work = [&](Querier& querier) {
    for (;;) {
      const size_t i = next++;
      if (i >= metrics_.size() || enough) return;
      const auto& of = metrics_[i].only_where_killed ? killed : unit.namespaces;
      if (of.empty()) continue;
      FetchMetric(querier, metrics_[i], of, window, can_be_shorter, parts[i]);
      if (parts[i].outcome.too_large || parts[i].outcome.end) enough = true;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (size_t i = 1; i < std::min(queriers_.size(), metrics_.size()); ++i) {
      helpers.emplace_back([&work, querier = queriers_[i].get()] { work(*querier); });
    }
    work(*queriers_.front());
  }
  Fetched all;
  for (Part& part : parts) {
    Fetched& outcome = part.outcome;
    all.too_large = all.too_large || outcome.too_large;
    if (outcome.end && !all.end) all.end = std::move(outcome.end);
    std::ranges::move(outcome.gaps, std::back_inserter(all.gaps));
    std::ranges::move(outcome.warnings, std::back_inserter(all.warnings));
    all.native_histograms += outcome.native_histograms;
  }
  if (all.too_large || all.end) return all;
  for (Part& part : parts) {
    for (QueryAnswer& answer : part.answers) into.Take(std::move(answer));
  }
  return all;
}

}  // namespace tidemark::backfill
