#include "backfill/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backfill/query_text.h"
#include "backfill/resolution.h"
#include "backfill/unit_builder.h"
#include "model/log.h"

namespace tidemark::backfill {
namespace {

double WeightOf(const Unit& unit) {
  // Even an empty namespace costs a query per metric and window.
  return static_cast<double>(unit.series) + 10.0;
}

QueryFault Cancelled() {
  return {.kind = QueryFaultKind::kCancelled, .message = "the back-fill was cancelled"};
}

QueryFault Local(const Error& error) {
  return {.kind = QueryFaultKind::kPassing, .message = error.message};
}

}  // namespace

std::optional<QueryFault> Job::Connect() {
  client::HttpClientOptions http = options_.http;
  http.url = cursor_.url;
  for (uint64_t i = 0; i < std::clamp<uint64_t>(options_.concurrency, 1, kMaxConcurrency); ++i) {
    auto api = PrometheusApi::Open(http, {.max_samples = options_.tuning.max_answer_samples});
    if (!api) return QueryFault{.kind = QueryFaultKind::kDenied, .message = api.error().message};
    queriers_.push_back(
        std::make_unique<Querier>(*std::move(api), options_.tuning, counters_, progress_, stop_));
  }
  return std::nullopt;
}

void Job::ChooseStep(Found& found) {
  if (step_ == Step::kGiven || cursor_.last) return;
  const auto interval_ms =
      SampleIntervalMs(*queriers_.front(), found.metrics, found.namespaces, cursor_.grid);
  if (!interval_ms) return;
  if (*interval_ms > kMaxStepMs) {
    found.problems.push_back(
        "CPU usage: the server's samples are over 5 minutes apart, and counters are not bridged "
        "over longer gaps");
  }
  cursor_.grid = FitStep(cursor_.grid, *interval_ms);
  progress_.Begin(cursor_);
}

void Job::AddGaps(const std::vector<std::string>& gaps) {
  for (const std::string& line : gaps) {
    ++cursor_.not_covered_total;
    if (cursor_.not_covered.size() < kMaxNotCovered) {
      cursor_.not_covered.push_back(line.substr(0, kMaxNotCoveredBytes));
    }
  }
}

Result<PastOutcome> Job::Commit(Past& past, const Cursor& cursor) {
  const std::string bytes = EncodeCursor(cursor);
  Backoff backoff(options_.tuning);
  for (unsigned attempt = 1;; ++attempt) {
    auto outcome = past.Merge(bytes);
    if (outcome) return outcome;
    const ErrorCode code = outcome.error().code;
    const bool passing = code == ErrorCode::kUnavailable || code == ErrorCode::kIo;
    if (!passing || attempt >= options_.tuning.attempts) return outcome;
    LogOncePerMinute("backfill merge", LogLevel::kWarn, "back-fill: the merge is tried again",
                     {{"err", outcome.error().message}});
    if (!WaitFor(backoff.Next(), stop_)) return outcome;
  }
}

std::optional<QueryFault> Job::Merge(const Unit& unit, double weight, UnitBuilder& builder) {
  progress_.UnitBegins(unit);
  for (unsigned attempt = 0; attempt <= options_.tuning.rebuilds; ++attempt) {
    auto built = builder.Build(unit, weight);
    if (!built) return built.error();
    // The cursor tells of this unit as merged: it is committed with the merge or not at all.
    const Cursor before = cursor_;
    cursor_.last = unit.namespaces.back().name;
    cursor_.namespaces_done += unit.namespaces.size();
    cursor_.samples += built->samples;
    std::vector<std::string> gaps;
    for (const UncoveredSpan& span : built->gaps) gaps.push_back(span.Text());
    AddGaps(gaps);
    const auto outcome = Commit(*built->past, cursor_);
    if (!outcome) {
      cursor_ = before;
      return stop_.stop_requested() ? Cancelled() : Local(outcome.error());
    }
    if (!outcome->overtaken) {
      cursor_.containers += outcome->containers;
      cursor_.minutes += outcome->minutes;
      for (std::string& line : gaps) progress_.NotCovered(std::move(line));
      progress_.UnitEnds(unit, weight, cursor_);
      return std::nullopt;
    }
    cursor_ = before;
    progress_.Note("live samples overtook a namespace's past, which was built again");
  }
  // The cursor moves with the next merge, or with the end.
  cursor_.last = unit.namespaces.back().name;
  cursor_.namespaces_done += unit.namespaces.size();
  std::string gap = fmt::format("all of {}: live samples overtook its past {} times", unit.Text(),
                                options_.tuning.rebuilds + 1);
  AddGaps({gap});
  progress_.NotCovered(std::move(gap));
  progress_.UnitEnds(unit, weight, cursor_);
  return std::nullopt;
}

std::optional<QueryFault> Job::RunUnits() {
  if (auto fault = Connect()) return fault;
  auto found = Discover(*queriers_.front(), sink_.PastMetrics(), cursor_.grid, options_);
  if (!found) return found.error();
  namespaces_ = found->namespaces;
  if (auto why = ClustersDiffer(found->namespaces, sink_.LiveNamespaces()); why && !cursor_.last) {
    return QueryFault{.kind = QueryFaultKind::kDenied, .message = *why};
  }
  ChooseStep(*found);
  for (std::string& note : found->notes) {
    Log(LogLevel::kInfo, "back-fill: note", {{"note", note}});
    progress_.Note(std::move(note));
  }
  // Said once, not again by each process that goes on.
  std::erase_if(found->problems, [this](const std::string& problem) {
    return std::ranges::find(cursor_.not_covered, problem) != cursor_.not_covered.end();
  });
  AddGaps(found->problems);
  for (std::string& problem : found->problems) progress_.NotCovered(std::move(problem));
  std::vector<FoundNamespace> left;
  uint64_t done_series = 0;
  for (const FoundNamespace& each : found->namespaces) {
    const bool merged = cursor_.last && each.name <= *cursor_.last;
    merged ? void(done_series += each.series) : left.push_back(each);
  }
  const std::vector<Unit> units = PlanUnits(left, options_.tuning);
  double weight = 0;
  for (const Unit& unit : units) weight += WeightOf(unit);
  const auto done = static_cast<double>(done_series);
  cursor_.namespaces_total = cursor_.namespaces_done + left.size();
  progress_.Planned(cursor_.namespaces_total, weight + done, done);
  Log(LogLevel::kInfo, "back-fill begins",
      {{"url", cursor_.url},
       {"from", TimeText(cursor_.grid.start_ms)},
       {"to", TimeText(cursor_.grid.end_ms)},
       {"step", fmt::format("{}s", cursor_.grid.step_ms / 1000)},
       {"namespaces", fmt::format("{}", left.size())},
       {"merged_earlier", fmt::format("{}", cursor_.namespaces_done)}});
  UnitBuilder builder(sink_, queriers_, found->metrics, cursor_.grid, options_, progress_);
  for (const Unit& unit : units) {
    if (stop_.stop_requested()) return Cancelled();
    if (auto fault = Merge(unit, WeightOf(unit), builder)) return fault;
  }
  return std::nullopt;
}

void Job::Run() {
  progress_.Begin(cursor_);
  std::optional<QueryFault> fault;
  if (auto set = sink_.SetPastCursor(EncodeCursor(cursor_)); !set) fault = Local(set.error());
  if (!fault) fault = RunUnits();
  cursor_.finished = !fault;
  if (auto set = sink_.SetPastCursor(EncodeCursor(cursor_)); !set && !fault) {
    fault = Local(set.error());
  }
  LogEnd(fault);
  if (!fault) return progress_.End(BackfillState::kFinished, "");
  const bool cancelled = fault->kind == QueryFaultKind::kCancelled;
  progress_.End(cancelled ? BackfillState::kCancelled : BackfillState::kFailed, fault->message);
}

void Job::LogEnd(const std::optional<QueryFault>& fault) {
  const bool cancelled = fault && fault->kind == QueryFaultKind::kCancelled;
  const bool partly = cursor_.not_covered_total > 0;
  const std::string totals = fmt::format(
      "{} of {} namespaces, {} containers, {} minutes, {} samples", cursor_.namespaces_done,
      cursor_.namespaces_total, cursor_.containers, cursor_.minutes, cursor_.samples);
  if (!fault) {
    Log(partly ? LogLevel::kWarn : LogLevel::kInfo, "back-fill is finished",
        {{"merged", totals}, {"not_covered", fmt::format("{}", cursor_.not_covered_total)}});
  } else {
    Log(cancelled ? LogLevel::kInfo : LogLevel::kError,
        cancelled ? "back-fill was stopped; it goes on at the next start, or when asked again"
                  : "back-fill failed; it goes on at the next start, or when asked again",
        {{"err", fault->message}, {"merged", totals}});
  }
  for (const std::string& line : cursor_.not_covered) {
    Log(LogLevel::kWarn, "back-fill did not cover", {{"what", line}});
  }
}

}  // namespace tidemark::backfill
