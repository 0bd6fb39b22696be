#include "cmd/recommend_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backfill/cursor.h"
#include "backfill/discovery.h"
#include "backfill/job.h"
#include "backfill/present.h"
#include "backfill/progress.h"
#include "backfill/prometheus_api.h"
#include "backfill/querier.h"
#include "cmd/report_autoscalers.h"
#include "engine/engine.h"
#include "model/clock.h"
#include "model/counters.h"

namespace tidemark::cmd {
namespace {

/// A source without which a report has nothing to say, or only half.
struct Needed {
  std::string_view role;
  std::string_view what;
};
constexpr std::array<Needed, 4> kNeeded = {{
    {"pod_owner", "whose the pods are (kube-state-metrics)"},
    {"usage_counter", "the use of CPU (cAdvisor, by the kubelet)"},
    {"usage_gauge", "the use of memory (cAdvisor, by the kubelet)"},
    {"request", "what containers request now (kube-state-metrics)"},
}};

/// Each as a line, of the sources of which nothing is there now.
std::vector<std::string> MissingSources(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (const Needed& needed : kNeeded) {
    std::string metrics;
    bool there = false;
    for (const SourceStatus& source : snapshot.sources) {
      if (source.role != needed.role) continue;
      there = there || source.last_sample_ms.has_value();
      metrics += (metrics.empty() ? "" : " or ") + source.metric;
    }
    if (!there) lines.push_back(fmt::format("{}: no series now: {}", metrics, needed.what));
  }
  return lines;
}

/// What somebody should look at who has nothing to look at.
std::vector<std::string> Hints() {
  std::vector<std::string> hints;
  hints.emplace_back(
      "the URL is that of the Prometheus that scrapes the kubelets (cAdvisor) and "
      "kube-state-metrics, with the prefix that a proxy may want");
  hints.emplace_back(
      "container_cpu_usage_seconds_total and container_memory_working_set_bytes are there, with "
      "the labels namespace, pod and container");
  hints.emplace_back("kube_pod_owner and kube_replicaset_owner are there (kube-state-metrics)");
  hints.emplace_back(
      "metrics or labels of other names: `sources` in a file for --config.file "
      "(docs/configuration.md)");
  hints.emplace_back(
      "history shorter than --history is no trouble, but nothing at all in that time is");
  return hints;
}

NoReport Because(std::string error, bool hints = false) {
  NoReport why{.error = std::move(error), .hints = {}, .cancelled = false};
  if (hints) why.hints = Hints();
  return why;
}

}  // namespace

class RecommendRun::Impl {
 public:
  explicit Impl(const RecommendOrder& order)
      : order_(order), clock_(FromUnixMs(order.end_ms)), progress_(clock_, counters_) {}

  RecommendOutcome Run(const std::stop_token& stop) {
    RecommendOutcome outcome;
    auto grid = backfill::MakeGrid(order_.start_ms, order_.end_ms, order_.backfill.step_ms);
    if (!grid) {
      outcome.why_not = Because(grid.error().message);
      return outcome;
    }
    engine::Options options = order_.config.engine;
    constexpr int64_t kNever = 3600LL * 1000;  // it is told when to tick
    options.eval_interval_ms = kNever;
    engine::Engine engine(options, order_.config.sources, clock_, engine_counters_);
    if (auto why_not = TakePast(*grid, engine, stop, outcome)) {
      outcome.why_not = *std::move(why_not);
      return outcome;
    }
    if (auto why_not = TakePresent(engine, stop)) {
      outcome.why_not = *std::move(why_not);
      return outcome;
    }
    engine.Tick();
    Finish(*engine.Current(), outcome);
    engine.Stop();
    return outcome;
  }

  BackfillStatus Status() const { return progress_.Status(); }

 private:
  /// Nothing: it is in.
  std::optional<NoReport> TakePast(const backfill::TimeGrid& grid, engine::Engine& engine,
                                   const std::stop_token& stop, RecommendOutcome& outcome) {
    backfill::Cursor cursor;
    cursor.url = order_.backfill.http.url;
    cursor.grid = grid;
    cursor.external_labels = order_.backfill.external_labels;
    const auto step =
        order_.backfill.step_ms == 0 ? backfill::Job::Step::kChosen : backfill::Job::Step::kGiven;
    backfill::Job job(order_.backfill, std::move(cursor), step, engine, counters_, progress_, stop);
    job.Run();
    const BackfillStatus status = progress_.Status();
    step_ms_ = status.step_ms;
    found_ = job.namespaces();
    outcome.not_covered = status.not_covered;
    notes_ = status.notes;
    outcome.queries_failed = std::ranges::any_of(status.not_covered, [](const std::string& line) {
      return !line.starts_with(backfill::kMissingMetric);
    });
    if (status.state == BackfillState::kFinished) return std::nullopt;
    if (status.state == BackfillState::kCancelled) {
      return NoReport{.error = "interrupted", .hints = {}, .cancelled = true};
    }
    const bool nothing_there = status.error.find(backfill::kMissingMetrics) != std::string::npos;
    return Because(status.error, nothing_there);
  }

  std::optional<NoReport> TakePresent(engine::Engine& engine, const std::stop_token& stop) {
    client::HttpClientOptions http = order_.backfill.http;
    auto api = backfill::PrometheusApi::Open(
        http, {.max_samples = order_.backfill.tuning.max_answer_samples});
    if (!api) return Because(api.error().message);
    backfill::Querier querier(*std::move(api), order_.backfill.tuning, counters_, progress_, stop);
    AutoscalerReader autoscalers(order_.backfill.external_labels);
    auto fault = backfill::FetchPresent(
        querier, engine.PresentMetrics(), found_, order_.end_ms, order_.backfill, engine,
        [&](PastKind kind, const backfill::AnswerSeries& series) {
          autoscalers.Take(kind, series);
        },
        [](size_t, size_t) {});
    autoscalers_ = autoscalers.Finish();
    if (!fault) return std::nullopt;
    if (fault->kind == backfill::QueryFaultKind::kCancelled) {
      return NoReport{.error = "interrupted", .hints = {}, .cancelled = true};
    }
    return Because(fault->message);
  }

  void Finish(const Snapshot& snapshot, RecommendOutcome& outcome) {
    report::Report report =
        report::MakeReport(snapshot, order_.filter, order_.prices, std::move(autoscalers_));
    const std::vector<std::string> missing = MissingSources(snapshot);
    if (report.rows.empty()) {
      outcome.why_not = NothingFound(snapshot, report, missing);
      return;
    }
    report.prometheus = order_.backfill.http.url;
    report.start_ms = order_.start_ms;
    report.end_ms = order_.end_ms;
    report.step_ms = step_ms_;
    report.profiles = order_.profiles;
    outcome.not_covered.insert(outcome.not_covered.end(), missing.begin(), missing.end());
    report.warnings = outcome.not_covered;
    report.notes = notes_;
    report::SortRows(order_.sort, order_.top, report);
    outcome.report = std::move(report);
  }

  static NoReport NothingFound(const Snapshot& snapshot, const report::Report& report,
                               const std::vector<std::string>& missing) {
    if (report.workloads_left_out > 0) {
      return Because(
          fmt::format("none of the {} workloads that match has pods now; --all shows them",
                      report.workloads_left_out));
    }
    const bool any = std::ranges::any_of(
        snapshot.blocks, [](const auto& block) { return !block->workloads.empty(); });
    if (any) return Because("no workload matches --workload and --selector");
    NoReport why = Because("there is usage, but nobody tells which workloads it is of");
    why.hints = missing;
    why.hints.emplace_back(
        "kube_pod_owner and kube_replicaset_owner (kube-state-metrics) were there at the time of "
        "the usage, with the same namespace and pod labels");
    return why;
  }

  const RecommendOrder& order_;
  const ManualClock clock_;  // stands at the end of the history
  EngineCounters engine_counters_;
  BackfillCounters counters_;
  backfill::Progress progress_;
  int64_t step_ms_ = 0;
  std::vector<backfill::FoundNamespace> found_;
  std::vector<std::string> notes_;
  report::Autoscalers autoscalers_;
};

RecommendRun::RecommendRun(const RecommendOrder& order) : impl_(std::make_unique<Impl>(order)) {}
RecommendRun::~RecommendRun() = default;
RecommendOutcome RecommendRun::Run(const std::stop_token& stop) { return impl_->Run(stop); }
BackfillStatus RecommendRun::Status() const { return impl_->Status(); }

}  // namespace tidemark::cmd
