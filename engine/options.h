#pragma once
// Settings of the engine, from the configuration (`estimation:`, `profiles:`, `forecast:`,
// `scaling:`, `limits:`) and the flags.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/forecast.h"
#include "model/profile.h"
#include "model/scaling.h"

namespace tidemark::engine {

struct Options {
  /// How requests are estimated; never null.
  ProfileSetPtr profiles = std::make_shared<const ProfileSet>();
  /// What is forecast, and how; never null. Resources are those of the profiles.
  ForecastSettingsPtr forecast = std::make_shared<const ForecastSettings>();
  /// How replicas are decided; never null. Bases are in the unit of the forecast's resource.
  ScalingSettingsPtr scaling = std::make_shared<const ScalingSettings>();
  size_t shards = 0;               ///< 0: one per core
  size_t queue_batches = 256;      ///< per shard; a full queue refuses with 503
  int64_t max_series = 5'000'000;  ///< of all shards; new series beyond it are refused
  int64_t eval_interval_ms = 15'000;
  int64_t checkpoint_interval_ms = 5 * 60 * 1000LL;
  /// A sample older than the newest of its series is refused (400) instead of ignored (204), both
  /// counted as late.
  bool refuse_late = false;
};

}  // namespace tidemark::engine
