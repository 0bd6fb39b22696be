#pragma once
// The APIService v1beta1.external.metrics.k8s.io: one object per cluster that says who serves all
// external metrics.

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "cmd/doctor/asker.h"
#include "cmd/doctor/installation.h"

namespace tidemark::doctor {

inline constexpr std::string_view kApiServiceName = "v1beta1.external.metrics.k8s.io";
inline constexpr std::string_view kApiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices";

struct ApiServiceOwner {
  ServiceName service;
  bool ours = false;
  std::string product{};  ///< "KEDA", …; empty: not recognised
  std::string Text() const;
};

/// By its Service, its labels and annotations. nullopt for an object without a Service (served by
/// kube-apiserver itself).
std::optional<ApiServiceOwner> OwnerOf(const boost::json::value& api_service,
                                       const ServiceName& ours);

/// The object as it should be, in JSON. `ca_bundle_pem` may be empty: the API server's own
/// authorities count then.
boost::json::value ApiServiceObject(const ServiceName& service, const std::string& ca_bundle_pem);
/// The same in YAML, for kubectl apply.
std::string ApiServiceYaml(const ServiceName& service, const std::string& ca_bundle_pem);

/// Writes it: creates it, or changes it where it is ours already; one of somebody else's is left
/// alone (kInvalidArgument, naming the owner) unless `force` says otherwise. Text: what was done.
/// kUnavailable when the API refuses or does not answer.
Result<std::string> TakeApiService(Asker& kubernetes, const ServiceName& service,
                                   const std::string& ca_bundle_pem, bool force);

}  // namespace tidemark::doctor
