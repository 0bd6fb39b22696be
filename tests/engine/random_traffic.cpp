#include "tests/engine/random_traffic.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "model/label.h"

namespace tidemark::testing {
namespace {

constexpr int64_t kHourMs = 3'600'000;

std::string Encoded(const std::map<std::string, std::string>& labels) {
  std::vector<LabelView> views;
  for (const auto& [name, value] : labels) {
    if (!value.empty()) views.push_back({name, value});
  }
  return EncodeLabels(views);
}

}  // namespace

RandomTraffic::RandomTraffic(uint32_t seed, TrafficOptions options)
    : random_(seed),
      options_(options),
      now_ms_(options.begin_ms),
      generation_(static_cast<size_t>(options.deployments)),
      scaled_(static_cast<size_t>(options.deployments), true) {
  for (int d = 0; d < options_.deployments; ++d) {
    for (int p = 0; p < options_.pods; ++p) pods_.push_back(NewPod(d));
  }
}

int64_t RandomTraffic::Pick(int64_t from, int64_t to) {
  return from + static_cast<int64_t>(random_() % static_cast<uint64_t>(to - from + 1));
}
bool RandomTraffic::Chance(int in) { return random_() % static_cast<uint32_t>(in) == 0; }
double RandomTraffic::Noise() { return static_cast<double>(random_() % 10'000) / 10'000; }

RandomTraffic::SimulatedPod RandomTraffic::NewPod(int deployment) {
  SimulatedPod pod;
  const std::string number = std::to_string(deployment);
  pod.deployment = "w" + number;
  // The last of them have other owners than a Deployment.
  pod.replicaset =
      pod.deployment + "-" + std::to_string(7000 + generation_[static_cast<size_t>(deployment)]);
  pod.name = pod.replicaset + "-p" + std::to_string(made_++);
  pod.born_ms = now_ms_;
  pod.owner_ms = Chance(6) ? 0 : now_ms_ + (Chance(2) ? 0 : Pick(0, 12 * 60'000));
  pod.by_core = Chance(4);
  pod.second_exporter = Chance(5);
  pod.gpu = Chance(6);
  pod.uid = "uid-" + std::to_string(made_);
  pod.restarts = Chance(3) ? static_cast<int>(Pick(1, 9)) : 0;
  pod.all_reasons = Chance(3);
  pod.has_time = !Chance(4);
  pod.annotated = Chance(3);
  pod.ready_ms = now_ms_ + Pick(5000, 200'000);
  pod.has_ready_time = Chance(2);
  pod.is_throttled = Chance(3);
  return pod;
}

void RandomTraffic::Tell(TrafficBatch& batch, SimulatedPod* pod, Labels labels, double value,
                         int64_t start_ms) {
  labels.emplace("namespace", "shop");
  if (pod != nullptr) labels.emplace("pod", pod->name);
  TrafficSeries series;
  series.label_bytes = Encoded(labels);
  if (pod != nullptr) pod->told.emplace(series.label_bytes, labels);
  const int64_t at = now_ms_ + Pick(0, 3000);
  if (Chance(400)) value = std::numeric_limits<double>::quiet_NaN();
  if (Chance(400)) value = -std::numeric_limits<double>::infinity();
  if (Chance(400)) value = -value;
  if (Chance(30)) series.samples.push_back({at - Pick(1, 9000), value * 0.99, start_ms});
  series.samples.push_back({at, value, start_ms});
  if (Chance(300)) series.samples.push_back({at, StaleMarker(), 0});
  series.from_ha_pair = Chance(20);
  batch.series.push_back(std::move(series));
}

void RandomTraffic::Usage(TrafficBatch& batch, SimulatedPod& pod, const std::string& container) {
  const std::string run = "/" + pod.name + "/" + container + "/" + std::to_string(pod.run);
  const int64_t start_ms = Chance(10) ? pod.born_ms : 0;
  const Labels cpu = {
      {"__name__", "container_cpu_usage_seconds_total"}, {"container", container}, {"id", run}};
  if (pod.by_core) {
    for (const char* core : {"0", "1"}) {
      Labels of_core = cpu;
      of_core["cpu"] = core;
      Tell(batch, &pod, of_core, pod.spent / 2, start_ms);
    }
    if (Chance(40)) Tell(batch, &pod, cpu, pod.spent, start_ms);
  } else {
    Tell(batch, &pod, cpu, pod.spent, start_ms);
  }
  Labels memory = cpu;
  memory["__name__"] = "container_memory_working_set_bytes";
  Tell(batch, &pod, memory, static_cast<double>(Pick(100'000'000, 400'000'000)));
  if (pod.second_exporter) {
    memory.erase("id");
    Tell(batch, &pod, memory, static_cast<double>(Pick(100'000'000, 400'000'000)));
  }
  memory["__name__"] = "container_memory_cache";
  Tell(batch, &pod, memory, 1e6 * Noise());
  if (pod.gpu) {
    for (const char* gpu : {"0", "1"}) {
      Tell(batch, &pod,
           {{"__name__", "DCGM_FI_DEV_GPU_UTIL"}, {"container", container}, {"gpu", gpu}},
           100 * Noise());
      Tell(batch, &pod,
           {{"__name__", "DCGM_FI_DEV_FB_USED"}, {"container", container}, {"gpu", gpu}},
           static_cast<double>(Pick(0, 4000)));
    }
  }
}

void RandomTraffic::State(TrafficBatch& batch, SimulatedPod& pod) {
  for (const char* metric :
       {"kube_pod_container_resource_requests", "kube_pod_container_resource_limits"}) {
    Tell(batch, &pod,
         {{"__name__", metric}, {"container", "app"}, {"resource", "cpu"}, {"unit", "core"}},
         Chance(50) ? 0.25 : 0.5);
    Tell(batch, &pod,
         {{"__name__", metric},
          {"container", "app"},
          {"resource", "memory"},
          {"uid", pod.uid},
          {"unit", "byte"}},
         Chance(100) ? 1'073'741'824 : 536'870'912);
    if (Chance(20)) {
      Tell(batch, &pod,
           {{"__name__", metric}, {"container", "init"}, {"resource", "ephemeral_storage"}}, 1e9);
    }
  }
  for (const char* phase : {"Running", "Succeeded", "Failed"}) {
    const bool holds = std::string(phase) == (pod.done ? "Succeeded" : "Running");
    Tell(batch, &pod, {{"__name__", "kube_pod_status_phase"}, {"phase", phase}}, holds ? 1 : 0);
  }
  if (pod.owner_ms == 0 || now_ms_ < pod.owner_ms) return;
  const bool is_job = pod.deployment == "w1";
  const bool is_set = pod.deployment == "w2";
  Labels owner = {{"__name__", "kube_pod_owner"},
                  {"owner_kind", is_job   ? "Job"
                                 : is_set ? "StatefulSet"
                                          : "ReplicaSet"},
                  {"owner_name", is_set ? pod.deployment : pod.replicaset},
                  {"owner_is_controller", "true"}};
  Tell(batch, &pod, owner, 1);
  if (Chance(60)) {
    owner["owner_is_controller"] = "false";
    owner["owner_name"] = "nobody";
    Tell(batch, &pod, owner, 1);
  }
  if (Chance(150)) {
    owner["owner_is_controller"] = "true";
    owner["owner_name"] = "w0-7000";
    Tell(batch, &pod, owner, 1);
  }
}

/// Restarts, why and when, and what the kernel counts: not always all of it in one batch.
void RandomTraffic::Kills(TrafficBatch& batch, SimulatedPod& pod) {
  const auto tell = [&](const char* metric, double value, Labels more = {}) {
    if (Chance(15)) return;
    more.emplace("__name__", metric);
    more.emplace("container", "app");
    more.emplace("uid", pod.uid);
    Tell(batch, &pod, more, value);
  };
  constexpr const char* kReason = "kube_pod_container_status_last_terminated_reason";
  tell("kube_pod_container_status_restarts_total", pod.restarts);
  if (pod.second_exporter && Chance(2)) {
    tell("kube_pod_container_status_restarts_total", pod.restarts, {{"job", "second"}});
  }
  if (pod.terminated_ms != 0) {
    if (pod.has_time) {
      tell("kube_pod_container_status_last_terminated_timestamp",
           Chance(40) ? 0 : static_cast<double>(pod.terminated_ms) / 1000);
    }
    if (pod.all_reasons) {
      tell(kReason, pod.out_of_memory ? 1 : 0, {{"reason", "OOMKilled"}});
      tell(kReason, pod.out_of_memory ? 0 : 1, {{"reason", "Error"}});
    } else {
      tell(kReason, 1, {{"reason", pod.out_of_memory ? "OOMKilled" : "Error"}});
    }
  }
  if (pod.by_core) {
    Tell(batch, &pod,
         {{"__name__", "container_oom_events_total"}, {"container", "app"}, {"id", "/" + pod.uid}},
         pod.restarts);
  }
}

/// Labels and annotations, which change now and then.
void RandomTraffic::Described(TrafficBatch& batch, SimulatedPod& pod) {
  if (Chance(3)) {
    Labels labels = {{"__name__", "kube_pod_labels"},
                     {"label_app", pod.deployment},
                     {"label_pod_template_hash", pod.replicaset}};
    if (Chance(30)) labels["label_tier"] = Chance(2) ? "gold" : "silver";
    if (Chance(200)) labels["label_note"] = std::string(5000, 'x');
    Tell(batch, &pod, labels, 1);
  }
  if (pod.annotated && Chance(2)) {
    constexpr const char* kTexts[] = {
        R"({"app":{"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"4"}}})",
        R"({"app":{"requests":{"cpu":"500m"}},"proxy":{"requests":{"memory":"64Mi"}}})",
        R"({"app":{"requests":{"cpu":"2 cores"}}})"};
    const auto text = static_cast<size_t>(Chance(20) ? Pick(0, 2) : 0);
    Tell(batch, &pod,
         {{"__name__", "kube_pod_annotations"},
          {"annotation_tidemark_io_original_resources", kTexts[text]}},
         1);
  }
}

/// When it started, whether it is ready and since when, and how often its limit held it back.
void RandomTraffic::Readiness(TrafficBatch& batch, SimulatedPod& pod) {
  const bool is_ready = now_ms_ >= pod.ready_ms && !pod.done && !Chance(40);
  if (!Chance(20)) {
    Tell(batch, &pod, {{"__name__", "kube_pod_start_time"}, {"uid", pod.uid}},
         static_cast<double>(pod.born_ms) / 1000 + (Chance(200) ? 1e9 : 0));
  }
  Tell(batch, &pod,
       {{"__name__", "kube_pod_status_ready"}, {"condition", "true"}, {"uid", pod.uid}},
       is_ready ? 1 : 0);
  if (pod.has_ready_time && is_ready) {
    Tell(batch, &pod, {{"__name__", "kube_pod_status_ready_time"}, {"uid", pod.uid}},
         static_cast<double>(pod.ready_ms) / 1000);
  }
  if (!pod.is_throttled) return;
  const double periods = static_cast<double>(now_ms_ - options_.begin_ms) / 100;
  const Labels app = {{"container", "app"}, {"id", "/" + pod.uid}};
  Labels labels = app;
  labels["__name__"] = "container_cpu_cfs_periods_total";
  Tell(batch, &pod, labels, periods);
  labels["__name__"] = "container_cpu_cfs_throttled_periods_total";
  Tell(batch, &pod, labels, periods * 0.4);
}

/// Of which some come late, are silent, scale another workload or have half of their bounds.
void RandomTraffic::Autoscalers(TrafficBatch& batch) {
  for (int i = 0; i <= options_.deployments; ++i) {
    const std::string name = "scaler-" + std::to_string(i);
    if (Chance(20)) continue;
    const bool is_set = i == 2;
    const int target = Chance(200) ? 0 : i % options_.deployments;
    Labels info = {{"__name__", "kube_horizontalpodautoscaler_info"},
                   {"horizontalpodautoscaler", name},
                   {"scaletargetref_kind", is_set ? "StatefulSet" : "Deployment"},
                   {"scaletargetref_name", "w" + std::to_string(target)}};
    Tell(batch, nullptr, info, 1);
    if (i != 1 && !Chance(30)) {
      Tell(batch, nullptr,
           {{"__name__", "kube_horizontalpodautoscaler_spec_min_replicas"},
            {"horizontalpodautoscaler", name}},
           Chance(100) ? 3 : 2);
    }
    if (!Chance(30)) {
      Tell(batch, nullptr,
           {{"__name__", "kube_horizontalpodautoscaler_spec_max_replicas"},
            {"horizontalpodautoscaler", name}},
           Chance(200) ? 20 : 10);
    }
    if (i % 2 == 0) {
      Tell(batch, nullptr,
           {{"__name__", "kube_horizontalpodautoscaler_spec_target_metric"},
            {"horizontalpodautoscaler", name},
            {"metric_name", i == 0 ? "cpu" : "memory"},
            {"metric_target_type", i == 4 ? "average" : "utilization"}},
           Chance(100) ? 80 : 70);
    }
  }
  for (const char* const constraint : {"min", "max", "default"}) {
    if (Chance(30)) continue;
    Tell(batch, nullptr,
         {{"__name__", "kube_limitrange"},
          {"limitrange", "containers"},
          {"resource", "cpu"},
          {"type", "Container"},
          {"constraint", constraint}},
         Chance(100) ? 4 : 2);
  }
}

void RandomTraffic::Others(TrafficBatch& batch) {
  std::map<std::string, const SimulatedPod*> links;
  for (const SimulatedPod& pod : pods_) {
    // Known long after its pods, or never: then the fallback has guessed.
    const int64_t known_ms = pod.born_ms + (pod.replicaset.back() % 2 == 0 ? 0 : 8 * 60'000);
    if (now_ms_ >= known_ms) links.emplace(pod.replicaset, &pod);
  }
  for (const auto& [name, pod] : links) {
    if (pod->deployment == "w1") {
      Tell(batch, nullptr,
           {{"__name__", "kube_job_owner"},
            {"job_name", name},
            {"owner_kind", "CronJob"},
            {"owner_name", "nightly"}},
           1);
    } else if (pod->deployment != "w3") {
      Tell(batch, nullptr,
           {{"__name__", "kube_replicaset_owner"},
            {"replicaset", name},
            {"owner_kind", Chance(300) ? "Rollout" : "Deployment"},
            {"owner_name", pod->deployment}},
           1);
    }
  }
  for (int d = 0; d < options_.deployments; ++d) {
    if (Chance(200)) scaled_[static_cast<size_t>(d)] = !scaled_[static_cast<size_t>(d)];
    if (!scaled_[static_cast<size_t>(d)]) continue;
    Tell(batch, nullptr,
         {{"__name__", "kube_deployment_spec_replicas"}, {"deployment", "w" + std::to_string(d)}},
         options_.pods + (Chance(30) ? 1 : 0));
  }
  Tell(batch, nullptr,
       {{"__name__", "namedprocess_namegroup_cpu_seconds_total"},
        {"instance", "host"},
        {"groupname", "java"},
        {"mode", Chance(2) ? "user" : "system"}},
       static_cast<double>(now_ms_ - options_.begin_ms) / 1000 * 0.3);
  Tell(batch, nullptr,
       {{"__name__", "namedprocess_namegroup_memory_bytes"},
        {"instance", "host"},
        {"groupname", "java"},
        {"memtype", "resident"}},
       static_cast<double>(Pick(1'000'000'000, 2'000'000'000)));
}

/// Resends, copies, late samples and changed values, order turned over.
void RandomTraffic::Disturb(TrafficBatch& batch) {
  if (!last_.series.empty() && Chance(8)) {
    const auto from = static_cast<size_t>(Pick(0, static_cast<int64_t>(last_.series.size()) - 1));
    for (size_t i = from; i < last_.series.size(); ++i) {
      TrafficSeries again = last_.series[i];
      if (Chance(5)) again.from_ha_pair = true;
      if (Chance(10)) again.samples.front().value += 1;
      if (Chance(10)) again.samples.front().timestamp_ms -= Pick(1, 20 * 60'000);
      batch.series.push_back(std::move(again));
    }
  }
  if (Chance(3)) std::shuffle(batch.series.begin(), batch.series.end(), random_);
  if (Chance(40)) batch.series.resize(batch.series.size() / 3 + 1);
}

TrafficBatch RandomTraffic::Next() {
  now_ms_ += options_.step_ms + Pick(-5000, 5000);
  if (options_.silences) {
    if (Chance(300)) now_ms_ += Pick(6, 40) * 60'000;
    if (Chance(400)) now_ms_ += Pick(2, 12) * kHourMs;
    if (Chance(800)) now_ms_ += Pick(8, 10) * 24 * kHourMs;
  }
  TrafficBatch batch;
  batch.arrival_ms = now_ms_ + (Chance(50) ? -2000 : Pick(500, 20'000));
  for (SimulatedPod& pod : pods_) {
    if (Chance(12)) continue;  // a scrape that failed
    pod.spent += 0.4 * Noise() * static_cast<double>(options_.step_ms) / 1000;
    if (Chance(250)) {  // a restart, with a cgroup of its own or without
      pod.run += Chance(3) ? 0 : 1;
      pod.spent = Noise();
      pod.restarts += Chance(5) ? 2 : 1;
      pod.out_of_memory = Chance(2);
      pod.terminated_ms = now_ms_ - Pick(0, 20'000);
    }
    Usage(batch, pod, "app");
    if (pod.deployment == "w0") Usage(batch, pod, "proxy");
    State(batch, pod);
    Kills(batch, pod);
    Described(batch, pod);
    Readiness(batch, pod);
  }
  if (!Chance(10)) Others(batch);
  if (!Chance(10)) Autoscalers(batch);
  for (size_t i = 0; i < pods_.size(); ++i) {
    if (Chance(100)) pods_[i].done = !pods_[i].done;
    if (!Chance(100)) continue;
    if (!Chance(4)) {  // its end is said
      for (const auto& [bytes, labels] : pods_[i].told) {
        batch.series.push_back({bytes, {{now_ms_ + 3001, StaleMarker(), 0}}, false});
      }
    }
    const int deployment = pods_[i].deployment.back() - '0';
    if (Chance(2)) ++generation_[static_cast<size_t>(deployment)];
    if (Chance(8)) {  // another one of the same name
      pods_[i].told.clear();
      pods_[i].spent = 0;
      ++pods_[i].run;
      pods_[i].uid += "n";
      pods_[i].restarts = 0;
      pods_[i].terminated_ms = 0;
      pods_[i].born_ms = now_ms_;
      pods_[i].ready_ms = now_ms_ + Pick(5000, 200'000);
    } else {
      pods_[i] = NewPod(deployment);
    }
  }
  Disturb(batch);
  last_ = batch;
  return batch;
}

}  // namespace tidemark::testing
