#pragma once
// The flags of `tidetool doctor`. docs/doctor.md describes them.

#include <functional>
#include <optional>
#include <string>

#include "client/options.h"
#include "cmd/command_line.h"
#include "cmd/doctor/certificates.h"
#include "cmd/doctor/installation.h"
#include "cmd/doctor/report.h"
#include "model/result.h"

namespace tidemark::cmd {

/// Where Tidemark's Kubernetes port is.
struct PortAddress {
  std::string host;
  std::string port;
};

/// Everything that a run needs; who was not given is not asked.
struct DoctorOrder {
  std::optional<client::HttpClientOptions> tidemark;
  std::optional<client::HttpClientOptions> prometheus;
  std::optional<client::HttpClientOptions> kubernetes;
  std::string why_no_kubernetes;
  std::optional<PortAddress> kubernetes_port;
  std::string ca_bundle_pem;  ///< of --kubernetes.ca-file
  doctor::Chain authorities;  ///< the same, read
  doctor::ServiceName service;
  doctor::Output output = doctor::Output::kTable;
  bool take_api_service = false;
  bool force = false;
  bool print_api_service = false;
};

CommandSpec DoctorSpec();

/// From a line that ParseCommandLine has read with DoctorSpec. Looks at files. `environment`: for
/// the service account of a pod and $KUBECONFIG. Errors name the flag.
Result<DoctorOrder> ReadDoctorFlags(
    const CommandLine& line, const std::function<std::string(const char* name)>& environment);

}  // namespace tidemark::cmd
