#include "backfill/present.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "backfill/fetch.h"
#include "backfill/label_names.h"
#include "backfill/query_text.h"
#include "model/label.h"

namespace tidemark::backfill {
namespace {

bool IsAside(PastKind kind) {
  return kind == PastKind::kAutoscaler || kind == PastKind::kAutoscalerTarget;
}

/// Which of the ways to name its labels a metric's series use.
std::optional<QueryFault> AddVariants(Querier& querier, const PastMetric& metric, int64_t at_ms,
                                      std::vector<PastMetric>& out) {
  const auto is_there = [&](const PastMetric& variant) -> tl::expected<bool, QueryFault> {
    const auto answer = querier.Query(
        "count(" + SelectorOf(variant, IdentityMatchers(variant).text()) + ")", at_ms);
    if (answer) return !answer->value.series.empty();
    // Too many to be counted, so they are there.
    if (answer.error().kind == QueryFaultKind::kTooLarge) return true;
    return tl::unexpected(answer.error());
  };
  PastMetric plain = metric;
  if (!metric.namespace_label.empty()) {
    const PastMetric variant = Exported(metric);
    const auto there = is_there(variant);
    if (!there) return there.error();
    if (*there) {
      out.push_back(variant);
      plain = WithoutExported(metric);
    }
  }
  const auto there = is_there(plain);
  if (!there) return there.error();
  if (*there) {
    out.push_back(std::move(plain));
    return std::nullopt;
  }
  const std::optional<PastMetric> old = OldNames(metric);
  if (!old) return std::nullopt;
  const auto old_there = is_there(*old);
  if (!old_there) return old_there.error();
  if (*old_there) out.push_back(*old);
  return std::nullopt;
}

/// One request of the live stream.
class LiveBatch {
 public:
  LiveBatch(SampleSink& sink, const Options& options) : sink_(sink), options_(options) {}

  void Take(const PastMetric& metric, QueryAnswer answer) {
    for (AnswerSeries& series : answer.series) {
      // What answers a bare selector has its name; a server that takes it away must not lose us it.
      const bool named = std::ranges::any_of(
          series.labels, [](const auto& label) { return label.first == kMetricNameLabel; });
      if (!named) series.labels.emplace_back(kMetricNameLabel, metric.metric);
      std::string bytes = LiveLabelBytes(series.labels, options_);
      if (bytes.empty()) continue;
      kept_.push_back({std::move(bytes), std::move(series.samples)});
    }
  }

  /// Nothing, or why it failed.
  std::optional<QueryFault> Commit() {
    const std::unique_ptr<WriteBatch> batch = sink_.Begin();
    std::vector<LabelView> labels;
    for (const Kept& kept : kept_) {
      labels.clear();
      DecodeLabels(kept.label_bytes, labels);
      batch->Add({.labels = labels, .label_bytes = kept.label_bytes, .samples = kept.samples});
    }
    const auto verdict = batch->Commit();
    kept_.clear();
    if (verdict) return std::nullopt;
    return QueryFault{.kind = QueryFaultKind::kPassing, .message = verdict.error().message};
  }

 private:
  struct Kept {
    std::string label_bytes;
    std::vector<Sample> samples;
  };

  SampleSink& sink_;
  const Options& options_;
  std::vector<Kept> kept_;
};

/// What a metric says of some namespaces; in parts where the server calls it too much.
std::optional<QueryFault> Ask(Querier& querier, const PastMetric& metric,
                              std::span<const FoundNamespace> of, int64_t at_ms,
                              const std::function<void(QueryAnswer)>& take) {
  auto answer = querier.Query(SelectorOf(metric, NamespaceMatchers(metric, of).text()), at_ms);
  if (answer) {
    take(std::move(answer->value));
    return std::nullopt;
  }
  const bool splits = !metric.namespace_label.empty() && of.size() > 1;
  if (answer.error().kind != QueryFaultKind::kTooLarge || !splits) return answer.error();
  const size_t half = of.size() / 2;
  if (auto fault = Ask(querier, metric, of.first(half), at_ms, take)) return fault;
  return Ask(querier, metric, of.subspan(half), at_ms, take);
}

}  // namespace

std::optional<QueryFault> FetchPresent(Querier& querier, std::vector<PastMetric> metrics,
                                       const std::vector<FoundNamespace>& namespaces, int64_t at_ms,
                                       const Options& options, SampleSink& sink,
                                       const AsideTaker& aside, const PresentProgress& progress) {
  std::ranges::stable_sort(metrics, {}, &PastMetric::kind);
  std::vector<PastMetric> variants;
  for (const PastMetric& metric : metrics) {
    if (auto fault = AddVariants(querier, metric, at_ms, variants)) return fault;
  }
  const std::vector<Unit> units = PlanUnits(namespaces, options.tuning);
  for (size_t i = 0; i < units.size(); ++i) {
    LiveBatch batch(sink, options);
    for (const PastMetric& metric : variants) {
      // What is of no namespace is of all: asked once.
      if (metric.namespace_label.empty() && i > 0) continue;
      const auto take = [&](QueryAnswer answer) {
        if (!IsAside(metric.kind)) return batch.Take(metric, std::move(answer));
        for (const AnswerSeries& series : answer.series) aside(metric.kind, series);
      };
      if (auto fault = Ask(querier, metric, units[i].namespaces, at_ms, take)) return fault;
    }
    if (auto fault = batch.Commit()) return fault;
    progress(i + 1, units.size());
  }
  return std::nullopt;
}

}  // namespace tidemark::backfill
