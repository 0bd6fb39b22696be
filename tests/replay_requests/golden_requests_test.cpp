// The replay beside reference figures that were worked out independently (baseline.json): the
// policies among them that leave nothing open must agree to a relative 1e-6.

#include <boost/json/value.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmd/replay_requests/equal_risk.h"
#include "cmd/replay_requests/evaluation.h"
#include "cmd/replay_requests/preset.h"
#include "cmd/replay_requests/trace_files.h"
#include "tests/catch.h"
#include "tests/estimators/json_file.h"
#include "tests/replay_requests/shared_traces.h"

namespace tidemark::replay_requests {
namespace {

using Json = boost::json::value;

constexpr double kTolerance = 1e-6;
constexpr int64_t kHourMs = 60 * 60 * 1000;

struct Compared {
  std::string_view preset;
  std::string_view policy;  // in the file
};
constexpr Compared kCompared[] = {
    {"vpa", "b_vpa_nofloor"},
    {"oversell", "d_oversell"},
    {"krr", "e_krr"},
    {"max", "g_max_past"},
};

Json Baseline() {
  return estimators::ReadJsonFile(FolderOf("TIDEMARK_GOLDEN", TIDEMARK_TEST_DATA "/golden") +
                                  "/requests/baseline.json");
}

const Json* FindRow(const Json& setting, std::string_view workload, std::string_view policy) {
  for (const Json& row : setting.at("rows").as_array()) {
    if (row.at("workload").as_string() == workload && row.at("policy").as_string() == policy) {
      return &row;
    }
  }
  return nullptr;
}

double Number(const Json& value) { return value.to_number<double>(); }

void CheckClose(double actual, double expected) {
  CHECK(actual == Approx(expected).epsilon(kTolerance).margin(1e-12));
}

void CheckResource(const Outcome& outcome, const Json& expected) {
  CheckClose(outcome.Slack().value(), Number(expected.at("slack")));
  CheckClose(outcome.BreachRatio(), Number(expected.at("breach")));
  CheckClose(outcome.Depth(), Number(expected.at("depth")));
  CHECK(outcome.episodes == expected.at("episodes").to_number<uint64_t>());
  CHECK(outcome.changes == expected.at("changes").to_number<uint64_t>());
}

std::string WorkloadOf(const Trace& trace) {
  constexpr std::string_view kPrefix = "req_";
  return trace.name.starts_with(kPrefix) ? trace.name.substr(kPrefix.size()) : trace.name;
}

void CheckSetting(std::string_view name, int64_t interval_ms) {
  const std::vector<Trace> traces = SharedTraces();
  if (traces.empty()) return;
  const Json baseline = Baseline();
  const Json& setting = baseline.at("settings").at(name);
  const auto presets = ParsePresets("vpa,oversell,krr,max", nullptr, true);
  REQUIRE(presets);
  const ReplayTimes times{.interval_ms = interval_ms, .warm_up_ms = 48 * kHourMs};
  size_t compared = 0;
  for (const Trace& trace : traces) {
    for (size_t i = 0; i < presets->size(); ++i) {
      REQUIRE((*presets)[i].name == kCompared[i].preset);
      const Json* const expected = FindRow(setting, WorkloadOf(trace), kCompared[i].policy);
      CAPTURE(trace.name, kCompared[i].policy);
      REQUIRE(expected != nullptr);
      const auto policy = MakePolicy((*presets)[i], trace);
      const ByResource<Outcome> outcome = Evaluate(trace, *policy, times);
      CheckResource(outcome[0], expected->at("cpu"));
      CheckResource(outcome[1], expected->at("memory"));
      CheckClose(outcome[0].LastRequest().value(), Number(expected->at("last_cpu_cores")));
      CheckClose(outcome[0].MeanRequest().value(), Number(expected->at("mean_cpu_cores")));
      CheckClose(outcome[1].LastRequest().value(), Number(expected->at("last_memory_bytes")));
      CheckClose(outcome[1].MeanRequest().value(), Number(expected->at("mean_memory_bytes")));
      CheckClose(outcome[0].pod_days, Number(expected->at("pod_days")));
      ++compared;
    }
  }
  std::cout << name << ": " << compared << " replays compared\n";
  CHECK(compared == traces.size() * presets->size());
}

/// A preset, its line in the file's tables of equal risk, and what is asked there.
struct ComparedKnob {
  std::string_view preset;
  Resource resource;
  std::string_view table;
  std::string_view policy;
  std::vector<std::pair<std::string_view, double>> targets;
};

std::vector<ComparedKnob> Knobs() {
  const std::vector<std::pair<std::string_view, double>> breach = {
      {"2pct", 0.02}, {"1pct", 0.01}, {"0.5pct", 0.005}};
  const std::vector<std::pair<std::string_view, double>> kills = {
      {"0.1", 0.1}, {"0.05", 0.05}, {"0.02", 0.02}};
  constexpr std::string_view kCpu = "cpu_at_breach";
  constexpr std::string_view kMemory = "memory_at_kills_per_pod_day";
  return {{"vpa", Resource::kCpu, kCpu, "vpa_pct", breach},
          {"oversell", Resource::kCpu, kCpu, "oversell_pct", breach},
          {"krr", Resource::kCpu, kCpu, "krr_pct", breach},
          {"vpa", Resource::kMemory, kMemory, "vpa_oom", kills},
          {"oversell", Resource::kMemory, kMemory, "oversell_p99", kills},
          {"max", Resource::kMemory, kMemory, "max14d", kills}};
}

void CheckPoint(const std::optional<KnobPoint>& point, const Json& expected) {
  REQUIRE(point.has_value() == !expected.is_null());
  if (!point) return;
  CheckClose(point->slack_mean, Number(expected.at("slack_mean")));
  CheckClose(point->slack_median, Number(expected.at("slack_median")));
  CheckClose(point->bill, Number(expected.at("bill")));
  CheckClose(point->changes, Number(expected.at("changes")));
}

void CheckKnobs(std::string_view name, int64_t interval_ms) {
  const std::vector<Trace> traces = SharedTraces();
  if (traces.empty()) return;
  const Json baseline = Baseline();
  std::vector<const Trace*> real;
  for (const Trace& trace : traces) {
    if (trace.real) real.push_back(&trace);
  }
  const ReplayTimes times{.interval_ms = interval_ms, .warm_up_ms = 48 * kHourMs};
  for (const ComparedKnob& knob : Knobs()) {
    const auto preset = ParsePresets(knob.preset, nullptr, true);
    REQUIRE(preset);
    const auto points = TurnAll(preset->front(), knob.resource, real, times, [] {});
    for (const auto& [key, target] : knob.targets) {
      CAPTURE(name, knob.policy, key);
      CheckPoint(ReadAt(points, target),
                 baseline.at("own_knob").at(name).at(knob.table).at(knob.policy).at(key));
    }
  }
}

}  // namespace

TEST_CASE("Hourly requests cost and risk what the reference says", "[replay][golden]") {
  CheckSetting("hourly", kHourMs);
}

TEST_CASE("Daily requests cost and risk what the reference says", "[replay][golden]") {
  CheckSetting("daily", 24 * kHourMs);
}

TEST_CASE("At equal risk hourly requests cost what the reference says", "[replay][golden]") {
  CheckKnobs("hourly", kHourMs);
}

TEST_CASE("At equal risk daily requests cost what the reference says", "[replay][golden]") {
  CheckKnobs("daily", 24 * kHourMs);
}

}  // namespace tidemark::replay_requests
