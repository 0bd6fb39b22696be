#pragma once
// What is asked of the Kubernetes port, and which answers are right.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::bench {

struct Question {
  std::string request;  ///< whole, head and body
  /// All of it stands in the body of a right answer, whose status is 200.
  std::vector<std::string> expected;
};

struct NamedWorkload {
  std::string name_space;
  std::string name;  ///< of a Deployment
};

/// Lines of `NAMESPACE NAME`; empty when the file cannot be read.
std::vector<NamedWorkload> ReadWorkloads(const std::string& path);

/// The target replicas of one Deployment, as the API server passes it on for the HPA controller.
Question TargetReplicas(const NamedWorkload& workload);

/// A review of a pod that such a Deployment's ReplicaSet is about to create, with requests far
/// above what it uses: two containers, what the API server itself adds, about 5 KB.
Question PodReview(const NamedWorkload& workload, uint64_t number);

/// Whether `body`, answered with `status`, is right.
bool IsRight(const Question& question, unsigned status, std::string_view body);

}  // namespace tidemark::bench
