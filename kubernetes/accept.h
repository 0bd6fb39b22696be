#pragma once
// Which form of an answer a client wants: the Accept header as the Kubernetes API reads it.
//
// Media ranges are tried by falling q, then in the order of the header. Sources: RFC 9110, 12.5.1;
// k8s.io/apiserver, pkg/endpoints/handlers/negotiation. Pure functions; any bytes may be given.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::kubernetes {

enum class MetricForm : uint8_t {
  kList,          ///< ExternalMetricValueList as JSON
  kTable,         ///< meta.k8s.io/v1 Table: kubectl get
  kTableV1beta1,  ///< of kubectl before 1.15
};

enum class DiscoveryForm : uint8_t {
  kPlain,              ///< APIGroupList, v1
  kAggregated,         ///< APIGroupDiscoveryList of apidiscovery.k8s.io/v2
  kAggregatedV2beta1,  ///< of Kubernetes 1.26 to 1.29
};

/// nullopt: nothing that can be sent is acceptable (406). An absent header takes anything.
std::optional<MetricForm> AcceptedMetricForm(std::string_view accept);
std::optional<DiscoveryForm> AcceptedDiscoveryForm(std::string_view accept);
/// Of answers that there is only as JSON.
bool AcceptsJson(std::string_view accept);

}  // namespace tidemark::kubernetes
