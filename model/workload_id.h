#pragma once
// Who a workload is: the identity labels of everything Tidemark gives back, in kubernetes-mixin's
// words.

#include <compare>
#include <string>

namespace tidemark {

struct WorkloadId {
  std::string cluster;        ///< empty when the stream carries no cluster label
  std::string name_space;     ///< the `namespace` label
  std::string workload_type;  ///< lower case: deployment, statefulset, cronjob, cloneset, barepod,
                              ///< staticpod, process …
  std::string workload;       ///< name of the top-level owner

  friend auto operator<=>(const WorkloadId&, const WorkloadId&) = default;
};

}  // namespace tidemark
