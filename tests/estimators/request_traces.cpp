#include "tests/estimators/request_traces.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/catch.h"

namespace tidemark::estimators {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

fs::path Folder() {
  if (const char* given = std::getenv("TIDEMARK_TRACES")) return fs::path(given) / "requests";
  return fs::path(TIDEMARK_TEST_DATA) / "../../../shared/traces/requests";
}

}  // namespace

std::optional<std::vector<UsageTrace>> ReadRequestTraces() {
  const fs::path folder = Folder();
  std::ifstream manifest(folder / "manifest.csv");
  if (!manifest) {
    std::printf("skipped: no request traces (TIDEMARK_TRACES)\n");
    return std::nullopt;
  }
  std::vector<UsageTrace> traces;
  std::map<std::string, int> of_group;
  std::string line;
  std::getline(manifest, line);
  while (std::getline(manifest, line)) {
    const auto fields = Fields(line);
    REQUIRE(fields.size() >= 5);
    UsageTrace trace{.name = fields[0], .group = fields[1], .is_real = fields[2] == "1"};
    REQUIRE(std::stoi(fields[3]) == kStepSeconds);
    trace.pods = static_cast<size_t>(std::stoi(fields[4]));
    trace.tuned_on = of_group[trace.group]++ % 2 == 0;
    std::ifstream rows(folder / fields[0]);
    REQUIRE(std::getline(rows, line));
    while (std::getline(rows, line)) {
      const auto row = Fields(line);
      REQUIRE(row.size() == 4);
      if (trace.cpu.empty()) trace.start_seconds = std::stoll(row[0]);
      trace.cpu.push_back(std::stod(row[2]));
      trace.memory.push_back(std::stod(row[3]));
    }
    REQUIRE(trace.cpu.size() % trace.pods == 0);
    traces.push_back(std::move(trace));
  }
  return traces;
}

Worth Judge(const std::vector<double>& use, size_t pods, const std::vector<double>& requests,
            size_t period) {
  Worth worth;
  double used = 0;
  double asked = 0;
  double depth = 0;
  size_t above = 0;
  size_t samples = 0;
  std::vector<bool> was_above(pods, false);
  const size_t steps = use.size() / pods;
  for (size_t step = kWarmUpSteps; step < steps; ++step) {
    const double request = requests[(step - kWarmUpSteps) / period];
    for (size_t pod = 0; pod < pods; ++pod) {
      const double usage = use[step * pods + pod];
      used += usage;
      asked += request;
      ++samples;
      const bool is_above = usage > request;
      if (is_above) {
        ++above;
        depth += (usage - request) / request;
        if (!was_above[pod]) ++worth.kills;
      }
      was_above[pod] = is_above;
    }
  }
  for (size_t i = 1; i < requests.size(); ++i) {
    if (std::abs(requests[i] / requests[i - 1] - 1) > 0.10) ++worth.changes;
  }
  worth.slack = asked / used - 1;
  worth.breach = static_cast<double>(above) / static_cast<double>(samples);
  worth.depth = above > 0 ? depth / static_cast<double>(above) : 0;
  worth.pod_days = static_cast<double>(samples) / (24 * kStepsAnHour);
  return worth;
}

Summary Mean(const std::vector<Worth>& all) {
  Summary mean;
  double kills = 0;
  double pod_days = 0;
  for (const Worth& worth : all) {
    mean.slack += worth.slack;
    mean.breach += worth.breach;
    mean.changes += worth.changes;
    kills += worth.kills;
    pod_days += worth.pod_days;
  }
  const auto count = static_cast<double>(all.size());
  mean.slack /= count;
  mean.breach /= count;
  mean.changes /= count;
  mean.kills_per_pod_day = kills / pod_days;
  return mean;
}

std::optional<Summary> CrossingOf(const std::vector<Summary>& curve, double Summary::*what,
                                  double target) {
  size_t last = curve.size();
  for (size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].*what > target) last = i;
  }
  if (last + 1 >= curve.size()) return std::nullopt;
  const Summary& from = curve[last];
  const Summary& to = curve[last + 1];
  const double part =
      std::log(from.*what / target) / std::log(from.*what / std::max(to.*what, 1e-9));
  const auto mix = [&](double Summary::*field) {
    return from.*field + part * (to.*field - from.*field);
  };
  return Summary{.slack = mix(&Summary::slack),
                 .breach = mix(&Summary::breach),
                 .changes = mix(&Summary::changes),
                 .kills_per_pod_day = mix(&Summary::kills_per_pod_day)};
}

}  // namespace tidemark::estimators
