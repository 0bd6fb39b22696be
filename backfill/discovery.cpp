#include "backfill/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "backfill/label_names.h"
#include "backfill/query_text.h"

namespace tidemark::backfill {
namespace {

constexpr int64_t kMaxProbes = 64;
constexpr size_t kMaxLabelsShown = 30;
constexpr size_t kMaxNamesShown = 30;
// A namespace of which only the name is known counts as this many series when work is planned.
constexpr uint64_t kUnknownSeries = 50;

std::vector<int64_t> ProbeTimes(const TimeGrid& grid, const Tuning& tuning) {
  const int64_t range = grid.end_ms - grid.start_ms;
  const int64_t steps =
      std::clamp<int64_t>(range / std::max<int64_t>(tuning.probe_every.count(), 1), 1, kMaxProbes);
  std::vector<int64_t> times;
  for (int64_t i = 0; i <= steps; ++i) times.push_back(grid.start_ms + range / steps * i);
  times.back() = grid.end_ms;
  return times;
}

std::string ValueOf(const AnswerSeries& series, const std::string& label) {
  const auto found = std::ranges::find(
      series.labels, label, [](const auto& pair) -> const auto& { return pair.first; });
  return found == series.labels.end() ? "" : found->second;
}

std::string LabelsText(const PastMetric& metric) {
  std::string out;
  for (const std::string* label :
       {&metric.namespace_label, &metric.pod_label, &metric.container_label}) {
    if (label->empty()) continue;
    if (!out.empty()) out.append(", ");
    out.append(*label);
  }
  return out;
}

std::string NamesText(const std::set<std::string>& names) {
  std::string out;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kMaxNamesShown) return out + ", ...";
    out += (out.empty() ? "" : ", ") + name;
  }
  return out;
}

/// Neither usage nor owners: recommendations do without.
bool IsAside(PastKind kind) { return kind != PastKind::kOwner && kind != PastKind::kUsage; }

/// Whether the namespaces that have it (above 0) are those in which containers were killed.
bool TellsWhereKilled(PastKind kind) {
  return kind == PastKind::kKillReason || kind == PastKind::kOomEvents;
}

class Search {
 public:
  Search(Querier& querier, const TimeGrid& grid, const Options& options)
      : querier_(querier),
        grid_(grid),
        options_(options),
        times_(ProbeTimes(grid, options.tuning)) {}

  /// A fault that ends the search, or nothing.
  std::optional<QueryFault> Look(const PastMetric& metric);
  void Refused(const PastMetric& metric, const std::string& why) {
    absent_.push_back({.line = fmt::format("{}: the server refuses to be asked for it: {}",
                                           SelectorOf(metric, ""), why),
                       .usage = metric.kind == PastKind::kUsage,
                       .optional = IsAside(metric.kind)});
  }
  /// False: what was found already makes it needless.
  bool Wants(const PastMetric& metric) const;
  tl::expected<Found, QueryFault> Finish();

 private:
  struct Place {
    std::string query_cluster;
    uint64_t series = 0;
  };

  std::optional<QueryFault> Try(const PastMetric& variant, bool& there);
  std::optional<QueryFault> LookAt(const PastMetric& variant, bool& there);
  std::optional<QueryFault> AddByLabelValues(const PastMetric& variant);
  std::optional<QueryFault> Complain(const PastMetric& metric);
  NamespaceName NameOf(const std::string& query_cluster, const std::string& name_space) const;
  void Add(const PastMetric& metric, const std::string& query_cluster,
           const std::string& name_space, uint64_t series);
  bool Wanted(const NamespaceName& name) const;
  bool Ends(const QueryFault& fault) const {
    return fault.kind == QueryFaultKind::kDenied || fault.kind == QueryFaultKind::kUnreachable ||
           fault.kind == QueryFaultKind::kNotTheApi || fault.kind == QueryFaultKind::kCancelled ||
           fault.kind == QueryFaultKind::kPassing;
  }

  Querier& querier_;
  const TimeGrid& grid_;
  const Options& options_;
  const std::vector<int64_t> times_;
  std::map<NamespaceName, Place> places_;
  std::set<std::string> query_clusters_;
  std::set<NamespaceName> killed_;
  std::set<std::string> left_out_;  // namespaces that nobody asked for
  Found found_;
  struct Absent {
    std::string line{};
    bool usage = false;
    bool optional = false;
  };
  std::vector<Absent> absent_;
};

/// As the live stream calls it.
NamespaceName Search::NameOf(const std::string& query_cluster,
                             const std::string& name_space) const {
  NamespaceName name{query_cluster, name_space};
  if (query_cluster.empty()) {
    for (const auto& [label, value] : options_.external_labels) {
      if (label == "cluster") name.cluster = value;
    }
  }
  return name;
}

bool Search::Wanted(const NamespaceName& name) const {
  const std::array<LabelView, 2> labels = {
      {{"cluster", name.cluster}, {"namespace", name.name_space}}};
  return options_.namespaces.Matches(labels);
}

void Search::Add(const PastMetric& metric, const std::string& query_cluster,
                 const std::string& name_space, uint64_t series) {
  if (name_space.empty()) return;
  if (!Wanted(NameOf(query_cluster, name_space))) {
    left_out_.insert(name_space);
    return;
  }
  if (TellsWhereKilled(metric.kind)) killed_.insert(NameOf(query_cluster, name_space));
  if (metric.kind != PastKind::kUsage) return;
  Place& place = places_[NameOf(query_cluster, name_space)];
  place.query_cluster = query_cluster;
  place.series = std::max(place.series, series);
  query_clusters_.insert(query_cluster);
}

std::optional<QueryFault> Search::LookAt(const PastMetric& variant, bool& there) {
  const bool tells_where_killed = TellsWhereKilled(variant.kind);
  std::string selector = SelectorOf(variant, IdentityMatchers(variant).text());
  if (tells_where_killed) selector.append(" > 0");
  const std::string query = CountBy({variant.cluster_label, variant.namespace_label}, selector);
  for (const int64_t time : times_) {
    const auto answer = querier_.Query(query, time);
    if (!answer) {
      if (Ends(answer.error())) return answer.error();
      if (answer.error().kind == QueryFaultKind::kRefused) return answer.error();
      // Too much to count, so there is something; its names come from the labels.
      there = true;
      continue;
    }
    for (const AnswerSeries& series : answer->value.series) {
      there = true;
      if (variant.namespace_label.empty()) continue;
      const double count = series.samples.front().value;
      Add(variant, variant.cluster_label.empty() ? "" : ValueOf(series, variant.cluster_label),
          ValueOf(series, variant.namespace_label),
          count >= 1 && count < 1e12 ? static_cast<uint64_t>(count) : 1);
    }
    // Owners and the like need no list of names: that they are there is enough.
    if (there && variant.kind != PastKind::kUsage && !tells_where_killed) return std::nullopt;
  }
  return std::nullopt;
}

/// Names that no probe has met. Servers without this API are left alone.
std::optional<QueryFault> Search::AddByLabelValues(const PastMetric& variant) {
  std::set<std::string> clusters = query_clusters_;
  if (clusters.empty()) clusters.insert("");
  for (const std::string& cluster : clusters) {
    Matchers more = IdentityMatchers(variant);
    if (!variant.cluster_label.empty()) more.Equals(variant.cluster_label, cluster);
    const auto names = querier_.LabelValues(
        variant.namespace_label, SelectorOf(variant, more.text()), grid_.start_ms, grid_.end_ms);
    if (!names) {
      if (names.error().kind == QueryFaultKind::kCancelled) return names.error();
      return std::nullopt;
    }
    for (const std::string& name : names->value) Add(variant, cluster, name, 0);
  }
  return std::nullopt;
}

std::optional<QueryFault> Search::Complain(const PastMetric& metric) {
  // Where nothing was killed there is none, as it should be.
  if (TellsWhereKilled(metric.kind)) return std::nullopt;
  const std::string own = SelectorOf(metric, "");
  bool any = false;
  for (const int64_t time : times_) {
    const auto answer = querier_.Query("count(" + own + ")", time);
    if (!answer && Ends(answer.error())) return answer.error();
    any = !answer || !answer->value.series.empty();
    if (any) break;
  }
  // A cluster without Jobs has no kube_job_owner.
  const bool of_some_kind = metric.kind == PastKind::kOwner && metric.pod_label.empty();
  Absent absent{.usage = metric.kind == PastKind::kUsage,
                .optional = metric.is_optional || of_some_kind};
  if (!any) {
    absent.line = fmt::format("{}: the server has no series of it from {}", own,
                              SpanText(grid_.start_ms, grid_.end_ms));
    absent_.push_back(std::move(absent));
    return std::nullopt;
  }
  std::string has;
  if (const auto names = querier_.LabelNames(own, grid_.start_ms, grid_.end_ms)) {
    const size_t shown = std::min(names->value.size(), kMaxLabelsShown);
    for (size_t i = 0; i < shown; ++i) has += (i > 0 ? ", " : "") + names->value[i];
    if (shown < names->value.size()) has += ", ...";
  } else if (names.error().kind == QueryFaultKind::kCancelled) {
    return names.error();
  }
  absent.optional = IsAside(metric.kind);
  absent.line = fmt::format(
      "{}: the label names do not fit: no series has all of {}{}{}; set `labels` of this metric in "
      "`sources`",
      own, LabelsText(metric), has.empty() ? "" : "; its labels are ", has);
  absent_.push_back(std::move(absent));
  return std::nullopt;
}

std::optional<QueryFault> Search::Try(const PastMetric& variant, bool& there) {
  there = false;
  if (auto fault = LookAt(variant, there)) return fault;
  // Pods that were killed are seldom there for long: no probe may have met them.
  const bool is_seldom = variant.kind == PastKind::kKillReason;
  if (!there && !is_seldom) return std::nullopt;
  const bool has_names = variant.kind == PastKind::kUsage || is_seldom;
  const size_t known = killed_.size();
  if (has_names && !variant.namespace_label.empty()) {
    if (auto fault = AddByLabelValues(variant)) return fault;
  }
  there = there || killed_.size() > known;
  if (there) found_.metrics.push_back(variant);
  return std::nullopt;
}

std::optional<QueryFault> Search::Look(const PastMetric& metric) {
  const auto note = [&](const PastMetric& variant) {
    found_.notes.push_back(
        fmt::format("{}: there are series with the labels {}", metric.metric, LabelsText(variant)));
  };
  PastMetric plain = metric;
  bool exported = false;
  if (!metric.namespace_label.empty()) {
    const PastMetric variant = Exported(metric);
    if (auto fault = Try(variant, exported)) return fault;
    if (exported) {
      note(variant);
      plain = WithoutExported(metric);
    }
  }
  bool as_configured = false;
  if (auto fault = Try(plain, as_configured)) return fault;
  if (exported || as_configured) return std::nullopt;
  if (const std::optional<PastMetric> old = OldNames(metric)) {
    bool there = false;
    if (auto fault = Try(*old, there)) return fault;
    if (there) {
      note(*old);
      return std::nullopt;
    }
  }
  return Complain(metric);
}

bool Search::Wants(const PastMetric& metric) const {
  // The kernel's count tells kills only where no restarts are told, as in the live stream.
  if (metric.kind == PastKind::kOomEvents) {
    return std::ranges::none_of(
        found_.metrics, [](const PastMetric& found) { return found.kind == PastKind::kRestarts; });
  }
  return !metric.only_where_killed || metric.kind != PastKind::kRequest || !killed_.empty();
}

tl::expected<Found, QueryFault> Search::Finish() {
  const bool usage = std::ranges::any_of(
      found_.metrics, [](const PastMetric& metric) { return metric.kind == PastKind::kUsage; });
  if (!usage) {
    std::string lines;
    for (const Absent& absent : absent_) {
      if (absent.usage && !absent.optional) lines += (lines.empty() ? "" : "; ") + absent.line;
    }
    return tl::unexpected(QueryFault{
        .kind = QueryFaultKind::kRefused,
        .message = fmt::format("there is no usage to fill in: {}{}", kMissingMetrics, lines)});
  }
  if (places_.empty() && !left_out_.empty()) {
    return tl::unexpected(
        QueryFault{.kind = QueryFaultKind::kRefused,
                   .message = fmt::format("no namespace matches {}; with usage there are: {}",
                                          options_.namespaces.text(), NamesText(left_out_))});
  }
  // A server of plain processes or GPUs alone lacks whatever a cluster has, and rightly so.
  const bool expected = std::ranges::any_of(
      found_.metrics, [](const PastMetric& metric) { return !metric.is_optional; });
  for (const Absent& absent : absent_) {
    (absent.optional || !expected ? found_.notes : found_.problems)
        .push_back(std::string(kMissingMetric) + absent.line);
  }
  if (killed_.empty())
    std::erase_if(found_.metrics, [](const auto& metric) { return metric.only_where_killed; });
  std::ranges::stable_sort(found_.metrics, {}, &PastMetric::kind);
  for (const auto& [name, place] : places_) {
    found_.namespaces.push_back({.name = name,
                                 .query_cluster = place.query_cluster,
                                 .series = place.series == 0 ? kUnknownSeries : place.series,
                                 .killed = killed_.contains(name)});
  }
  return std::move(found_);
}

}  // namespace

tl::expected<Found, QueryFault> Discover(Querier& querier, const std::vector<PastMetric>& wanted,
                                         const TimeGrid& grid, const Options& options) {
  Search search(querier, grid, options);
  // First what says where containers were killed: without that, the requests then are not needed.
  std::vector<PastMetric> in_order = wanted;
  std::ranges::stable_sort(in_order, {}, [](const PastMetric& metric) {
    const bool last = metric.only_where_killed && metric.kind == PastKind::kRequest;
    return std::pair(last, IsAside(metric.kind) ? metric.kind : PastKind::kOwner);
  });
  for (const PastMetric& metric : in_order) {
    if (!search.Wants(metric)) continue;
    auto fault = search.Look(metric);
    if (!fault) continue;
    if (fault->kind != QueryFaultKind::kRefused) return tl::unexpected(*std::move(fault));
    search.Refused(metric, fault->message);  // the others may do
  }
  return search.Finish();
}

std::optional<std::string> ClustersDiffer(const std::vector<FoundNamespace>& found,
                                          const std::vector<NamespaceName>& live) {
  const auto none_here = std::ranges::all_of(
      found, [](const FoundNamespace& each) { return each.name.cluster.empty(); });
  const auto none_there =
      std::ranges::all_of(live, [](const NamespaceName& name) { return name.cluster.empty(); });
  if (live.empty() || none_here == none_there) return std::nullopt;
  for (const FoundNamespace& each : found) {
    const auto same = std::ranges::find_if(live, [&](const NamespaceName& name) {
      return name.name_space == each.name.name_space && name.cluster != each.name.cluster;
    });
    if (same == live.end()) continue;
    if (none_here) {
      return fmt::format(
          "the live stream has namespace {} in cluster {}, this API tells no cluster: give the "
          "labels that Prometheus adds when it sends, external_labels cluster={}",
          same->name_space, same->cluster, same->cluster);
    }
    return fmt::format(
        "the live stream tells no cluster, here namespace {} is of cluster {}: the past would be "
        "of "
        "other workloads; leave cluster out of external_labels, or send it with the live stream",
        each.name.name_space, each.name.cluster);
  }
  return std::nullopt;
}

}  // namespace tidemark::backfill
