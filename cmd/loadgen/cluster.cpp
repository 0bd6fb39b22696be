#include "cmd/loadgen/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <numeric>
#include <string_view>
#include <tuple>

#include "cmd/demo_cluster/random.h"
#include "model/label.h"

namespace tidemark::loadgen {
namespace {

using demo_cluster::HashToUnit;
using demo_cluster::Random;

constexpr uint32_t kNoPod = UINT32_MAX;
constexpr size_t kPodsPerNode = 30;  // a kubelet's limit is 110; 30 is what clusters have
constexpr size_t kDeploymentsPerNamespace = 12;
constexpr std::string_view kHexadecimal = "0123456789abcdef";
/// What Kubernetes makes generated names of (apimachinery/pkg/util/rand).
constexpr std::string_view kNameAlphabet = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::array<std::string_view, 3> kContainerNames = {"app", "istio-proxy", "log-shipper"};
constexpr std::array<std::string_view, 8> kWords = {"checkout", "cart",    "search", "billing",
                                                    "catalog",  "session", "report", "gateway"};
constexpr double kGiB = 1024.0 * 1024 * 1024;
/// Pods of the first generation have run for up to a month, counted from a time that two runs after
/// another share, so that the second goes on with the first one's counters.
constexpr int64_t kMonthMs = 30LL * 24 * 3600 * 1000;

// In the order of a page.
enum Metric : size_t {
  kCpu,
  kMemory,
  kCache,
  kThrottled,
  kPeriods,
  kOom,
  kOwner,
  kStart,
  kPhase,
  kRequests,
  kLimits,
  kReplicaSetOwner,
  kReplicas,
};
constexpr std::array<Family, 13> kFamilies = {{
    {"container_cpu_usage_seconds_total", "Cumulative cpu time consumed in seconds.", true},
    {"container_memory_working_set_bytes", "Current working set in bytes.", false},
    {"container_memory_cache", "Number of bytes of page cache memory.", false},
    {"container_cpu_cfs_throttled_periods_total", "Number of throttled period intervals.", true},
    {"container_cpu_cfs_periods_total", "Number of elapsed enforcement period intervals.", true},
    {"container_oom_events_total", "Count of out of memory events observed for the container",
     true},
    {"kube_pod_owner", "Information about the Pod's owner.", false},
    {"kube_pod_start_time", "Start time in unix timestamp for a pod.", false},
    {"kube_pod_status_phase", "The pods current phase.", false},
    {"kube_pod_container_resource_requests",
     "The number of requested request resource by a container.", false},
    {"kube_pod_container_resource_limits", "The number of requested limit resource by a container.",
     false},
    {"kube_replicaset_owner", "Information about the ReplicaSet's owner.", false},
    {"kube_deployment_spec_replicas", "Number of desired pods for a deployment.", false},
}};
bool IsOfCadvisor(const LoadSeries& series) { return series.family <= &kFamilies[kOom]; }

/// One generator for each thing that has a name, so that it does not matter in which order they are
/// made.
Random RandomOf(uint64_t seed, uint64_t kind, uint64_t index, uint64_t generation = 0) {
  Random mixer(seed * 4 + kind);
  return Random(mixer.Next() ^ (index * 0x9e3779b97f4a7c15ULL) ^ (generation << 48));
}

std::string Uid(Random& random) {
  std::string uid = random.Text(kHexadecimal, 36);
  for (const size_t dash : {8U, 13U, 18U, 23U}) uid[dash] = '-';
  uid[14] = '4';  // RFC 4122, version 4
  return uid;
}

LoadSeries Make(Metric metric, std::initializer_list<LabelView> labels, Shape shape,
                int32_t offset_ms) {
  std::vector<LabelView> sorted(labels);
  sorted.push_back({kMetricNameLabel, kFamilies[metric].name});
  std::erase_if(sorted, [](const LabelView& label) { return label.value.empty(); });
  std::sort(sorted.begin(), sorted.end(),
            [](const LabelView& a, const LabelView& b) { return a.name < b.name; });
  LoadSeries series;
  series.label_bytes = EncodeLabels(sorted);
  series.family = &kFamilies[metric];
  series.shape = shape;
  series.offset_ms = offset_ms;
  return series;
}

Shape Constant(double value) { return {Shape::Kind::kConstant, value, 0, 0}; }

/// When in a round a target is scraped: Prometheus spreads them over the interval.
int32_t OffsetOf(uint64_t seed, uint64_t target, int64_t interval_ms) {
  return static_cast<int32_t>(HashToUnit(seed, 7, target) * static_cast<double>(interval_ms));
}
constexpr uint64_t kKubeStateTarget = UINT64_MAX;

}  // namespace

LoadCluster::LoadCluster(const ClusterOptions& options)
    : options_(options), now_ms_(options.start_ms) {
  Made made;
  for (size_t index = 0;; ++index) {
    deployments_.push_back(MakeDeployment(index));
    const size_t pods_before = pods_.size();
    for (uint32_t i = 0; i < deployments_[index].replicas; ++i) {
      if (!AddPod(index, i, made)) break;
    }
    if (pods_.size() == pods_before) break;  // the cluster is as large as it should be
  }
  Place(std::move(made));
}

/// False when the pod would be more than was asked for.
bool LoadCluster::AddPod(size_t deployment, uint32_t ordinal, Made& made) {
  uint32_t& containers = deployments_[deployment].containers;
  if (options_.series == 0) {
    const size_t missing = options_.containers - containers_;
    if (missing == 0) return false;
    if (ordinal > 0 && missing < containers) return false;
    containers = static_cast<uint32_t>(std::min<size_t>(containers, missing));
  }
  Pod pod;
  pod.deployment = static_cast<uint32_t>(deployment);
  pod.ordinal = ordinal;
  pod.node = static_cast<uint32_t>(pods_.size() / kPodsPerNode);
  std::vector<LoadSeries> of_pod;
  std::vector<LoadSeries> of_deployment;
  AppendPod(pod, of_pod);
  if (ordinal == 0) AppendDeployment(deployments_[deployment], of_deployment);
  if (options_.series > 0 && made.size() + of_pod.size() + of_deployment.size() > options_.series) {
    return false;
  }
  const auto number = static_cast<uint32_t>(pods_.size());
  for (LoadSeries& series : of_pod) made.emplace_back(number, std::move(series));
  for (LoadSeries& series : of_deployment) made.emplace_back(kNoPod, std::move(series));
  pods_.push_back(std::move(pod));
  containers_ += containers;
  return true;
}

LoadCluster::Deployment LoadCluster::MakeDeployment(size_t index) const {
  Random random = RandomOf(options_.seed, 0, index);
  constexpr std::array<uint32_t, 6> kReplicaCounts = {1, 2, 2, 3, 5, 10};
  constexpr std::array<uint32_t, 4> kContainerCounts = {1, 2, 2, 3};
  Deployment deployment;
  deployment.name_space = fmt::format("team-{:03}", index / kDeploymentsPerNamespace);
  deployment.name = fmt::format("{}-{:05}", kWords[random.Next() % kWords.size()], index);
  deployment.replicaset = fmt::format("{}-{}", deployment.name,
                                      random.Text("bcdf456789", 1) + random.Text(kNameAlphabet, 8));
  deployment.replicas = kReplicaCounts[random.Next() % kReplicaCounts.size()];
  deployment.containers = kContainerCounts[random.Next() % kContainerCounts.size()];
  return deployment;
}

void LoadCluster::AppendDeployment(const Deployment& deployment,
                                   std::vector<LoadSeries>& out) const {
  const int32_t offset = OffsetOf(options_.seed, kKubeStateTarget, options_.interval_ms);
  out.push_back(Make(kReplicaSetOwner,
                     {{"cluster", "load"},
                      {"endpoint", "http"},
                      {"instance", "10.0.0.9:8080"},
                      {"job", "kube-state-metrics"},
                      {"namespace", deployment.name_space},
                      {"owner_is_controller", "true"},
                      {"owner_kind", "Deployment"},
                      {"owner_name", deployment.name},
                      {"replicaset", deployment.replicaset},
                      {"service", "kube-state-metrics"}},
                     Constant(1), offset));
  out.push_back(Make(kReplicas,
                     {{"cluster", "load"},
                      {"deployment", deployment.name},
                      {"endpoint", "http"},
                      {"instance", "10.0.0.9:8080"},
                      {"job", "kube-state-metrics"},
                      {"namespace", deployment.name_space},
                      {"service", "kube-state-metrics"}},
                     Constant(deployment.replicas), offset));
}

void LoadCluster::AppendPod(const Pod& pod, std::vector<LoadSeries>& out) const {
  const Deployment& deployment = deployments_[pod.deployment];
  Random random =
      RandomOf(options_.seed, 1, uint64_t{pod.deployment} << 8 | pod.ordinal, pod.generation);
  const std::string name =
      fmt::format("{}-{}", deployment.replicaset, random.Text(kNameAlphabet, 5));
  const std::string uid = Uid(random);
  const std::string node =
      fmt::format("ip-10-1-{}-{}.ec2.internal", pod.node / 250, pod.node % 250);
  const std::string kubelet = fmt::format("10.1.{}.{}:10250", pod.node / 250, pod.node % 250);
  const bool has_id = pod.node % 2 == 0;
  std::string slice_uid = uid;  // a dash separates levels in the name of a slice
  std::replace(slice_uid.begin(), slice_uid.end(), '-', '_');
  const int64_t epoch_ms = options_.start_ms - options_.start_ms % kMonthMs;
  const int64_t origin_ms =
      pod.generation > 0
          ? now_ms_
          : epoch_ms - static_cast<int64_t>(random.Uniform() * static_cast<double>(kMonthMs));
  const double start_seconds = std::floor(static_cast<double>(origin_ms) / 1000);
  const int32_t node_offset = OffsetOf(options_.seed, pod.node, options_.interval_ms);
  const int32_t state_offset = OffsetOf(options_.seed, kKubeStateTarget, options_.interval_ms);
  const double phase = 2 * std::numbers::pi * random.Uniform();

  const auto of_state = [&](Metric metric, LabelView a, LabelView b, LabelView c, LabelView d,
                            double value) {
    out.push_back(Make(metric,
                       {{"cluster", "load"},
                        {"endpoint", "http"},
                        {"instance", "10.0.0.9:8080"},
                        {"job", "kube-state-metrics"},
                        {"namespace", deployment.name_space},
                        {"pod", name},
                        {"service", "kube-state-metrics"},
                        {"uid", uid},
                        a,
                        b,
                        c,
                        d},
                       Constant(value), state_offset));
  };
  of_state(kOwner, {"owner_is_controller", "true"}, {"owner_kind", "ReplicaSet"},
           {"owner_name", deployment.replicaset}, {}, 1);
  of_state(kStart, {"host_network", "false"}, {"node", node}, {}, {}, start_seconds);
  of_state(kPhase, {"phase", "Succeeded"}, {}, {}, {}, 0);
  of_state(kPhase, {"phase", "Failed"}, {}, {}, {}, 0);

  for (uint32_t i = 0; i < deployment.containers; ++i) {
    const std::string_view container = kContainerNames[i];
    const std::string container_id = random.Text(kHexadecimal, 64);
    const std::string cgroup = fmt::format(
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/"
        "cri-containerd-{}.scope",
        slice_uid, container_id);
    const std::string image =
        fmt::format("registry.example.com/{}/{}:v1.{}.{}", deployment.name_space,
                    i == 0 ? std::string_view(deployment.name) : container, pod.deployment % 40, i);
    // The level belongs to the Deployment, its pods differ a little.
    const double size = HashToUnit(options_.seed, pod.deployment, i);
    const double cores = (i == 0 ? 0.05 + 0.9 * size * size : 0.02) * random.Uniform(0.8, 1.2);
    const double bytes = (i == 0 ? 0.1 + 1.5 * size : 0.06) * kGiB * random.Uniform(0.8, 1.2);
    const auto of_node = [&](Metric metric, LabelView extra, Shape::Kind kind, double level) {
      out.push_back(Make(metric,
                         {{"cluster", "load"},
                          {"container", container},
                          {"id", has_id ? std::string_view(cgroup) : std::string_view()},
                          {"image", image},
                          {"instance", kubelet},
                          {"job", "kubelet"},
                          {"metrics_path", "/metrics/cadvisor"},
                          {"name", has_id ? std::string_view(container_id) : std::string_view()},
                          {"namespace", deployment.name_space},
                          {"node", node},
                          {"pod", name},
                          extra},
                         Shape{kind, level, origin_ms, phase}, node_offset));
    };
    of_node(kCpu, {"cpu", "total"}, Shape::Kind::kCounter, cores);
    of_node(kMemory, {}, Shape::Kind::kBytes, bytes);
    of_node(kCache, {}, Shape::Kind::kBytes, bytes / 4);
    of_node(kThrottled, {}, Shape::Kind::kCounter, cores / 10);
    of_node(kPeriods, {}, Shape::Kind::kCounter, 10);  // of 100 ms
    of_node(kOom, {}, Shape::Kind::kConstant, 0);
    const auto of_resource = [&](Metric metric, bool is_cpu, double value) {
      out.push_back(Make(metric,
                         {{"cluster", "load"},
                          {"container", container},
                          {"endpoint", "http"},
                          {"instance", "10.0.0.9:8080"},
                          {"job", "kube-state-metrics"},
                          {"namespace", deployment.name_space},
                          {"node", node},
                          {"pod", name},
                          {"resource", is_cpu ? "cpu" : "memory"},
                          {"service", "kube-state-metrics"},
                          {"uid", uid},
                          {"unit", is_cpu ? "core" : "byte"}},
                         Constant(value), state_offset));
    };
    of_resource(kRequests, true, i == 0 ? 1 : 0.1);
    of_resource(kRequests, false, i == 0 ? 2 * kGiB : kGiB / 8);
    of_resource(kLimits, false, i == 0 ? 4 * kGiB : kGiB / 4);
  }
}

void LoadCluster::Place(Made made) {
  std::vector<uint32_t> order(made.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](uint32_t i) {
    const auto& [pod, series] = made[i];
    const bool cadvisor = IsOfCadvisor(series);
    return std::tuple(cadvisor ? pods_[pod].node : UINT32_MAX, series.family, i);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<uint32_t> place_of(made.size());
  series_.resize(made.size());
  for (uint32_t place = 0; place < order.size(); ++place) {
    place_of[order[place]] = place;
    series_[place] = std::move(made[order[place]].second);
  }
  for (uint32_t i = 0; i < made.size(); ++i) {
    if (made[i].first != kNoPod) pods_[made[i].first].places.push_back(place_of[i]);
  }
}

void LoadCluster::NextRound() {
  now_ms_ += options_.interval_ms;
  changed_.clear();
  std::vector<LoadSeries> some;
  for (const uint32_t number : going_) {
    Pod& pod = pods_[number];
    ++pod.generation;
    some.clear();
    AppendPod(pod, some);
    for (size_t i = 0; i < some.size(); ++i) {
      series_[pod.places[i]] = std::move(some[i]);
      changed_.push_back(pod.places[i]);
    }
  }
  going_.clear();
  due_ += options_.churn_per_hour * static_cast<double>(pods_.size()) *
          static_cast<double>(options_.interval_ms) / 3'600'000;
  // A step with no common divisor walks through all pods, and not through a Deployment at a time.
  size_t step = pods_.size() * 5 / 8 + 1;
  while (std::gcd(step, std::max<size_t>(pods_.size(), 1)) != 1) ++step;
  for (; due_ >= 1 && going_.size() < pods_.size(); due_ -= 1) {
    next_churn_ = (next_churn_ + step) % pods_.size();
    going_.push_back(static_cast<uint32_t>(next_churn_));
    for (const uint32_t place : pods_[next_churn_].places) series_[place].ends = true;
    ++replaced_;
  }
  if (going_.size() >= pods_.size()) due_ = 0;
}

}  // namespace tidemark::loadgen
