#pragma once
// What a workload's pods live on most, from what their containers need.
//
//   idle      no more than 10 millicores of CPU for each container, and no more than a twentieth of
//             the CPU that they request (where that is known of all of them)
//   compute   more than 1 core for 2 GiB of memory
//   memory    less than 1 core for 8 GiB
//   balanced  between the two: the shapes that clouds sell as compute-, memory-optimised and
//   general
//
// Needs are the model values, before margin and minimum: what is set on top says nothing of the
// workload. Who has a class keeps it until a bound is passed by a fifth, so that none flaps from
// tick to tick. Pure; not thread-safe.

#include <cstddef>

#include "model/snapshot.h"

namespace tidemark::engine {

/// Adds up one pod.
class PodNeeds {
 public:
  /// A container that the pod has now.
  void Add(const ContainerAdvice& container);
  /// `before`: the class it had; kUnknown: none. kUnknown while its CPU or its memory is not known.
  WorkloadClass Class(WorkloadClass before) const;

 private:
  double cores_ = 0;
  double bytes_ = 0;
  double requested_cores_ = 0;
  size_t with_cpu_ = 0;  // containers
  size_t with_memory_ = 0;
  bool all_requests_ = true;
};

}  // namespace tidemark::engine
