// How often marks are passed: each hour of each trace is held against the marks of what came before
// it, which come from the very class that the daemon keeps. Prints the table of docs/high-water.md.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "estimators/high_water.h"
#include "tests/catch.h"
#include "tests/estimators/load_traces.h"

namespace tidemark::estimators {
namespace {

/// Of the observations of a trace that a mark was there for.
struct Passed {
  double plain = 0;   ///< share above the level of the rule alone
  double marked = 0;  ///< share above the mark
};

class Walk {
 public:
  explicit Walk(const LoadTrace& trace) : trace_(trace) {}

  /// Counts from the day `first_day` on.
  Passed Count(double risk, int first_day) {
    const auto per_hour = static_cast<size_t>(3600 / trace_.step_seconds);
    const size_t first = static_cast<size_t>(first_day) * 24 * per_hour;
    Passed passed;
    size_t counted = 0;
    std::optional<double> plain;
    std::optional<double> mark;
    for (size_t i = 0; i < trace_.values.size(); ++i) {
      const double value = trace_.values[i] * trace_.pods_per_unit;
      const bool refitted =
          track_.Add(trace_.seconds[i] / 60, value, &histogram_, FitChoice::kAuto);
      if (refitted) {
        const TailFit& tail = *track_.tail();
        const auto level = track_.LevelOf(risk, &histogram_, {});
        REQUIRE(level);
        mark = level->value;
        const bool from_tail = level->source == LevelSource::kTail;
        plain = from_tail ? tail.Level(risk) : level->value;
      }
      histogram_.Add(value, 0.1, Time(std::chrono::seconds(trace_.seconds[i])));
      if (i < first || !mark) continue;
      ++counted;
      passed.plain += value > *plain ? 1 : 0;
      passed.marked += value > *mark ? 1 : 0;
    }
    REQUIRE(counted > 1000);
    passed.plain /= static_cast<double>(counted);
    passed.marked /= static_cast<double>(counted);
    return passed;
  }

 private:
  const LoadTrace& trace_;
  HistogramOptions layout_ = HistogramOptions::Cpu();
  DecayingHistogram histogram_{&layout_, std::chrono::hours(24), Precision::kCompact};
  HighWaterTrack track_;
};

TEST_CASE("marks are passed as often as they say, within a factor of three, in each class of load",
          "[estimators][high_water][traces]") {
  const std::vector<LoadTrace> traces = ReadTraces();
  if (traces.empty()) {
    WARN("skipped: no traces, neither in TIDEMARK_TRACES nor beside the source tree");
    return;
  }
  std::printf(
      "| class | traces | history | risk | rule alone | mark |\n|---|---|---|---|---|---|\n");
  for (const int first_day : {1, 2}) {
    for (const double risk : {1e-2, 1e-3}) {
      std::map<std::string, std::pair<Passed, int>> classes;
      for (const LoadTrace& trace : traces) {
        const Passed passed = Walk(trace).Count(risk, first_day);
        auto& [sum, count] = classes[trace.kind];
        sum.plain += passed.plain;
        sum.marked += passed.marked;
        ++count;
        INFO(trace.file << " " << passed.marked);
      }
      for (const auto& [kind, entry] : classes) {
        const auto& [sum, count] = entry;
        const double marked = sum.marked / count;
        std::printf("| %s | %d | from day %d | %g | %.2g | %.2g |\n", kind.c_str(), count,
                    first_day + 1, risk, sum.plain / count, marked);
        INFO(kind << ", from day " << first_day + 1 << ", risk " << risk << ": " << marked);
        CHECK(marked <= 3 * risk);
        CHECK(marked >= risk / 3);
      }
    }
  }
}

TEST_CASE("marks of a trace rise with falling risk, and are not above three times what was seen",
          "[estimators][high_water][traces]") {
  for (const LoadTrace& trace : ReadTraces()) {
    INFO(trace.file);
    HighWaterTrack track;
    for (size_t i = 0; i < trace.values.size(); ++i) {
      track.Add(trace.seconds[i] / 60, trace.values[i], nullptr, FitChoice::kAuto);
    }
    REQUIRE(track.tail());
    double before = 0;
    for (const double risk : {0.4, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-6}) {
      const auto level = track.LevelOf(risk, nullptr, {});
      REQUIRE(level);
      CHECK(level->value >= before);
      CHECK(level->value <= 3 * track.window().Largest());
      before = level->value;
    }
  }
}

}  // namespace
}  // namespace tidemark::estimators
