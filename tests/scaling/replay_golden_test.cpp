// The replays of replay_baseline.json, count by count: the HPA at four targets and DEBI without a
// forecast, in both roundings, on every trace and with start-ups of one and two minutes.
#include <iostream>
#include <map>
#include <vector>

#include "scaling/replay.h"
#include "scaling/replay_forecasts.h"
#include "tests/catch.h"
#include "tests/scaling/golden_files.h"
#include "tests/scaling/trace_demand.h"

namespace tidemark::scaling {
namespace {

using Json = boost::json::value;

PolicySettings SettingsOf(const std::string& name) {
  if (name == "debi_reactive") return UsualSettings(ScalingPolicy::kDebiPaper);
  if (name == "debi_reactive_round_up") return UsualSettings(ScalingPolicy::kDebi);
  REQUIRE(name.substr(0, 3) == "hpa");
  PolicySettings settings = UsualSettings(ScalingPolicy::kHpa);
  settings.target_utilization_ratio = std::stod(name.substr(3)) / 100;
  return settings;
}

struct Replays {
  std::vector<PolicySettings> policies;
  std::vector<const Json*> expected;
};

void CheckReplays(const ReplayDemand& demand, int32_t startup, const Replays& replays) {
  NoForecasts forecasts;
  const auto replayed = Replay(demand, replays.policies, {.startup_minutes = startup}, forecasts);
  REQUIRE(replayed);
  for (size_t i = 0; i < replays.expected.size(); ++i) {
    const Json& expected = *replays.expected[i];
    INFO(expected);
    const ReplayOutcome& outcome = (*replayed)[i].outcome;
    const auto count = [&](const char* field) { return expected.at(field).to_number<uint64_t>(); };
    CHECK(outcome.minutes == count("minutes"));
    CHECK(outcome.pod_minutes == count("pod_minutes"));
    CHECK(outcome.minutes_over_100 == count("minutes_over_100"));
    CHECK(outcome.minutes_over_90 == count("minutes_over_90"));
    CHECK(outcome.scale_events == count("scale_events"));
    CHECK(outcome.UtilizationRatio() ==
          Approx(expected.at("utilization").to_number<double>()).epsilon(1e-12));
    CHECK(outcome.UnservedRatio() ==
          Approx(expected.at("unserved_fraction").to_number<double>()).epsilon(1e-9));
  }
}

TEST_CASE("Replays have the counts of the reference", "[scaling][golden][traces]") {
  const auto traces = estimators::ReadTraces();
  if (traces.empty()) {
    std::cout << "skipped: no traces\n";
    return;
  }
  const Json golden = ReadGolden("replay_baseline.json");
  std::map<std::pair<std::string, int32_t>, Replays> by_run;
  for (const Json& entry : golden.as_array()) {
    Replays& run = by_run[{std::string(entry.at("trace").as_string()),
                           entry.at("startup_minutes").to_number<int32_t>()}];
    run.policies.push_back(SettingsOf(std::string(entry.at("policy").as_string())));
    run.expected.push_back(&entry);
  }
  size_t compared = 0;
  for (const estimators::LoadTrace& trace : traces) {
    const ReplayDemand demand = MinutesOf(trace);
    for (const auto& [run, replays] : by_run) {
      if (run.first != trace.file) continue;
      CheckReplays(demand, run.second, replays);
      compared += replays.expected.size();
    }
  }
  CHECK(compared == golden.as_array().size());
}

}  // namespace
}  // namespace tidemark::scaling
