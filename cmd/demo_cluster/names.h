#pragma once
// Names as Kubernetes, the kubelet and the container runtimes make them.

#include <string>
#include <string_view>

#include "cmd/demo_cluster/random.h"
#include "cmd/demo_cluster/state.h"

namespace tidemark::demo_cluster {

/// `length` characters of the alphabet that Kubernetes uses for generated names (no vowels, nothing
/// easily misread).
std::string RandomSuffix(Random& random, size_t length);
/// An RFC 4122 version 4 UUID.
std::string RandomUid(Random& random);
/// 64 hexadecimal digits.
std::string RandomContainerId(Random& random);

/// The cgroup of a class of pods, below the root: systemd slices on containerd nodes, cgroupfs on
/// docker nodes.
std::string QosCgroup(Runtime runtime, Qos qos);
std::string PodCgroup(Runtime runtime, const Pod& pod);
std::string ContainerCgroup(Runtime runtime, const Pod& pod, std::string_view container_id);
/// cAdvisor's `name` label: the id on containerd, dockershim's k8s_… name on docker.
std::string RuntimeName(Runtime runtime, std::string_view name_space, const Pod& pod,
                        std::string_view container, std::string_view container_id, int attempt);

/// IPv4 address of the node at this index.
std::string NodeAddress(size_t index);

}  // namespace tidemark::demo_cluster
