#pragma once
// A small cluster's Snapshot for the report.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/report/report.h"
#include "model/snapshot.h"

namespace tidemark::report {

inline constexpr double kMib = 1024.0 * 1024;
inline constexpr double kGib = 1024.0 * kMib;

inline ResourceAdvice Advice(Resource resource, std::optional<double> current,
                             std::optional<double> recommended, double days = 7) {
  ResourceAdvice advice;
  advice.resource = resource;
  advice.current_request = current;
  advice.recommended_request = recommended;
  advice.model_request = recommended;
  if (recommended) advice.confidence_days = days;
  return advice;
}

inline WorkloadAdvice Workload(const std::string& name_space, const std::string& type,
                               const std::string& name, double replicas,
                               std::vector<ContainerAdvice> containers) {
  WorkloadAdvice workload;
  workload.id = {"", name_space, type, name};
  workload.replicas = replicas;
  workload.containers = std::move(containers);
  for (ContainerAdvice& container : workload.containers) {
    for (ResourceAdvice& advice : container.resources) {
      if (advice.current_request && advice.recommended_request) {
        advice.reclaimable = (*advice.current_request - *advice.recommended_request) * replicas;
      }
    }
  }
  return workload;
}

/// bank: `ledger` was killed for memory. shop: `web` is far too large and has a sidecar that fits;
/// `old` has no pods; `young` is not known yet; the process `nginx` requests nothing.
inline Snapshot SmallCluster() {
  static const ProfileSetPtr profiles = std::make_shared<const ProfileSet>();
  const auto block = [](const std::string& name_space, std::vector<WorkloadAdvice> workloads) {
    auto made = std::make_shared<NamespaceBlock>();
    made->name_space = name_space;
    made->workloads = std::move(workloads);
    made->profiles = profiles;
    for (WorkloadAdvice& workload : made->workloads) {
      for (ContainerAdvice& container : workload.containers) {
        container.profile = &profiles->fallback();
      }
    }
    return made;
  };
  ResourceAdvice killed = Advice(Resource::kMemory, 512 * kMib, 768 * kMib, 3);
  killed.kills = 2;
  killed.current_limit = 512 * kMib;
  Snapshot snapshot;
  snapshot.blocks = {
      block("bank", {Workload("bank", "statefulset", "ledger", 2,
                              {{"db", {Advice(Resource::kCpu, 0.5, 0.5), killed}}})}),
      block("shop",
            {Workload("shop", "deployment", "old", 0, {{"app", {Advice(Resource::kCpu, {}, 0.1)}}}),
             Workload(
                 "shop", "deployment", "web", 3,
                 {{"app", {Advice(Resource::kCpu, 1, 0.2), Advice(Resource::kMemory, kGib, kGib)}},
                  {"proxy", {Advice(Resource::kCpu, 0.1, 0.1)}}}),
             Workload("shop", "deployment", "young", 1, {{"app", {Advice(Resource::kCpu, 1, {})}}}),
             Workload("shop", "process", "nginx", 1, {{"", {Advice(Resource::kCpu, {}, 0.3)}}})})};
  return snapshot;
}

inline Report SmallReport(const Prices& prices = {}, const Filter& filter = {},
                          Autoscalers autoscalers = {}) {
  Report report = MakeReport(SmallCluster(), filter, prices, std::move(autoscalers));
  report.prometheus = "http://prometheus:9090";
  report.start_ms = 1'700'000'000'000;
  report.end_ms = 1'700'604'800'000;
  report.step_ms = 60'000;
  report.profiles = "preset tidemark";
  return report;
}

}  // namespace tidemark::report
