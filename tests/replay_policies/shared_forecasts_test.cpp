// Many policies, one forecast.
#include "cmd/replay_policies/shared_forecasts.h"

#include <array>
#include <cmath>

#include "tests/catch.h"

namespace tidemark::replay_policies {
namespace {

/// Counts how often it is asked; answers from the minute and the question.
class Counting final : public scaling::DemandForecast {
 public:
  std::optional<double> Expected(std::optional<ForecastModel> model,
                                 int32_t minutes) const override {
    ++asked;
    if (model == ForecastModel::kArima) return std::nullopt;
    return minute * 100.0 + minutes;
  }
  bool Quantiles(int32_t minutes, std::span<const double> p, std::span<double> out) const override {
    ++asked;
    if (minute < 12) return false;
    for (size_t i = 0; i < p.size(); ++i) out[i] = minutes * p[i];
    return true;
  }
  std::optional<double> HighWater(double risk) const override {
    ++asked;
    return 1 / risk;
  }
  const forecast::DemandHistory& History() const override { return history; }

  double minute = 0;
  mutable int asked = 0;
  forecast::DemandHistory history;
};

class Source final : public scaling::ForecastSource {
 public:
  const scaling::DemandForecast& At(int64_t minute, double /*demand*/) override {
    answers.minute = static_cast<double>(minute);
    return answers;
  }
  Counting answers;
};

}  // namespace

TEST_CASE("Each question is passed on once a minute", "[replay_policies]") {
  Source source;
  SharedForecasts shared(source, 10, 5, 0);
  constexpr std::array kP = {0.5, 0.9};
  constexpr std::array kOtherP = {0.5, 0.99};
  for (int64_t minute = 10; minute < 15; ++minute) {
    source.answers.asked = 0;
    const scaling::DemandForecast& now = shared.At(minute, 1);
    for (int policy = 0; policy < 4; ++policy) {
      CHECK(now.Expected(std::nullopt, 3) == source.answers.minute * 100 + 3);
      CHECK(now.Expected(std::nullopt, 2) == source.answers.minute * 100 + 2);
      CHECK_FALSE(now.Expected(ForecastModel::kArima, 3));
      CHECK(now.HighWater(0.1) == 10);
      CHECK(now.HighWater(0.5) == 2);
      std::array<double, 2> out{-1, -1};
      CHECK(now.Quantiles(4, kP, out) == (minute >= 12));
      CHECK(out == (minute >= 12 ? std::array{2.0, 3.6} : std::array{-1.0, -1.0}));
      CHECK(now.Quantiles(4, kOtherP, out) == (minute >= 12));
      CHECK(&now.History() == &source.answers.history);
    }
    CHECK(source.answers.asked == 7);
  }
  CHECK(shared.TakeBands().empty());
}

TEST_CASE("What was expected at the lead is kept for each minute", "[replay_policies]") {
  Source source;
  SharedForecasts shared(source, 10, 4, 3);
  shared.At(10, 1);
  shared.At(12, 1);
  shared.At(99, 1);  // beyond what was announced
  const auto bands = shared.TakeBands();
  REQUIRE(bands.size() == 4);
  CHECK(bands[0].expected == 1003);
  CHECK(std::isnan(bands[0].lower));
  CHECK(std::isnan(bands[1].expected));
  CHECK(bands[2].expected == 1203);
  CHECK(bands[2].lower == Approx(3 * 0.05));
  CHECK(bands[2].upper == Approx(3 * 0.95));
}

}  // namespace tidemark::replay_policies
