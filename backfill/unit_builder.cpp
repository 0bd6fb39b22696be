#include "backfill/unit_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backfill/query_text.h"
#include "model/log.h"

namespace tidemark::backfill {

std::string UncoveredSpan::Text() const {
  return fmt::format("{}, {}: {}", what, SpanText(start_ms, end_ms), why);
}

tl::expected<BuiltUnit, QueryFault> UnitBuilder::Build(const Unit& unit, double weight) {
  auto past = sink_.OpenPast(unit.Names(), grid_.end_ms + 1);
  if (!past) {
    return tl::unexpected(
        QueryFault{.kind = QueryFaultKind::kPassing, .message = past.error().message});
  }
  BuiltUnit built{.past = *std::move(past)};
  const double range = static_cast<double>(grid_.end_ms - grid_.start_ms + grid_.step_ms);
  int64_t points = WindowPoints(unit.series, window_samples_, grid_.step_ms, options_.tuning);
  bool was_too_large = false;
  for (int64_t at_ms = grid_.start_ms; at_ms <= grid_.end_ms;) {
    const TimeGrid asked{.start_ms = at_ms,
                         .end_ms = std::min(at_ms + (points - 1) * grid_.step_ms, grid_.end_ms),
                         .step_ms = grid_.step_ms};
    progress_.WindowBegins(asked.start_ms, asked.end_ms,
                           static_cast<double>(at_ms - grid_.start_ms) / range, weight);
    LogProgress();
    Window window(options_);
    Fetched fetched = fetcher_.Fetch(unit, asked, asked.Points() > kMinWindowPoints, window);
    if (fetched.end) return tl::unexpected(*std::move(fetched.end));
    if (fetched.too_large) {
      points = std::max(asked.Points() / 2, kMinWindowPoints);
      was_too_large = true;
      continue;
    }
    if (was_too_large) {
      // What the server is willing to answer with, for the units to come.
      const uint64_t series = std::max(unit.series, window.Series());
      window_samples_ = std::min(window_samples_, static_cast<uint64_t>(points) * series);
    }
    if (auto fault = Account(unit, asked, fetched, window, built)) {
      return tl::unexpected(*std::move(fault));
    }
    const WriteVerdict verdict =
        window.ApplyTo(*built.past, asked.start_ms, asked.end_ms, asked.step_ms);
    built.samples += verdict.accepted;
    at_ms = asked.end_ms + grid_.step_ms;
  }
  return built;
}

void UnitBuilder::AddGap(const TimeGrid& window, std::string what, std::string why,
                         BuiltUnit& built) {
  LogOncePerMinute("backfill gap", LogLevel::kWarn, "back-fill: part of the history is missing",
                   {{"what", what},
                    {"from", TimeText(window.start_ms)},
                    {"to", TimeText(window.end_ms)},
                    {"err", why}});
  const auto meets = std::ranges::find_if(built.gaps, [&](const UncoveredSpan& span) {
    return span.what == what && span.end_ms + window.step_ms == window.start_ms;
  });
  if (meets != built.gaps.end()) {
    meets->end_ms = window.end_ms;
    return;
  }
  built.gaps.push_back({.what = std::move(what),
                        .start_ms = window.start_ms,
                        .end_ms = window.end_ms,
                        .why = std::move(why)});
}

std::optional<QueryFault> UnitBuilder::Account(const Unit& unit, const TimeGrid& window,
                                               const Fetched& fetched, const Window& got,
                                               BuiltUnit& built) {
  bool failed = false;
  for (const Gap& each : fetched.gaps) {
    AddGap(window, each.what, each.fault.message, built);
    failed = failed || each.fault.kind == QueryFaultKind::kPassing;
  }
  if (!fetched.warnings.empty()) {
    AddGap(window, "some of " + unit.Text(), "the server warns: " + fetched.warnings.front(),
           built);
  }
  if (fetched.native_histograms > 0) progress_.Note("native histograms were left out");
  if (got.LeftOut() > 0) {
    progress_.Note("series whose labels are over the limits of remote_write were left out");
  }
  failures_in_a_row_ = failed ? failures_in_a_row_ + 1 : 0;
  Querier& querier = *queriers_.front();
  if (failures_in_a_row_ < options_.tuning.failures_in_a_row) {
    for (const auto& each : queriers_) each->SetAttempts(0);
    return std::nullopt;
  }
  // Is it this part of the history, or the server?
  const auto alive = querier.Query("vector(1)", window.end_ms);
  if (!alive) {
    QueryFault fault = alive.error();
    fault.message = fmt::format("{} windows in a row failed, and now even vector(1) does: {}",
                                failures_in_a_row_, fault.message);
    return fault;
  }
  for (const auto& each : queriers_) each->SetAttempts(1);
  return std::nullopt;
}

void UnitBuilder::LogProgress() {
  if (!progress_.LogIsDue(options_.tuning.log_every)) return;
  const BackfillStatus status = progress_.Status();
  Log(LogLevel::kInfo, "back-fill goes on",
      {{"progress", PercentText(status.progress_ratio)},
       {"left", LeftText(status.eta_ms)},
       {"namespaces", fmt::format("{}/{}", status.namespaces_done, status.namespaces_total)},
       {"samples", fmt::format("{}", status.samples)}});
}

}  // namespace tidemark::backfill
