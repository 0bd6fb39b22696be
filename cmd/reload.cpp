#include "cmd/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cmd/text.h"
#include "model/log.h"

namespace tidemark::cmd {
namespace {

/// What an editor that empties a file before it writes it leaves for a moment: without this it
/// would put the defaults in force.
bool IsEmptied(const std::string& path) {
  std::error_code error;
  return std::filesystem::file_size(path, error) == 0 && !error;
}

}  // namespace

ConfigInForce::ConfigInForce(std::string path, Config config, const Clock& clock,
                             std::function<void(ProfileSetPtr)> apply, ApplyForecast apply_forecast,
                             ApplyScaling apply_scaling)
    : path_(std::move(path)),
      clock_(clock),
      apply_(std::move(apply)),
      apply_forecast_(std::move(apply_forecast)),
      apply_scaling_(std::move(apply_scaling)),
      vpa_metrics_(config.vpa_metrics),
      last_success_ms_(ToUnixMs(clock.Now())),
      config_(std::move(config)),
      yaml_(std::make_shared<const std::string>(DumpConfig(config_))),
      prices_(config_.prices),
      profiles_(config_.engine.profiles),
      rightsizing_(config_.rightsizing),
      freshness_(config_.freshness) {}

Result<void> ConfigInForce::Reload() {
  const std::lock_guard lock(reloading_);
  Result<void> outcome;
  if (!path_.empty()) {
    auto loaded = LoadConfig(path_);
    outcome = loaded ? TakeOver(*std::move(loaded)) : tl::unexpected(loaded.error());
  }
  if (outcome) last_success_ms_ = ToUnixMs(clock_.Now());
  last_successful_ = outcome.has_value();
  Tell(outcome);
  return outcome;
}

Result<void> ConfigInForce::TakeOver(Config config) {
  const std::vector<std::string> differing = DifferingSections(config_, config);
  const auto changed = [&differing](std::string_view section) {
    return std::ranges::find(differing, section) != differing.end();
  };
  if (!differing.empty() && IsEmptied(path_)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: the file is empty, allowed in a reload: what is to be in force, {{}} "
                    "for the defaults",
                    path_));
  }
  std::vector<std::string_view> reloadable = {"estimation", "profiles", "rightsizing",
                                              "kubernetes", "compat",   "prices"};
  if (apply_forecast_) reloadable.emplace_back("forecast");
  if (apply_scaling_) reloadable.emplace_back("scaling");
  std::vector<std::string_view> fixed;
  for (const std::string& section : differing) {
    if (std::ranges::find(reloadable, section) == reloadable.end()) fixed.push_back(section);
  }
  if (!fixed.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}: changed, which needs a restart, and nothing was applied; "
                            "allowed in a reload: changes of {}",
                            path_, Join(fixed), Join(reloadable)));
  }
  // Profiles that say the same are left alone: what refers to them need not be made anew.
  if (changed("estimation") || changed("profiles")) {
    apply_(config.engine.profiles);
  } else {
    config.engine.profiles = config_.engine.profiles;
  }
  if (changed("forecast")) {
    apply_forecast_(config.engine.forecast);
  } else {
    config.engine.forecast = config_.engine.forecast;
  }
  if (changed("scaling")) {
    apply_scaling_(config.engine.scaling);
  } else {
    config.engine.scaling = config_.engine.scaling;
  }
  vpa_metrics_ = config.vpa_metrics;
  config_ = std::move(config);
  auto yaml = std::make_shared<const std::string>(DumpConfig(config_));
  {
    const std::lock_guard lock(mutex_);
    yaml_ = std::move(yaml);
    prices_ = config_.prices;
    profiles_ = config_.engine.profiles;
    rightsizing_ = config_.rightsizing;
    freshness_ = config_.freshness;
  }
  return {};
}

/// A peer can ask for reloads without end: what is said again is said once a minute.
void ConfigInForce::Tell(const Result<void>& outcome) {
  const std::string error = outcome ? std::string() : outcome.error().message;
  const bool repeated = std::exchange(last_error_, error) == error;
  if (outcome) {
    const std::string file = path_.empty() ? "built-in" : path_;
    LogOncePerMinute("config_reload", LogLevel::kInfo, "the configuration was read again",
                     {{"config", file}});
    return;
  }
  constexpr std::string_view kRefused =
      "the configuration is not taken over; what was in force stays in force";
  if (repeated) {
    LogOncePerMinute("config_reload_refused", LogLevel::kError, kRefused, {{"err", error}});
  } else {
    Log(LogLevel::kError, kRefused, {{"err", error}});
  }
}

std::string ConfigInForce::Yaml() const {
  const std::lock_guard lock(mutex_);
  return *yaml_;
}

Prices ConfigInForce::prices() const {
  const std::lock_guard lock(mutex_);
  return prices_;
}

ProfileSetPtr ConfigInForce::profiles() const {
  const std::lock_guard lock(mutex_);
  return profiles_;
}

RightsizingSettingsPtr ConfigInForce::rightsizing() const {
  const std::lock_guard lock(mutex_);
  return rightsizing_;
}

kubernetes::Freshness ConfigInForce::freshness() const {
  const std::lock_guard lock(mutex_);
  return freshness_;
}

}  // namespace tidemark::cmd
