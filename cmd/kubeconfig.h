#pragma once
// How a kubeconfig file says the Kubernetes API is reached (Kubernetes, "Configure Access to
// Multiple Clusters"; client-go tools/clientcmd). What a program of the user's would have to be run
// for (exec and auth-provider plugins) is refused with what to give instead.

#include <functional>
#include <string>
#include <string_view>

#include "client/options.h"
#include "model/result.h"

namespace tidemark::cmd {

struct Kubeconfig {
  client::HttpClientOptions options;  ///< URL, TLS and credentials; short timeouts
  std::string context;                ///< the one that was read
  std::string name_space;             ///< of the context; empty: none
};

/// Reads `path`. `context`: empty for the file's current-context. Paths within it are relative to
/// its folder. kInvalidArgument, naming file, line and key, for what is wrong in it; kNotFound for
/// a context, cluster or user that it does not have; kIo when it cannot be read. No secret stands
/// in an error.
Result<Kubeconfig> ReadKubeconfig(const std::string& path, std::string_view context);

/// The file that kubectl would read: $KUBECONFIG, else $HOME/.kube/config where it exists; empty
/// when there is none. kInvalidArgument for a $KUBECONFIG of several files.
Result<std::string> DefaultKubeconfig(
    const std::function<std::string(const char* name)>& environment);

}  // namespace tidemark::cmd
