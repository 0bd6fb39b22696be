#pragma once
// Two rules that need no estimator, to compare with.

#include <memory>

#include "cmd/replay_requests/policy.h"

namespace tidemark::replay_requests {

/// As Robusta's Kubernetes Resource Recommender by default (its "simple" strategy, 14 days): of CPU
/// `cpu_percentile` of each pod's samples, linear between order statistics, the largest over the
/// pods; of memory the maximum and 15 % more. No floors.
std::unique_ptr<Policy> MakeKrrPolicy(double cpu_percentile);
inline constexpr double kKrrCpuPercentile = 0.95;

/// The most that was ever used.
std::unique_ptr<Policy> MakeMaxPolicy();

/// The quantile `p` (0 to 1) of `samples`, linear between order statistics (Hyndman and Fan, Sample
/// Quantiles in Statistical Packages, 1996: type 7). Changes their order; they must not be empty.
double LinearQuantile(std::span<double> samples, double p);

}  // namespace tidemark::replay_requests
