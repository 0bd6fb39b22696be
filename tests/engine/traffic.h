#pragma once
// Requests of a small cluster whose pods come and go, in several namespaces.

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/feed.h"

namespace tidemark::testing {

inline LabelMap In(LabelMap labels, const std::string& name_space) {
  labels["namespace"] = name_space;
  return labels;
}

/// One request a minute from kT0 on: usage, owners, late and repeated samples, scrapes that failed,
/// now and then some hours of nothing. The same for the same arguments.
inline std::vector<std::vector<FeedSeries>> Traffic(uint32_t seed, int minutes) {
  std::mt19937 random(seed);
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  std::vector<std::vector<FeedSeries>> requests;
  std::vector<double> spent(12, 100);
  std::vector<int> generation(12, 0);
  for (int minute = 0; minute < minutes; ++minute) {
    const int64_t at = kT0 + minute * 60'000LL;
    std::vector<FeedSeries> request;
    for (size_t i = 0; i < spent.size(); ++i) {
      if (chance(10)) continue;
      if (chance(2)) {
        ++generation[i];
        spent[i] = 0;
      }
      const std::string name_space = "ns-" + std::to_string(i % 4);
      const std::string workload = "web-" + std::to_string(i % 3);
      const std::string set = workload + "-5c9f7b6d4";
      const std::string pod = set + "-" + std::to_string(i) + "x" + std::to_string(generation[i]);
      spent[i] += static_cast<double>(random() % 60);
      request.push_back({In(Cpu(pod), name_space), {{at, spent[i]}}});
      request.push_back(
          {In(Memory(pod), name_space), {{at, static_cast<double>(random() % 1'000'000'000)}}});
      if (minute % 5 == 0 || chance(5)) {
        request.push_back({PodOwner(pod, "ReplicaSet", set, name_space), {{at, 1}}});
        request.push_back({ReplicaSetOwner(set, "Deployment", workload, name_space), {{at, 1}}});
      }
      if (chance(3)) request.push_back({In(Cpu(pod), name_space), {{at - 120'000, 1}}});
      if (chance(3)) request.push_back(FeedSeries(request.back()));
    }
    if (chance(1) && minute > 10) minute += static_cast<int>(random() % 180);
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace tidemark::testing
