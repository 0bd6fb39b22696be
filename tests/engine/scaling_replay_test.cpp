// The same demand through the daemon's own path and through a replay: every decision is the same.
//
// Replicas are those that the replay came to, for the loop is closed there; each policy scales a
// workload of its own. One thing is different by design: live, the first decision takes the present
// replicas for what was recommended before, since nobody knows whether fewer would do.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "engine/request_history.h"
#include "forecast/forecaster.h"
#include "scaling/replay.h"
#include "scaling/replay_forecasts.h"
#include "tests/engine/feed.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kFirst = kT0 / kMinute;
constexpr int kMinutes = 2 * 1440;
constexpr double kRequest = 2;  // cores of one pod
constexpr ReplicaBounds kBounds{.min = 1, .max = 50};

const std::vector<ScalingPolicy> kPolicies = {ScalingPolicy::kHpa, ScalingPolicy::kDebi,
                                              ScalingPolicy::kTidemark};

/// Two days with a swing, noise and a few steps, in cores. Multiples of 1/1024: whatever is summed
/// and divided on its way through counters stays as it is.
scaling::ReplayDemand TwoDays() {
  INFO("seed " << Seed());
  std::mt19937 random(Seed());
  std::uniform_real_distribution<double> noise(-1, 1);
  scaling::ReplayDemand demand{.first = kFirst, .values = {}};
  for (int i = 0; i < kMinutes; ++i) {
    const double swing = 1 + 0.7 * std::sin(2 * 3.14159265358979 * i / 1440);
    const double step = i % 360 > 330 ? 8 : 0;
    const double cores = std::max(0.0, 20 * swing + step + 3 * noise(random));
    demand.values.push_back(std::round(cores * 1024) / 1024);
  }
  return demand;
}

std::vector<scaling::ReplayedPolicy> Replayed(const scaling::ReplayDemand& demand,
                                              const ForecastRule& rule) {
  std::vector<PolicySettings> policies;
  policies.reserve(kPolicies.size());
  for (const ScalingPolicy policy : kPolicies) policies.push_back(UsualSettings(policy));
  scaling::TrackForecasts forecasts({.rule = rule, .settings = {}});
  const auto replayed =
      scaling::Replay(demand, policies,
                      {.warm_up_minutes = 0,
                       .startup_minutes = static_cast<int32_t>(kUsualStartupMs / kMinute),
                       .base = kRequest,
                       .bounds = kBounds,
                       .keep_minutes = true},
                      forecasts);
  REQUIRE(replayed);
  return *replayed;
}

/// How often policies moved, and by what: so that no equality is one of nothing.
struct Seen {
  int decisions = 0;
  int changes = 0;
  int predictive = 0;
  int with_forecast = 0;
};

void CheckSame(const scaling::ReplayedPolicy& replayed, size_t at,
               const std::optional<ReplicaDecision>& live, Seen& seen) {
  const scaling::ReplayedMinute& minute = replayed.outcome.minutes_kept[at];
  REQUIRE(minute.decision);
  const ReplicaDecision& expected = *minute.decision;
  INFO(ToString(replayed.settings.policy) << ", minute " << at);
  REQUIRE(live);
  REQUIRE(live->recommended == expected.recommended);
  REQUIRE(live->mode == expected.mode);
  REQUIRE(live->load_ratio == expected.load_ratio);
  REQUIRE(live->forecast_load_ratio == expected.forecast_load_ratio);
  REQUIRE(live->high_water_load_ratio == expected.high_water_load_ratio);
  REQUIRE(live->target_utilization_ratio == expected.target_utilization_ratio);
  if (at < static_cast<size_t>(replayed.settings.window_minutes)) {
    REQUIRE(live->target >= expected.target);
  } else {
    REQUIRE(live->target == expected.target);
    REQUIRE(live->reason == expected.reason);
  }
  ++seen.decisions;
  seen.changes += live->target != minute.replicas ? 1 : 0;
  seen.predictive += live->mode == ScalingMode::kPredictive ? 1 : 0;
  seen.with_forecast += live->forecast_load_ratio ? 1 : 0;
}

ScalingSettingsPtr OnePolicyEach() {
  ScalingSettings settings;
  for (const ScalingPolicy policy : kPolicies) {
    ScalingRule& rule = settings.rules.emplace_back();
    rule.selector = *Selector::Parse("{workload=\"" + std::string(ToString(policy)) + "\"}");
    rule.policy = UsualSettings(policy);
  }
  return std::make_shared<const ScalingSettings>(std::move(settings));
}

/// What a trainer does beside a daemon, at once.
void FitWhatIsDue(engine::RequestHistory& history, uint32_t container, int64_t minute) {
  const forecast::ForecastTrack& track = *history.demand().TrackOf(container);
  for (const forecast::DueFit& due : track.Due(minute)) {
    const auto model = forecast::MakeForecaster(due.model, track.horizons());
    const std::string before = track.Weights(due.model);
    if (!before.empty()) {
      ByteReader in(before);
      REQUIRE(model->Restore(in));
    }
    const forecast::DemandSeries series = track.Series();
    const auto report = model->Fit(series, {.seed = 0});
    REQUIRE(report);
    std::string weights;
    ByteWriter out(weights);
    model->Save(out);
    REQUIRE(history.demand().Activate(container, {.model = due.model,
                                                  .weights = weights,
                                                  .trained_minute = series.end() - 1,
                                                  .seconds = 0,
                                                  .report = *report}));
  }
}

/// A Deployment of that name in one namespace; all of its usage stands in its first pod, the others
/// are there to be ready or not.
void PutMinute(std::vector<FeedSeries>& request, const std::string& name, int64_t at, double spent,
               int32_t replicas, int32_t ready) {
  const std::string pod = name + "-5c9-a";
  const auto put = [&](LabelMap labels, double value) {
    request.push_back({std::move(labels), {{at, value}}});
  };
  put(ReplicaSetOwner(name + "-5c9", "Deployment", name), 1);
  put(PodOwner(pod, "ReplicaSet", name + "-5c9"), 1);
  put(Request(pod, "cpu"), kRequest);
  put(Cpu(pod), spent);
  put(Named("kube_deployment_spec_replicas", {{"namespace", "shop"}, {"deployment", name}}),
      replicas);
  const LabelMap hpa = {{"namespace", "shop"}, {"horizontalpodautoscaler", name}};
  LabelMap target = hpa;
  target.insert({{"scaletargetref_kind", "Deployment"}, {"scaletargetref_name", name}});
  put(Named("kube_horizontalpodautoscaler_info", target), 1);
  put(Named("kube_horizontalpodautoscaler_spec_min_replicas", hpa), kBounds.min);
  put(Named("kube_horizontalpodautoscaler_spec_max_replicas", hpa), kBounds.max);
  for (int32_t i = 0; i < kBounds.max; ++i) {
    const std::string each = i == 0 ? pod : name + "-5c9-" + std::to_string(i);
    const bool is_new = at == kFirst * kMinute;
    if (is_new && i > 0) put(PodOwner(each, "ReplicaSet", name + "-5c9"), 1);
    put(Named("kube_pod_status_ready",
              {{"namespace", "shop"}, {"pod", each}, {"condition", "true"}}),
        i < ready ? 1 : 0);
  }
}

}  // namespace

TEST_CASE("Live and replay decide alike, with models that are fitted on the way",
          "[scaling][replay]") {
  scaling::ReplayDemand demand = TwoDays();
  // Minutes that never come, fewer than any window has.
  for (const size_t gap : {500, 501, 1700, 2222}) demand.values[gap] = std::nan("");
  const auto replayed = Replayed(demand, {});
  engine::RequestHistory history(std::make_shared<const ProfileSet>(),
                                 std::make_shared<const ForecastSettings>(), nullptr,
                                 engine::DemandTracks::Keeps::kAll, OnePolicyEach());
  for (uint32_t i = 0; i < kPolicies.size(); ++i) {
    const WorkloadId workload{"", "shop", "deployment", std::string(ToString(kPolicies[i]))};
    history.ContainerIs(i,
                        {.workload = workload, .container = workloads::kDemand, .pod_labels = {}});
  }
  std::vector<Seen> seen(kPolicies.size());
  for (size_t at = 0; at < demand.values.size(); ++at) {
    if (std::isnan(demand.values[at])) continue;
    const int64_t minute = kFirst + static_cast<int64_t>(at);
    for (uint32_t i = 0; i < kPolicies.size(); ++i) {
      const scaling::ReplayedMinute& then = replayed[i].outcome.minutes_kept[at];
      history.AddDemand(i, Resource::kCpu,
                        {.start_ms = minute * kMinute, .demand = demand.values[at], .pods = 1},
                        {.replicas = then.replicas,
                         .request = kRequest,
                         .min_replicas = kBounds.min,
                         .max_replicas = kBounds.max,
                         .ready_pods = static_cast<uint32_t>(then.ready)});
      const auto now = history.scaling().Now(i, (minute + 1) * kMinute);
      REQUIRE(now);
      CheckSame(replayed[i], at, now->decision, seen[i]);
      FitWhatIsDue(history, i, minute);
    }
  }
  for (size_t i = 0; i < kPolicies.size(); ++i) {
    INFO(ToString(kPolicies[i]));
    CHECK(seen[i].decisions == kMinutes - 4);
    CHECK(seen[i].changes > 100);
    if (kPolicies[i] == ScalingPolicy::kHpa) continue;
    CHECK(seen[i].with_forecast > kMinutes / 2);
    CHECK(seen[i].predictive > 100);
  }
}

TEST_CASE("An engine that is sent the series decides as the replay does", "[scaling][replay]") {
  const scaling::ReplayDemand demand = TwoDays();
  // No model that has to be fitted: when a fit comes back is not the stream's to say.
  ForecastRule rule;
  rule.models = {ForecastModel::kLastValue, ForecastModel::kDayRise, ForecastModel::kSeasonalDay};
  const auto replayed = Replayed(demand, rule);
  ForecastSettings forecast;
  forecast.rules = {rule};
  engine::Options options = Bench::Plain();
  options.forecast = std::make_shared<const ForecastSettings>(std::move(forecast));
  options.scaling = OnePolicyEach();
  Bench bench(options);
  std::vector<Seen> seen(kPolicies.size());
  double spent = 0;
  for (size_t i = 0; i <= demand.values.size(); ++i) {
    // What is said at the end of a minute holds for it.
    const size_t at = i == 0 ? 0 : i - 1;
    if (i > 0) spent += 60 * demand.values[at];
    std::vector<FeedSeries> request;
    for (const scaling::ReplayedPolicy& policy : replayed) {
      PutMinute(request, std::string(ToString(policy.settings.policy)),
                (kFirst + static_cast<int64_t>(i)) * kMinute, spent,
                policy.outcome.minutes_kept[at].replicas, policy.outcome.minutes_kept[at].ready);
    }
    bench.Put(request);
    if (i == 0) continue;
    size_t found = 0;
    for (const WorkloadAdvice& advice : bench.Workloads()) {
      for (size_t p = 0; p < kPolicies.size(); ++p) {
        if (advice.id.workload != ToString(kPolicies[p])) continue;
        REQUIRE(advice.scaling);
        INFO(advice.scaling->why);
        REQUIRE(advice.scaling->minute_ms == (kFirst + static_cast<int64_t>(at)) * kMinute);
        REQUIRE(advice.scaling->demand == demand.values[at]);
        REQUIRE(advice.scaling->ready_pods == replayed[p].outcome.minutes_kept[at].ready);
        CheckSame(replayed[p], at, advice.scaling->decision, seen[p]);
        ++found;
      }
    }
    REQUIRE(found == kPolicies.size());
  }
  for (const Seen& of : seen) {
    CHECK(of.decisions == kMinutes);
    CHECK(of.changes > 100);
  }
}
