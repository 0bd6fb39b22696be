#pragma once
// How the Kubernetes API is reached from inside a pod: by what the kubelet puts there for the pod's
// service account (Kubernetes, "Accessing the API from a Pod"; client-go rest.InClusterConfig).

#include <functional>
#include <string>
#include <string_view>

#include "client/options.h"
#include "model/result.h"

namespace tidemark::client {

inline constexpr std::string_view kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

/// The value of an environment variable; empty when it is not set.
using Environment = std::function<std::string(const char* name)>;
/// The process's own. Not to be called while another thread changes it.
std::string ProcessEnvironment(const char* name);

/// KUBERNETES_SERVICE_HOST and _PORT are set and the folder has a token: whether an attempt makes
/// sense at all. Files are not read.
bool IsInCluster(const Environment& environment = ProcessEnvironment,
                 const std::string& folder = std::string(kServiceAccountFolder));

/// URL, token and authority of the API server. The token's file is read again for each request (a
/// bound token is renewed about once an hour), ca.crt for each connection. `user_agent`:
/// "tidemark/VERSION", empty for the client's own. Timeouts are short: 5 s to connect, 30 s in all.
///
/// kUnavailable when this is no pod of a cluster: which variable or file is missing, and what to do
/// instead. kInvalidArgument for variables that make no address.
Result<HttpClientOptions> InClusterOptions(
    std::string_view user_agent, const Environment& environment = ProcessEnvironment,
    const std::string& folder = std::string(kServiceAccountFolder));

/// The pod's own namespace, from the file `namespace`; kUnavailable when it is not there.
Result<std::string> InClusterNamespace(
    const std::string& folder = std::string(kServiceAccountFolder));

}  // namespace tidemark::client
