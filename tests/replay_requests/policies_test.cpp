// The plain rules, and presets through the daemon's code.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "cmd/config.h"
#include "cmd/replay_requests/equal_risk.h"
#include "cmd/replay_requests/evaluation.h"
#include "cmd/replay_requests/plain_policies.h"
#include "cmd/replay_requests/preset.h"
#include "tests/catch.h"
#include "tests/replay_requests/replay_fixture.h"

namespace tidemark::replay_requests {
namespace {

constexpr double kMiB = 1024.0 * 1024;

/// What the policy says after it has seen the whole trace.
Requests AskAfter(Policy& policy, const Trace& trace) {
  for (size_t step = 0; step < trace.steps; ++step) policy.See(trace, step);
  return policy.Ask(trace.TimeOf(trace.steps));
}

ReplayPreset PresetNamed(std::string_view name, const ProfileSetPtr& config = nullptr,
                         bool as_published = false) {
  const auto presets = ParsePresets(name, config, as_published);
  INFO((presets ? "" : presets.error().message));
  REQUIRE(presets);
  return presets->front();
}

ProfileSetPtr ConfigOf(std::string_view yaml) {
  const auto config = cmd::ParseConfig(yaml, "test");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return config->engine.profiles;
}

/// Two days at 0.2 cores and 300 MiB.
Trace Steady() {
  const size_t steps = 2 * 24 * 12;
  return TraceOf(
      {Pod("a", std::vector<double>(steps, 0.2), std::vector<double>(steps, 300 * kMiB))});
}

}  // namespace

TEST_CASE("A quantile is linear between order statistics", "[replay]") {
  std::array samples = {4.0, 1.0, 3.0, 2.0};
  CHECK(LinearQuantile(samples, 0) == Approx(1));
  CHECK(LinearQuantile(samples, 0.5) == Approx(2.5));
  CHECK(LinearQuantile(samples, 0.95) == Approx(3.85));
  CHECK(LinearQuantile(samples, 1) == Approx(4));
  std::array one = {7.0};
  CHECK(LinearQuantile(one, 0.95) == Approx(7));
}

TEST_CASE("krr takes the largest of the pods' percentiles, and the maximum and 15 % of memory",
          "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 2, 3}, {10, 40, 10}), Pod("b", {5, kAbsent, 1})});
  const auto policy = MakeKrrPolicy(0.5);
  const Requests said = AskAfter(*policy, trace);
  CHECK(said[0].value() == Approx(3));
  CHECK(said[1].value() == Approx(46));
}

TEST_CASE("krr forgets after 14 days, the maximum never", "[replay]") {
  std::vector<double> samples(15 * 24, 1.0);
  samples[0] = 9;
  const Trace trace = TraceOf({Pod("a", samples)}, kHour);
  const auto krr = MakeKrrPolicy(1);
  const auto max = MakeMaxPolicy();
  const Requests by_krr = AskAfter(*krr, trace);
  CHECK(by_krr[0].value() == Approx(1));
  CHECK(by_krr[1].value() == Approx(1.15));
  const Requests by_max = AskAfter(*max, trace);
  CHECK(by_max[0].value() == Approx(9));
  CHECK(by_max[1].value() == Approx(9));
}

TEST_CASE("Who has seen nothing says nothing", "[replay]") {
  const Trace trace = TraceOf({Pod("a", {kAbsent, kAbsent})});
  for (const char* const name : {"krr", "max", "oversell", "tidemark"}) {
    CAPTURE(name);
    const auto policy = MakePolicy(PresetNamed(name), trace);
    const Requests said = AskAfter(*policy, trace);
    CHECK_FALSE(said[0].has_value());
    CHECK_FALSE(said[1].has_value());
  }
}

TEST_CASE("Presets answer what the daemon recommends", "[replay]") {
  const Trace trace = Steady();
  // The bucket of 0.2 cores ends at 0.2157856: 215m, and 15 % of that are 32m.
  const auto vpa = MakePolicy(PresetNamed("vpa"), trace);
  const Requests said = AskAfter(*vpa, trace);
  CHECK(said[0].value() == Approx(0.247));
  // No margin.
  const auto oversell = MakePolicy(PresetNamed("oversell"), trace);
  CHECK(AskAfter(*oversell, trace)[0].value() == Approx(0.215));
  // As published, before the amount is whole.
  const auto exact = MakePolicy(PresetNamed("oversell", nullptr, true), trace);
  const double model = AskAfter(*exact, trace)[0].value();
  CHECK(model == Approx(0.2157856359).epsilon(1e-9));
}

TEST_CASE("Preset vpa has its minimum unless it is as published", "[replay]") {
  const size_t steps = 24 * 12;
  const Trace tiny =
      TraceOf({Pod("a", std::vector<double>(steps, 0.001), std::vector<double>(steps, kMiB))});
  const Requests said = AskAfter(*MakePolicy(PresetNamed("vpa"), tiny), tiny);
  CHECK(said[0].value() == Approx(0.025));
  CHECK(said[1].value() == Approx(250 * kMiB));
  const auto published = MakePolicy(PresetNamed("vpa", nullptr, true), tiny);
  CHECK(AskAfter(*published, tiny)[0].value() == Approx(0.011));
}

TEST_CASE("A kill raises the next request of memory", "[replay]") {
  const Trace trace = Steady();
  for (const bool as_published : {false, true}) {
    CAPTURE(as_published);
    const auto policy = MakePolicy(PresetNamed("vpa", nullptr, as_published), trace);
    const Requests before = AskAfter(*policy, trace);
    policy->SeeKill(0, trace.TimeOf(trace.steps - 1), 800 * kMiB);
    const Requests after = policy->Ask(trace.TimeOf(trace.steps));
    CHECK(before[1].value() < 500 * kMiB);
    CHECK(after[1].value() > 960 * kMiB);  // 800 MiB x 1.2
    CHECK(after[0] == before[0]);
  }
}

TEST_CASE("The user's profile is the one for the trace's name", "[replay]") {
  const ProfileSetPtr config = ConfigOf(
      "profiles:\n"
      "  - name: other\n    selector: '{workload=\"other\"}'\n    cpu: {margin: 3}\n"
      "  - name: mine\n    selector: '{workload=\"trace\"}'\n    preset: oversell\n"
      "    cpu: {expansion: 2}\n");
  const Trace trace = Steady();
  const auto policy = MakePolicy(PresetNamed("config", config), trace);
  CHECK(AskAfter(*policy, trace)[0].value() == Approx(0.43));
}

TEST_CASE("A profile of level pod has its sum in a replay, too", "[replay]") {
  const ProfileSetPtr by_pod = ConfigOf("estimation: {preset: oversell, level: pod}\n");
  const Trace trace = Steady();
  const auto policy = MakePolicy(PresetNamed("config", by_pod), trace);
  CHECK(AskAfter(*policy, trace)[0].value() == Approx(0.215));
}

TEST_CASE("Weights by request take the owner's size", "[replay]") {
  Trace trace = Steady();
  trace.original[0] = 4;
  const auto policy = MakePolicy(PresetNamed("oversell"), trace);
  CHECK(AskAfter(*policy, trace)[0].value() == Approx(0.215));
}

TEST_CASE("Names of presets are checked", "[replay]") {
  const auto wrong = [](std::string_view text) {
    const auto presets = ParsePresets(text, nullptr, false);
    REQUIRE_FALSE(presets);
    return presets.error().message;
  };
  CHECK(wrong("vpa,overssell") ==
        "overssell is no preset (did you mean oversell?), allowed: vpa, oversell, tidemark, krr, "
        "max, config");
  CHECK(wrong("") == "\"\" is no preset, allowed: vpa, oversell, tidemark, krr, max, config");
  CHECK(wrong("vpa,vpa") == "vpa stands here twice, allowed: once");
  CHECK(wrong("config") == "config needs profiles, allowed: with --config.file=FILE");
}

TEST_CASE("Each knob turns from careless to careful", "[replay]") {
  // Use that rises and falls by the hour, so that percentiles differ.
  std::vector<double> use(4 * 24 * 12);
  for (size_t i = 0; i < use.size(); ++i) use[i] = 0.1 + 0.05 * static_cast<double>(i / 12 % 12);
  const Trace trace = TraceOf({Pod("a", use)});
  const std::vector<const Trace*> traces = {&trace};
  const ReplayTimes times{};
  for (const char* const name : {"vpa", "oversell", "krr", "max"}) {
    CAPTURE(name);
    const ReplayPreset preset = PresetNamed(name);
    size_t done = 0;
    const auto points = TurnAll(preset, Resource::kCpu, traces, times, [&] { ++done; });
    REQUIRE(points.size() == SettingsOf(KnobOf(preset, Resource::kCpu)).size());
    CHECK(done == points.size());
    CHECK(std::ranges::is_sorted(points, {}, &KnobPoint::slack_mean));
    CHECK(points.front().risk > points.back().risk);
  }
}

TEST_CASE("Equal risk is read where the risk falls below the target for good", "[replay]") {
  const auto point = [](double setting, double risk, double slack) {
    return KnobPoint{.setting = setting, .risk = risk, .slack_mean = slack};
  };
  const std::vector<KnobPoint> points = {point(1, 0.1, 1), point(2, 0.005, 2), point(3, 0.1, 3),
                                         point(4, 0.001, 4), point(5, 0, 5)};
  // Half-way in the logarithm; the dip at 2 is none.
  CHECK(ReadAt(points, 0.01)->slack_mean == Approx(3.5));
  CHECK(ReadAt(points, 0.01)->setting == Approx(3.5));
  CHECK(ReadAt(points, 0.01)->risk == Approx(0.01));
  CHECK(ReadAt(points, 0.2)->slack_mean == Approx(1));  // never above
  CHECK(ReadAt(points, 1e-4)->slack_mean == Approx(5));
  CHECK_FALSE(ReadAt(std::span(points).first(3), 0.01).has_value());  // never reached
  CHECK_FALSE(ReadAt({}, 0.01).has_value());
}

}  // namespace tidemark::replay_requests
