// Tails against reference fits by other implementations (SciPy and closed forms): 20 samples, made
// up and measured, each with three estimators. The file is forecast/gpd.json in the folder of
// reference data; traces it names are taken where tests/estimators/load_traces.h finds them.
#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "estimators/peaks_over_threshold.h"
#include "tests/catch.h"
#include "tests/estimators/json_file.h"
#include "tests/estimators/load_traces.h"

namespace tidemark::estimators {
namespace {

using Json = boost::json::value;

Json ReadSamples() {
  const char* const folder = std::getenv("TIDEMARK_GOLDEN");
  const std::string root =
      folder != nullptr && *folder != '\0' ? folder : TIDEMARK_TEST_DATA "/golden";
  return ReadJsonFile(root + "/forecast/gpd.json");
}

double Number(const Json& value) { return value.to_number<double>(); }

std::string Text(const Json& value) { return std::string(value.as_string()); }

bool Near(double actual, double expected, double tolerance) {
  return std::abs(actual - expected) <= tolerance * std::abs(expected);
}

struct Sample {
  std::vector<double> excesses;  // ascending
  std::vector<double> window;    // ascending; empty for one that was made up
};

/// Absent when the trace is not there.
std::optional<Sample> Make(const Json& entry) {
  Sample sample;
  if (Text(entry.at("kind")) == "synthetic") {
    for (const Json& value : entry.at("excesses").as_array()) {
      sample.excesses.push_back(Number(value));
    }
  } else {
    const auto trace = ReadTrace(Text(entry.at("trace")));
    if (!trace) return std::nullopt;
    const auto first = entry.at("first_row").to_number<ptrdiff_t>();
    const auto last = entry.at("last_row_exclusive").to_number<ptrdiff_t>();
    REQUIRE(last <= static_cast<ptrdiff_t>(trace->values.size()));
    sample.window.assign(trace->values.begin() + first, trace->values.begin() + last);
    std::ranges::sort(sample.window);
    const double threshold = InterpolatedQuantile(sample.window, Number(entry.at("level")));
    for (const double value : sample.window) {
      if (value > threshold) sample.excesses.push_back(value - threshold);
    }
  }
  std::ranges::sort(sample.excesses);
  return sample;
}

void CheckLevels(const TailFit& tail, const Json& levels, double tolerance) {
  for (const auto& level : levels.as_object()) {
    INFO("risk " << level.key());
    const double risk = std::stod(std::string(level.key()));
    CHECK(Near(tail.Level(risk), Number(level.value()), tolerance));
  }
}

/// The tail that an estimator alone finds, whatever the rule says of it.
TailFit TailBy(FitMethod method, const Json& entry, const Sample& sample) {
  const auto fit = FitBy(method, sample.excesses);
  REQUIRE(fit);
  TailFit tail;
  tail.threshold = Number(entry.at("threshold"));
  tail.observations = entry.at("n").to_number<uint64_t>();
  tail.excesses = static_cast<uint32_t>(sample.excesses.size());
  tail.unfitted = Unfitted::kFitted;
  tail.method = method;
  tail.fit = *fit;
  return tail;
}

void CheckEstimator(FitMethod method, const Json& expected, const Json& entry,
                    const Sample& sample) {
  const TailFit tail = TailBy(method, entry, sample);
  const double likelihood = tail.fit.LogLikelihood(sample.excesses);
  const Json& wanted = expected.at("loglik");
  if (method == FitMethod::kMaximumLikelihood) {
    CHECK(likelihood >= Number(wanted) - 1e-6);
    CHECK(std::abs(tail.fit.gamma - Number(expected.at("gamma"))) <= 1e-4);
    CheckLevels(tail, expected.at("z"), 1e-4);
    return;
  }
  CHECK(Near(tail.fit.gamma, Number(expected.at("gamma")), 1e-10));
  CHECK(Near(tail.fit.sigma, Number(expected.at("sigma")), 1e-10));
  if (wanted.is_null()) {
    CHECK(likelihood == -HUGE_VAL);
  } else {
    CHECK(Near(likelihood, Number(wanted), 1e-9));
  }
  CheckLevels(tail, expected.at("z"), 1e-10);
  const auto* const end = expected.as_object().if_contains("endpoint");
  CHECK(tail.End().has_value() == (end != nullptr));
  if (end != nullptr && tail.End()) CHECK(Near(*tail.End(), Number(*end), 1e-10));
}

TEST_CASE("the three estimators and the rule agree with the reference fits",
          "[estimators][high_water][golden]") {
  const Json samples = ReadSamples();
  int compared = 0;
  int skipped = 0;
  for (const Json& entry : samples.as_array()) {
    INFO(Text(entry.at("name")));
    const auto sample = Make(entry);
    if (!sample) {
      ++skipped;
      continue;
    }
    ++compared;
    REQUIRE(sample->excesses.size() == entry.at("n_t").to_number<size_t>());
    {
      INFO("moments");
      CheckEstimator(FitMethod::kMoments, entry.at("mom"), entry, *sample);
    }
    {
      INFO("weighted moments");
      CheckEstimator(FitMethod::kWeightedMoments, entry.at("pwm"), entry, *sample);
    }
    {
      INFO("maximum likelihood");
      CheckEstimator(FitMethod::kMaximumLikelihood, entry.at("mle"), entry, *sample);
    }
    INFO("the rule");
    const double threshold = Number(entry.at("threshold"));
    const TailFit chosen =
        sample->window.empty()
            ? FitTail(threshold, sample->excesses, entry.at("n").to_number<uint64_t>(),
                      threshold + sample->excesses.back())
            : FitWindow(sample->window, Number(entry.at("level")));
    REQUIRE(chosen.IsFitted());
    CHECK(Near(chosen.threshold, threshold, 1e-12));
    CHECK(chosen.observations == entry.at("n").to_number<uint64_t>());
    const bool likelihood = Text(entry.at("recommended").at("estimator")) == "mle";
    CHECK((chosen.method == FitMethod::kMaximumLikelihood) == likelihood);
    CheckLevels(chosen, entry.at("recommended").at("z"), likelihood ? 1e-4 : 1e-10);
  }
  std::cout << "gpd.json: " << compared << " samples compared, " << skipped
            << " skipped (their traces are not there)\n";
  CHECK(compared >= 10);
}

}  // namespace
}  // namespace tidemark::estimators
