#include "cmd/demo_cluster/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::demo_cluster {
namespace {

constexpr std::string_view kHexadecimal = "0123456789abcdef";

std::string_view QosWord(Qos qos) { return qos == Qos::kBurstable ? "burstable" : "besteffort"; }

}  // namespace

std::string RandomSuffix(Random& random, size_t length) {
  return random.Text("bcdfghjklmnpqrstvwxz2456789", length);
}

std::string RandomUid(Random& random) {
  std::string uid = random.Text(kHexadecimal, 36);
  for (const size_t dash : {8U, 13U, 18U, 23U}) uid[dash] = '-';
  uid[14] = '4';                        // version
  uid[19] = "89ab"[random.Next() % 4];  // variant
  return uid;
}

std::string RandomContainerId(Random& random) { return random.Text(kHexadecimal, 64); }

std::string QosCgroup(Runtime runtime, Qos qos) {
  if (runtime == Runtime::kDocker) {
    return qos == Qos::kGuaranteed ? "/kubepods" : fmt::format("/kubepods/{}", QosWord(qos));
  }
  return qos == Qos::kGuaranteed ? "/kubepods.slice"
                                 : fmt::format("/kubepods.slice/kubepods-{}.slice", QosWord(qos));
}

std::string PodCgroup(Runtime runtime, const Pod& pod) {
  const std::string parent = QosCgroup(runtime, pod.qos);
  if (runtime == Runtime::kDocker) return fmt::format("{}/pod{}", parent, pod.uid);
  // A dash separates levels in the name of a slice, so that the uid's own become underscores.
  std::string uid = pod.uid;
  std::replace(uid.begin(), uid.end(), '-', '_');
  if (pod.qos == Qos::kGuaranteed) return fmt::format("{}/kubepods-pod{}.slice", parent, uid);
  return fmt::format("{}/kubepods-{}-pod{}.slice", parent, QosWord(pod.qos), uid);
}

std::string ContainerCgroup(Runtime runtime, const Pod& pod, std::string_view container_id) {
  const std::string parent = PodCgroup(runtime, pod);
  return runtime == Runtime::kDocker
             ? fmt::format("{}/{}", parent, container_id)
             : fmt::format("{}/cri-containerd-{}.scope", parent, container_id);
}

std::string RuntimeName(Runtime runtime, std::string_view name_space, const Pod& pod,
                        std::string_view container, std::string_view container_id, int attempt) {
  if (runtime == Runtime::kContainerd) return std::string(container_id);
  return fmt::format("k8s_{}_{}_{}_{}_{}", container, pod.name, name_space, pod.uid, attempt);
}

std::string NodeAddress(size_t index) { return fmt::format("10.20.0.{}", 10 + index); }

}  // namespace tidemark::demo_cluster
