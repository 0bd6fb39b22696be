#pragma once
// Resources of the configuration's own, for tests.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/options.h"
#include "model/resource_table.h"
#include "workloads/sources.h"

namespace tidemark::testing {

/// A resource and the metric that tells it.
struct Own {
  CustomResource resource;
  std::string metric;
  workloads::Role role = workloads::Role::kUsageGauge;
  bool of_pod = false;
  std::vector<std::string> parts = {};
};

inline const Own kConnections{{"connections", "connection"}, "db_connections"};
inline const Own kReceived{{"network_receive", "byte_per_second"},
                           "container_network_receive_bytes_total",
                           workloads::Role::kUsageCounter,
                           true,
                           {"id", "interface"}};

/// As a configuration with these lines, in this order.
struct OwnConfig {
  engine::Options options;
  std::vector<workloads::Source> sources;

  explicit OwnConfig(const std::vector<Own>& all, Profile profile = PresetProfile(Preset::kVpa)) {
    std::vector<CustomResource> resources;
    for (const Own& own : all) {
      workloads::Source source;
      source.metric = own.metric;
      source.role = own.role;
      source.resource = static_cast<Resource>(kBuiltInResourceCount + resources.size());
      if (own.of_pod) source.labels.container.clear();
      source.part_labels = own.parts;
      sources.push_back(std::move(source));
      resources.push_back(own.resource);
    }
    options.profiles = std::make_shared<const ProfileSet>(
        std::vector<Profile>{}, std::move(profile),
        std::make_shared<const ResourceTable>(std::move(resources)));
  }
  Resource Of(const Own& own) const {
    return options.profiles->resources().Parse(own.resource.name).value();
  }
};

}  // namespace tidemark::testing
