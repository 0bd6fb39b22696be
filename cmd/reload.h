#pragma once
// The configuration in force, and reading its file again while the daemon runs.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "cmd/config.h"
#include "kubernetes/settings.h"
#include "model/clock.h"
#include "model/forecast.h"
#include "model/prices.h"
#include "model/profile.h"
#include "model/result.h"
#include "model/rightsizing.h"
#include "model/scaling.h"

namespace tidemark::cmd {

/// Thread-safe.
class ConfigInForce {
 public:
  using ApplyForecast = std::function<void(ForecastSettingsPtr)>;
  using ApplyScaling = std::function<void(ScalingSettingsPtr)>;

  /// `path`: where `config` was read from; empty: it is built in. `apply` puts new profiles into
  /// force, `apply_forecast` other forecasts and `apply_scaling` other rules of scaling (empty:
  /// they cannot change while the daemon runs); they are called for one reload at a time and must
  /// not fail. The clock must outlive this.
  ConfigInForce(std::string path, Config config, const Clock& clock,
                std::function<void(ProfileSetPtr)> apply, ApplyForecast apply_forecast = nullptr,
                ApplyScaling apply_scaling = nullptr);

  /// Reads the file again, and has what changed take effect, all of it or nothing: `estimation`,
  /// `profiles`, `forecast`, `scaling`, `rightsizing`, `kubernetes`, `compat`, `prices`. Any other
  /// change is an error (kInvalidArgument), as is whatever is wrong with the file (as LoadConfig);
  /// then all stays as it was. One at a time, others wait. Logs what came of it.
  Result<void> Reload();

  /// As DumpConfig.
  std::string Yaml() const;
  bool vpa_metrics() const { return vpa_metrics_.load(); }
  Prices prices() const;
  ProfileSetPtr profiles() const;
  RightsizingSettingsPtr rightsizing() const;
  kubernetes::Freshness freshness() const;

  /// Whether the last reload took effect; true before the first.
  bool last_reload_successful() const { return last_successful_.load(); }
  /// When the file was last read well, Unix time in milliseconds.
  int64_t last_success_ms() const { return last_success_ms_.load(); }

 private:
  Result<void> TakeOver(Config config);
  void Tell(const Result<void>& outcome);

  const std::string path_;
  const Clock& clock_;
  const std::function<void(ProfileSetPtr)> apply_;
  const ApplyForecast apply_forecast_;
  const ApplyScaling apply_scaling_;
  std::atomic<bool> vpa_metrics_;
  std::atomic<bool> last_successful_{true};
  std::atomic<int64_t> last_success_ms_;

  std::mutex reloading_;  // guards the two below
  Config config_;
  std::string last_error_;

  mutable std::mutex mutex_;  // guards what is below
  std::shared_ptr<const std::string> yaml_;
  Prices prices_;
  ProfileSetPtr profiles_;
  RightsizingSettingsPtr rightsizing_;
  kubernetes::Freshness freshness_;
};

}  // namespace tidemark::cmd
