#include "kubernetes/external_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "kubernetes/accept.h"
#include "kubernetes/freshness.h"
#include "kubernetes/label_selector.h"
#include "kubernetes/metric_answer.h"
#include "kubernetes/metric_points.h"
#include "kubernetes/status.h"
#include "model/quoted.h"
#include "model/snapshot_lookup.h"

namespace tidemark::kubernetes {
namespace {

constexpr size_t kMostKnown = 10;
constexpr size_t kMostCandidates = 5;

/// What cannot be answered with a value.
struct Refusal {
  unsigned code = 500;
  MetricAnswer kind = MetricAnswer::kBadRequest;
  std::string message;
};
using Point = tl::expected<MetricPoint, Refusal>;

std::string Joined(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::string PathOf(const WorkloadAdvice& workload) {
  return fmt::format("{}/{}", workload.id.name_space, workload.id.workload);
}

std::string MetricNames() {
  std::string names;
  for (const ExternalMetric metric : kExternalMetrics) {
    names += (names.empty() ? "" : ", ") + std::string(NameOf(metric));
  }
  return names;
}

/// One question for one metric in one namespace.
class Question {
 public:
  Question(ExternalMetric metric, const LabelSelector& selector, std::string_view name_space)
      : metric_(metric), selector_(selector), name_space_(name_space) {}

  /// All points that the selector leaves, of any workload.
  void Collect(const NamespaceBlock& block, std::vector<MetricPoint>& points) const {
    for (const WorkloadAdvice& workload : block.workloads) {
      if (!MatchesWorkload(selector_, workload)) continue;
      auto of = PointsOf(metric_, workload, block, selector_);
      std::ranges::move(of, std::back_inserter(points));
    }
  }

  /// The one point that is meant.
  Point Choose(const NamespaceBlock* block) const {
    if (block == nullptr) {
      return NotFound(
          fmt::format("nothing is known of the namespace {}: Prometheus sends no "
                      "samples of it, or not any more",
                      QuotedText(name_space_)));
    }
    std::vector<MetricPoint> points;
    Collect(*block, points);
    if (points.empty()) return NotFound(WhyNone(*block));
    const WorkloadAdvice* const first = points.front().workload;
    const bool is_one = std::ranges::all_of(
        points, [first](const MetricPoint& point) { return point.workload == first; });
    if (!is_one) return Ambiguous(points);
    if (points.size() > 1) return Unspecific(points);
    return std::move(points.front());
  }

 private:
  static Point NotFound(std::string message) {
    return tl::unexpected(Refusal{404, MetricAnswer::kNotFound, std::move(message)});
  }

  /// Nothing has this metric and matches.
  std::string WhyNone(const NamespaceBlock& block) const {
    const LabelSelector all;
    std::set<std::string> known;
    for (const WorkloadAdvice& workload : block.workloads) {
      const bool has = !PointsOf(metric_, workload, block, all).empty();
      if (has) known.insert(workload.id.workload);
      if (!MatchesWorkload(selector_, workload)) continue;
      if (has) {
        return fmt::format("{} ({}) has {}, but none for which {} holds; see kubectl get {} -n {}",
                           PathOf(workload), workload.id.workload_type, NameOf(metric_),
                           QuotedText(selector_.text()), NameOf(metric_), name_space_);
      }
      return fmt::format("{} ({}) has no {}: {}", PathOf(workload), workload.id.workload_type,
                         NameOf(metric_),
                         metric_ == ExternalMetric::kTargetReplicas
                             ? "no HorizontalPodAutoscaler names it as its target as far as "
                               "Prometheus has said (kube_horizontalpodautoscaler_info), and "
                               "scaling.workloads gives it no max_replicas"
                             : "its usage is not kept, or too little of it came in yet");
    }
    return fmt::format(
        "no workload in namespace {} matches {}; known: {}", QuotedText(name_space_),
        QuotedText(selector_.text()),
        known.empty() ? std::string("none") : Joined({known.begin(), known.end()}, kMostKnown));
  }

  Point Ambiguous(const std::vector<MetricPoint>& points) const {
    std::vector<std::string> candidates;
    for (const MetricPoint& point : points) {
      std::string name = point.workload->id.workload_type + "/" + point.workload->id.workload;
      if (candidates.empty() || candidates.back() != name) candidates.push_back(std::move(name));
    }
    return tl::unexpected(Refusal{
        400, MetricAnswer::kAmbiguous,
        fmt::format(
            "{} matches {} workloads in namespace {} ({}), whose values an autoscaler would "
            "add up: select one by workload and workload_type",
            QuotedText(selector_.text()), candidates.size(), QuotedText(name_space_),
            Joined(candidates, kMostCandidates))});
  }

  /// Several values of one workload: which labels tell them apart.
  Point Unspecific(const std::vector<MetricPoint>& points) const {
    std::vector<std::string> choices;
    for (const auto& [name, value] : points.front().labels) {
      std::set<std::string> values;
      for (const MetricPoint& point : points) {
        const auto found =
            std::ranges::find(point.labels, name, &decltype(point.labels)::value_type::first);
        if (found != point.labels.end()) values.insert(found->second);
      }
      // The unit follows from the resource.
      if (values.size() < 2 || name == "unit") continue;
      choices.push_back(
          fmt::format("{} ({})", name, Joined({values.begin(), values.end()}, kMostCandidates)));
    }
    return tl::unexpected(Refusal{
        400, MetricAnswer::kAmbiguous,
        fmt::format("{} has {} values of {}, which an autoscaler would add up: select one by {}",
                    PathOf(*points.front().workload), points.size(), NameOf(metric_),
                    Joined(choices, choices.size()))});
  }

  const ExternalMetric metric_;
  const LabelSelector& selector_;
  const std::string_view name_space_;
};

class Answering {
 public:
  Answering(const Sources& sources, const HttpRequest& request)
      : sources_(sources), request_(request), settings_(sources.settings()) {}

  HttpResponse Answer(std::string_view name_space, std::string_view metric_name) {
    const auto metric = MetricNamed(metric_name);
    if (!metric) {
      return Refuse({404, MetricAnswer::kNotFound,
                     fmt::format("the server could not find the metric {} for namespaces/{}; there "
                                 "are {}",
                                 metric_name, name_space, MetricNames())});
    }
    const auto selector = LabelSelector::Parse(request_.Query("labelSelector").value_or(""));
    if (!selector) {
      return Refuse({400, MetricAnswer::kBadRequest,
                     "unable to parse the label selector: " + selector.error().message});
    }
    const auto form = AcceptedMetricForm(request_.Header("Accept"));
    if (!form) {
      return Refuse({406, MetricAnswer::kBadRequest,
                     "only application/json can be sent, and kubectl's table in it"});
    }
    if (!sources_.ready()) {
      return Refuse({503, MetricAnswer::kTooOld,
                     "Tidemark recovers its state; autoscalers leave replicas as they are"});
    }
    const std::shared_ptr<const Snapshot> snapshot = sources_.snapshots.Current();
    const auto cluster = ServedCluster(settings_.cluster, *snapshot);
    if (!cluster) {
      return Refuse({503, MetricAnswer::kAmbiguous,
                     "the streams carry more than one cluster (label cluster), and one port serves "
                     "one: start Tidemark with --kubernetes.cluster=NAME"});
    }
    const NamespaceBlocks blocks = BlocksOf(*snapshot, *cluster);
    const int64_t now_ms = ToUnixMs(sources_.clock.Now());
    const Question question(*metric, *selector, name_space);
    if (*form != MetricForm::kList) {
      return Table(question, *metric, *form, blocks, name_space, now_ms);
    }
    if (name_space.empty()) {
      return Refuse({400, MetricAnswer::kBadRequest,
                     fmt::format("values are of a namespace: /apis/{}/namespaces/NAMESPACE/{}",
                                 kGroupVersion, metric_name)});
    }
    const Point point = question.Choose(FindNamespace(blocks, name_space));
    if (!point) return Refuse(point.error());
    return Value(*metric, *point, now_ms);
  }

 private:
  HttpResponse Refuse(const Refusal& refusal) {
    Count(refusal.kind);
    return StatusAnswer(refusal.code, refusal.message);
  }
  void Count(MetricAnswer answer) {
    ++sources_.counters.metric_answers[static_cast<size_t>(answer)];
  }

  HttpResponse Value(ExternalMetric metric, const MetricPoint& point, int64_t now_ms) {
    const std::string of = PathOf(*point.workload);
    if (!point.value) {
      return Refuse({point.may_come ? 503U : 404U,
                     point.may_come ? MetricAnswer::kTooOld : MetricAnswer::kNotFound,
                     fmt::format("{} of {} is not known: {}", NameOf(metric), of, point.missing)});
    }
    const Age age = AgeOf(point, settings_.freshness, now_ms);
    if (age == Age::kTooOld) {
      return Refuse({503, MetricAnswer::kTooOld,
                     fmt::format("{} of {} is {} old (limit {}): nothing newer comes in, and "
                                 "autoscalers leave replicas as they are; see Prometheus' remote "
                                 "write and /api/v1/status/sources",
                                 NameOf(metric), of, DurationText(now_ms - point.time_ms),
                                 DurationText(settings_.freshness.hold_ms))});
    }
    auto answer = ListAnswer(metric, point, age);
    if (!answer) return Refuse({503, MetricAnswer::kTooOld, answer.error().message});
    Count(age == Age::kFresh ? MetricAnswer::kServed : MetricAnswer::kHeld);
    return *std::move(answer);
  }

  /// For people: of everything that matches, however much that is.
  HttpResponse Table(const Question& question, ExternalMetric metric, MetricForm form,
                     NamespaceBlocks blocks, std::string_view name_space, int64_t now_ms) {
    std::vector<MetricPoint> points;
    if (name_space.empty()) {
      for (const auto& block : blocks) question.Collect(*block, points);
    } else if (const NamespaceBlock* const block = FindNamespace(blocks, name_space)) {
      question.Collect(*block, points);
    }
    if (points.empty() && !name_space.empty()) {
      if (const Point none = question.Choose(FindNamespace(blocks, name_space)); !none) {
        return Refuse(none.error());
      }
    }
    Count(MetricAnswer::kServed);
    return TableAnswer(metric, form, points, settings_.freshness, now_ms);
  }

  const Sources& sources_;
  const HttpRequest& request_;
  const Settings settings_;
};

}  // namespace

HttpResponse ExternalMetricAnswer(const Sources& sources, const HttpRequest& request,
                                  std::string_view name_space, std::string_view metric_name) {
  return Answering(sources, request).Answer(name_space, metric_name);
}

}  // namespace tidemark::kubernetes
