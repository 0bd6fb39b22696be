#pragma once
// The daemon's flags for the Kubernetes port. docs/configuration.md describes them.

#include <map>
#include <string>
#include <vector>

#include "cmd/command_line.h"
#include "model/result.h"

namespace tidemark::cmd {

struct KubernetesFlags {
  std::string listen_address;  ///< empty: the port is off, and all else is empty too
  std::string tls_cert_file;   ///< with a listen address never empty
  std::string tls_private_key_file;
  /// Whose certificates are front proxies'; empty: read from the cluster where the daemon runs in
  /// one (AsksCluster), else there are none.
  std::string requestheader_client_ca_file;
  /// Common names of front proxies; empty: any that the CA has signed.
  std::vector<std::string> requestheader_allowed_names;
  std::string client_ca_file;  ///< of clients that come by themselves; empty: none may
  std::string cluster;         ///< whose workloads are served; empty: of the only one
};

/// For FlagsSpec.
std::vector<FlagSpec> KubernetesFlagSpecs();

/// Takes those of `given` that begin with `kubernetes.`. Errors (kInvalidArgument) are one line
/// that names the flag. Files are not looked at.
Result<KubernetesFlags> ReadKubernetesFlags(
    const std::map<std::string, std::string, std::less<>>& given);

}  // namespace tidemark::cmd
