// What forecasts are worth on the shared load traces: the figures of docs/forecast.md, and what
// must hold of them.
//
// All 14 traces; those with a step of five minutes are interpolated to minutes, as for the replays.
// The candidates are the usual ones, all linear; TIDEMARK_LONG=1 adds ARIMA, LSTM and BiLSTM, which
// takes minutes for each trace.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "forecast/backtest.h"
#include "tests/catch.h"
#include "tests/estimators/load_traces.h"

namespace tidemark::forecast {
namespace {

DemandSeries MinutesOf(const estimators::LoadTrace& trace) {
  DemandSeries series;
  series.first = trace.seconds.front() / 60;
  const int64_t steps = trace.step_seconds / 60;
  for (size_t i = 0; i + 1 < trace.values.size(); ++i) {
    for (int64_t step = 0; step < steps; ++step) {
      const double share = static_cast<double>(step) / static_cast<double>(steps);
      const double value = trace.values[i] + share * (trace.values[i + 1] - trace.values[i]);
      series.values.push_back(static_cast<float>(value * trace.pods_per_unit));
    }
  }
  series.values.push_back(static_cast<float>(trace.values.back() * trace.pods_per_unit));
  return series;
}

struct Judged {
  std::string file;
  bool of_minutes = false;
  BacktestReport report;
};

std::vector<Judged> JudgeAll(const BacktestOptions& options) {
  std::vector<Judged> all;
  for (const estimators::LoadTrace& trace : estimators::ReadTraces()) {
    INFO(trace.file);
    auto report = Backtest(MinutesOf(trace), options);
    REQUIRE(report);
    all.push_back({trace.file, trace.step_seconds == 60, *std::move(report)});
  }
  return all;
}

bool IsLong() {
  const char* const asked = std::getenv("TIDEMARK_LONG");
  return asked != nullptr && std::string(asked) == "1";
}

const std::vector<Judged>& Usual() {
  static const std::vector<Judged> all = JudgeAll({});
  return all;
}

template <class Value>
double MeanOf(const std::vector<Judged>& all, bool only_of_minutes, Value value) {
  double sum = 0;
  int count = 0;
  for (const Judged& trace : all) {
    if (only_of_minutes && !trace.of_minutes) continue;
    sum += value(trace);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

std::string Number(double number) {
  std::string text = std::to_string(number);
  return text.substr(0, text.find('.') + 4);
}

/// As docs/forecast.md has it.
void Print(const std::vector<Judged>& all) {
  const size_t horizons = all.front().report.horizons.size();
  for (size_t h = 0; h < horizons; ++h) {
    const BacktestHorizon& first = all.front().report.horizons[h];
    std::cout << "\n" << first.minutes << " min | chosen | covered | changes";
    for (const BacktestScore& score : first.models) std::cout << " | " << ToString(score.model);
    std::cout << "\n";
    for (const Judged& trace : all) {
      const BacktestHorizon& at = trace.report.horizons[h];
      std::cout << trace.file << " | " << Number(at.error_ratio.value_or(1)) << " | "
                << Number(at.coverage_ratio.value_or(0)) << " | " << at.changes;
      for (const BacktestScore& score : at.models) {
        std::cout << " | " << Number(score.error_ratio.value_or(1));
      }
      std::cout << "\n";
    }
    for (const bool only_of_minutes : {false, true}) {
      std::cout << (only_of_minutes ? "mean, steps of a minute" : "mean of all") << " | "
                << Number(MeanOf(all, only_of_minutes,
                                 [h](const Judged& trace) {
                                   return trace.report.horizons[h].error_ratio.value_or(1);
                                 }))
                << " | "
                << Number(MeanOf(all, only_of_minutes,
                                 [h](const Judged& trace) {
                                   return trace.report.horizons[h].coverage_ratio.value_or(0);
                                 }))
                << " | ";
      for (size_t m = 0; m < first.models.size(); ++m) {
        std::cout << " | " << Number(MeanOf(all, only_of_minutes, [h, m](const Judged& trace) {
          return trace.report.horizons[h].models[m].error_ratio.value_or(1);
        }));
      }
      std::cout << "\n";
    }
  }
  double fits = 0;
  double forecasts = 0;
  double minutes = 0;
  for (const Judged& trace : all) {
    forecasts += trace.report.forecast_seconds;
    minutes += static_cast<double>(trace.report.minutes);
    for (const FitsOfModel& of : trace.report.fits) fits += of.seconds;
  }
  std::cout << "\nfits " << Number(fits) << " s, forecasts " << Number(1e6 * forecasts / minutes)
            << " us a minute\n";
}

void CheckWhatMustHold(const std::vector<Judged>& all) {
  constexpr double kMostMean[] = {0.86, 0.885, 0.885};
  for (size_t h = 0; h < 3; ++h) {
    for (const Judged& trace : all) {
      const BacktestHorizon& at = trace.report.horizons[h];
      INFO(trace.file << ", " << at.minutes << " min");
      CHECK(at.error_ratio.value_or(1) <= 1.02);
      REQUIRE(at.coverage_ratio);
      CHECK(*at.coverage_ratio >= 0.87);
      CHECK(*at.coverage_ratio <= 0.93);
    }
    INFO("mean, horizon " << h);
    CHECK(MeanOf(all, false, [h](const Judged& trace) {
            return trace.report.horizons[h].error_ratio.value_or(1);
          }) <= kMostMean[h]);
    // The mean is not that of interpolated minutes alone.
    constexpr double kMostOfMinutes[] = {0.93, 0.89, 0.84};
    CHECK(MeanOf(all, true, [h](const Judged& trace) {
            return trace.report.horizons[h].error_ratio.value_or(1);
          }) <= kMostOfMinutes[h]);
  }
}

}  // namespace

TEST_CASE("Chosen forecasts beat last value on the shared traces, and intervals cover",
          "[forecast][traces]") {
  if (Usual().empty()) {
    std::cout << "skipped: no traces\n";
    return;
  }
  Print(Usual());
  CheckWhatMustHold(Usual());
}

TEST_CASE("The choice is better than any one model everywhere", "[forecast][traces]") {
  if (Usual().empty()) return;
  for (size_t h = 0; h < 3; ++h) {
    const auto mean_chosen = MeanOf(Usual(), false, [h](const Judged& trace) {
      return trace.report.horizons[h].error_ratio.value_or(1);
    });
    const auto& models = Usual().front().report.horizons[h].models;
    for (size_t m = 0; m < models.size(); ++m) {
      INFO("horizon " << h << ", " << ToString(models[m].model));
      CHECK(mean_chosen <= MeanOf(Usual(), false, [h, m](const Judged& trace) {
                             return trace.report.horizons[h].models[m].error_ratio.value_or(1);
                           }) + 0.005);
    }
  }
}

TEST_CASE("A track of a trace stays within its memory", "[forecast][traces]") {
  for (const Judged& trace : Usual()) {
    INFO(trace.file);
    CHECK(trace.report.memory_bytes <= 41'500);  // of 400 MiB for 10,000 workloads
  }
}

TEST_CASE("With networks among the candidates the choice is no worse", "[forecast][traces]") {
  if (!IsLong() || Usual().empty()) {
    std::cout << "skipped: TIDEMARK_LONG is not 1\n";
    return;
  }
  BacktestOptions options;
  options.rule.models.insert(options.rule.models.end(),
                             {ForecastModel::kArima, ForecastModel::kLstm, ForecastModel::kBiLstm});
  const std::vector<Judged> all = JudgeAll(options);
  Print(all);
  CheckWhatMustHold(all);
}

}  // namespace tidemark::forecast
