// What a track says of a demand, minute by minute, and why it sometimes says less.
#include "forecast/forecast_track.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/forecast/fake_forecaster.h"

namespace tidemark::forecast {
namespace {

using Catch::Matchers::Contains;

constexpr int64_t kStart = 29'000'160;  // midnight
constexpr int64_t kDay = 1440;

ForecastRule RuleOf(std::vector<ForecastModel> models) {
  ForecastRule rule;
  rule.models = std::move(models);
  return rule;
}

ForecastTrack FakeTrack(std::vector<ForecastModel> models,
                        std::optional<ForecastModel> always = std::nullopt) {
  World() = {};
  ForecastRule rule = RuleOf(std::move(models));
  rule.always = always;
  return ForecastTrack(rule, {}, MakeFake);
}

/// Minutes from `first` up to `end`, with the fits that fall due.
void Run(ForecastTrack& track, int64_t first, int64_t end) {
  for (int64_t minute = first; minute < end; ++minute) {
    track.Add(minute, World().demand(minute));
    FitDue(track, minute, MakeFake);
  }
}

ForecastModel InUse(const ForecastTrack& track, int64_t minute, size_t horizon = 0) {
  return track.Now(minute).horizons.at(horizon).model;
}

bool IsDue(const ForecastTrack& track, int64_t minute, ForecastModel model) {
  const auto due = track.Due(minute);
  return std::any_of(due.begin(), due.end(),
                     [model](const DueFit& fit) { return fit.model == model; });
}

}  // namespace

TEST_CASE("Without any demand there is no forecast, and it says so", "[forecast][track]") {
  const ForecastTrack track({}, {});
  const WorkloadForecast now = track.Now(kStart);
  CHECK(now.horizons.empty());
  CHECK_FALSE(now.demand);
  CHECK(now.why == "no demand is known yet");
  CHECK(track.Due(kStart).empty());
  CHECK_FALSE(track.Quantile(kStart, 0, 0.9));
  CHECK(track.Explain(kStart).history.empty());
}

TEST_CASE("After one minute it is expected to stay as it is, without an interval",
          "[forecast][track]") {
  ForecastTrack track({}, {});
  track.Add(kStart, 3.5);
  const WorkloadForecast now = track.Now(kStart);
  CHECK(now.minute_ms == kStart * 60'000);
  CHECK(*now.demand == Approx(3.5).epsilon(1e-4));
  REQUIRE(now.horizons.size() == 3);
  CHECK(now.horizons[0].horizon_seconds == 60);
  CHECK(now.horizons[2].horizon_seconds == 600);
  for (const HorizonForecast& horizon : now.horizons) {
    CHECK(horizon.model == ForecastModel::kLastValue);
    CHECK(horizon.demand == *now.demand);
    CHECK_FALSE(horizon.lower);
    CHECK_FALSE(horizon.coverage_ratio);
  }
  CHECK_THAT(now.why, Contains("1 minute only: last value"));
}

TEST_CASE("Minutes that are no demand, or come late, are let be", "[forecast][track]") {
  ForecastTrack track({}, {});
  track.Add(kStart, 3);
  const std::string before = Saved(track);
  track.Add(kStart, 4);
  track.Add(kStart - 1, 4);
  track.Add(kStart + 1, -1);
  track.Add(kStart + 1, NAN);
  track.Add(kStart + 1, INFINITY);
  track.Add(int64_t{1} << 50, 1);
  CHECK(Saved(track) == before);
}

TEST_CASE("A demand that does not move keeps its last value and is never learnt from",
          "[forecast][track]") {
  ForecastTrack track({}, {});
  for (int64_t minute = kStart; minute < kStart + 2 * kDay; ++minute) track.Add(minute, 2.5);
  const int64_t now_minute = kStart + 2 * kDay - 1;
  const WorkloadForecast now = track.Now(now_minute);
  CHECK(now.why == "the demand does not move: last value");
  CHECK(now.horizons.at(0).demand == Approx(2.5).epsilon(1e-4));
  CHECK(*now.horizons[0].upper == now.horizons[0].demand);
  CHECK_FALSE(now.horizons[0].scores.at(0).day_error_ratio);
  CHECK(track.Due(now_minute).empty());
}

TEST_CASE("A demand with more holes than minutes is not learnt from", "[forecast][track]") {
  ForecastTrack track({}, {});
  for (int64_t minute = kStart; minute < kStart + 2 * kDay; minute += 4) {
    track.Add(minute, JumpyDemand(minute));
  }
  const int64_t newest = kStart + 2 * kDay - 4;
  CHECK(track.Due(newest).empty());
  const WorkloadForecast now = track.Now(newest);
  CHECK_THAT(now.why, Contains("of the last day only 6 hours are known: last value"));
  // What was to come in a hole is not scored.
  CHECK(now.horizons.at(0).scores.at(0).scored == 0);
  CHECK(now.horizons.at(1).scores.at(0).scored == 0);
}

TEST_CASE("Forecasts for missing minutes are not scored, those around them are",
          "[forecast][track]") {
  ForecastTrack track({}, {});
  for (const int64_t minute : {0, 1, 2, 5, 6}) track.Add(kStart + minute, 5);
  const auto scored = [&](size_t horizon) {
    return track.Now(kStart + 6).horizons.at(horizon).scores.at(0).scored;
  };
  CHECK(scored(0) == 3);  // 1, 2 and 6
  CHECK(scored(1) == 1);  // 5, from 2
}

TEST_CASE("Without demand forecasts are held for five minutes and then withdrawn",
          "[forecast][track]") {
  ForecastTrack track({}, {});
  track.Add(kStart, 5);
  track.Add(kStart + 1, 6);
  CHECK(track.Now(kStart + 6).horizons.size() == 3);
  const WorkloadForecast later = track.Now(kStart + 7);
  CHECK(later.horizons.empty());
  CHECK(later.why == "no demand is known of the last 6 minutes");
  CHECK_FALSE(later.demand);
  CHECK(later.minute_ms == (kStart + 1) * 60'000);
  // What was forecast before the silence is not scored after it, though it was for then.
  track.Add(kStart + 11, 6);
  CHECK(track.Now(kStart + 11).horizons.at(2).scores.at(0).scored == 0);
}

TEST_CASE("A better model is used once it has been seen for some hours, and left when it fails",
          "[forecast][track]") {
  ForecastTrack track = FakeTrack({ForecastModel::kRidge30, ForecastModel::kRidge60});
  World().errors = {{ForecastModel::kRidge30, 2}, {ForecastModel::kRidge60, 30}};
  Run(track, kStart, kStart + 360);
  CHECK(InUse(track, kStart + 359) == ForecastModel::kLastValue);
  Run(track, kStart + 360, kStart + 360 + 170);
  CHECK(InUse(track, kStart + 529) == ForecastModel::kLastValue);
  Run(track, kStart + 530, kStart + 560);
  for (size_t horizon = 0; horizon < 3; ++horizon) {
    CHECK(InUse(track, kStart + 559, horizon) == ForecastModel::kRidge30);
  }
  const HorizonForecast now = track.Now(kStart + 559).horizons.at(0);
  REQUIRE(now.scores.size() == 3);
  CHECK(*now.scores[0].day_error_ratio == 1);
  CHECK(*now.scores[1].day_error_ratio < 0.3);
  CHECK(*now.scores[2].day_error_ratio > 1.5);
  // Of the week whole days count: what it could not say in the first hours is the last value's.
  CHECK(*now.scores[1].week_error_ratio > *now.scores[1].day_error_ratio);
  CHECK(*now.scores[1].week_error_ratio < 0.75);
  World().errors = {{ForecastModel::kRidge30, 60}, {ForecastModel::kRidge60, 30}};
  Run(track, kStart + 560, kStart + 560 + 240);
  CHECK(InUse(track, kStart + 799) == ForecastModel::kLastValue);
}

TEST_CASE("A model that goes by the hour of the day has to be seen for a day",
          "[forecast][track]") {
  ForecastTrack track = FakeTrack({ForecastModel::kDayRise});
  World().errors = {{ForecastModel::kDayRise, 1}};
  Run(track, kStart, kStart + 1190);
  CHECK(InUse(track, kStart + 1189) == ForecastModel::kLastValue);
  Run(track, kStart + 1190, kStart + 1290);
  CHECK(InUse(track, kStart + 1289) == ForecastModel::kDayRise);
}

TEST_CASE("Where the model in use can say nothing the last value stands in, and it says so",
          "[forecast][track]") {
  ForecastTrack track = FakeTrack({ForecastModel::kRidge30});
  World().errors = {{ForecastModel::kRidge30, 2}};
  Run(track, kStart, kStart + 600);
  CHECK(InUse(track, kStart + 599) == ForecastModel::kRidge30);
  World().errors.clear();
  Run(track, kStart + 600, kStart + 601);
  CHECK(InUse(track, kStart + 600) == ForecastModel::kLastValue);
  CHECK_THAT(track.Now(kStart + 600).why, Contains("too much of the last minutes is missing"));
  World().errors = {{ForecastModel::kRidge30, 2}};
  Run(track, kStart + 601, kStart + 602);
  CHECK(InUse(track, kStart + 601) == ForecastModel::kRidge30);
}

TEST_CASE("What is always to be used is used as soon as it is fitted, and until then it says so",
          "[forecast][track]") {
  ForecastTrack track = FakeTrack({ForecastModel::kRidge30}, ForecastModel::kBiLstm);
  World().errors = {{ForecastModel::kRidge30, 1}, {ForecastModel::kBiLstm, 50}};
  Run(track, kStart, kStart + 759);
  CHECK_THAT(track.Now(kStart + 758).why, Contains("bilstm is not fitted yet"));
  Run(track, kStart + 759, kStart + 3 * kDay);
  CHECK(InUse(track, kStart + 3 * kDay - 1) == ForecastModel::kBiLstm);
  CHECK(track.Now(kStart + 3 * kDay - 1).why.empty());
  CHECK(track.Explain(kStart + 3 * kDay - 1).fitted.size() == 2);
}

TEST_CASE("A network is used only where it is better by the margin, else it gives its weights back",
          "[forecast][track]") {
  const double network_error = GENERATE(4.0, 8.0);
  ForecastTrack track = FakeTrack({ForecastModel::kRidge30, ForecastModel::kBiLstm});
  World().errors = {{ForecastModel::kRidge30, 8}, {ForecastModel::kBiLstm, network_error}};
  Run(track, kStart, kStart + 2 * kDay + 60);
  const int64_t now = kStart + 2 * kDay + 59;
  if (network_error == 4.0) {
    CHECK(InUse(track, now) == ForecastModel::kBiLstm);
    CHECK_FALSE(track.Weights(ForecastModel::kBiLstm).empty());
    // It is fitted daily.
    CHECK(IsDue(track, now + kDay, ForecastModel::kBiLstm) == false);  // too long without demand
    int fits = 0;
    for (int64_t minute = now + 1; minute <= now + 2 * kDay; ++minute) {
      track.Add(minute, World().demand(minute));
      for (const ForecastModel model : FitDue(track, minute, MakeFake)) {
        if (model == ForecastModel::kBiLstm) ++fits;
      }
    }
    CHECK(fits == 2);
  } else {
    CHECK(InUse(track, now) == ForecastModel::kRidge30);
    CHECK(track.Weights(ForecastModel::kBiLstm).empty());
    // A week after its trial it may try again.
    int64_t minute = now + 1;
    for (; minute < kStart + 10 * kDay; ++minute) {
      track.Add(minute, World().demand(minute));
      if (IsDue(track, minute, ForecastModel::kBiLstm)) break;
      FitDue(track, minute, MakeFake);
    }
    CHECK(minute == kStart + 759 + 7 * kDay);
  }
}

TEST_CASE("Fits are due by age, a failed one not before its period has passed",
          "[forecast][track]") {
  ForecastTrack track = FakeTrack({ForecastModel::kRidge30, ForecastModel::kHoltWinters});
  for (int64_t minute = kStart; minute < kStart + 359; ++minute) {
    track.Add(minute, JumpyDemand(minute));
    CHECK(track.Due(minute).empty());
  }
  track.Add(kStart + 359, 100);
  REQUIRE(track.Due(kStart + 359).size() == 1);
  CHECK(track.Due(kStart + 359)[0].model == ForecastModel::kRidge30);
  CHECK(track.Due(kStart + 359)[0].staleness == Approx(1).margin(0.01));
  CHECK(track.Due(kStart + 359)[0].cost_seconds > 0);
  CHECK(track.Due(kStart + 389)[0].staleness > 1.2);
  CHECK(track.Due(kStart + 420).empty());  // an hour without demand
  track.NoteFailedFit(ForecastModel::kRidge30, kStart + 359);
  CHECK(track.Due(kStart + 389).empty());
  for (int64_t minute = kStart + 360; minute < kStart + 480; ++minute) {
    track.Add(minute, JumpyDemand(minute));
  }
  CHECK(IsDue(track, kStart + 530, ForecastModel::kRidge30));  // a third of what is known later
  Run(track, kStart + 480, kStart + 2 * kDay);
  CHECK(IsDue(track, kStart + 2 * kDay - 1, ForecastModel::kHoltWinters) == false);  // fitted
  CHECK(track.Explain(kStart + 2 * kDay - 1).fitted.at(0).model == ForecastModel::kHoltWinters);
}

TEST_CASE("Weights of another kind, or of no candidate, are refused and change nothing",
          "[forecast][track]") {
  ForecastTrack track = FakeTrack({ForecastModel::kRidge30});
  Run(track, kStart, kStart + 100);
  const std::string before = Saved(track);
  const std::string good("\x05\x01", 2);
  for (const FittedModel& fitted :
       {FittedModel{.model = ForecastModel::kRidge30, .weights = "x", .trained_minute = 5},
        FittedModel{.model = ForecastModel::kRidge30, .weights = {}, .trained_minute = 5},
        FittedModel{.model = ForecastModel::kRidge30, .weights = good, .trained_minute = -1},
        FittedModel{.model = ForecastModel::kRidge60, .weights = good, .trained_minute = 5},
        FittedModel{.model = ForecastModel::kLastValue, .weights = good, .trained_minute = 5}}) {
    const auto activated = track.Activate(fitted);
    REQUIRE_FALSE(activated);
    CHECK(activated.error().code == ErrorCode::kInvalidArgument);
    CHECK(Saved(track) == before);
  }
  CHECK(track.Activate(
      {.model = ForecastModel::kRidge30, .weights = good, .trained_minute = kStart + 99}));
  CHECK(track.Weights(ForecastModel::kRidge30) == good);
}

TEST_CASE("Intervals cover what they say, whatever the errors are like", "[forecast][track]") {
  const double ratio = GENERATE(0.8, 0.9, 0.95);
  ForecastSettings settings;
  settings.interval_ratio = ratio;
  ForecastTrack track(RuleOf({}), settings);
  int intervals = 0;
  int held = 0;
  for (int64_t i = 0; i < 5 * kDay; ++i) {
    // Wide by day and narrow by night, with a heavy upper tail.
    const double wide = 2 + std::sin(static_cast<double>(i) * 2 * M_PI / kDay);
    const double u = (Noise(static_cast<uint64_t>(i)) + 1) / 2;
    const double demand = 50 + wide * std::pow(1 - u, -0.4);
    if (i > kDay) {
      const HorizonForecast before = track.Now(kStart + i - 1).horizons.at(0);
      REQUIRE(before.lower);
      ++intervals;
      if (demand >= *before.lower && demand <= *before.upper) ++held;
    }
    track.Add(kStart + i, demand);
  }
  CHECK(static_cast<double>(held) / intervals == Approx(ratio).margin(0.015));
  CHECK(*track.Now(kStart + 5 * kDay - 1).horizons[0].coverage_ratio == Approx(ratio).margin(0.03));
}

TEST_CASE("Quantiles of a forecast are passed as often as they say", "[forecast][track]") {
  ForecastTrack track(RuleOf({}), {});
  constexpr std::array<double, 5> kProbabilities = {0.5, 0.9, 0.97, 0.99, 0.999};
  std::array<int, 5> passed{};
  int counted = 0;
  for (int64_t i = 0; i < 7 * kDay; ++i) {
    // Levels are drawn one by one, so that changes are differences of exponentials.
    const double demand = 10 - std::log((Noise(static_cast<uint64_t>(i)) + 1.0001) / 2.0001);
    if (i > 2 * kDay) {
      ++counted;
      double before = 0;
      for (size_t k = 0; k < passed.size(); ++k) {
        const auto quantile = track.Quantile(kStart + i - 1, 0, kProbabilities[k]);
        REQUIRE(quantile);
        CHECK(*quantile >= before);
        before = *quantile;
        if (demand > *quantile) ++passed[k];
      }
    }
    track.Add(kStart + i, demand);
  }
  for (size_t k = 0; k < passed.size(); ++k) {
    INFO("probability " << kProbabilities[k]);
    const double expected = 1 - kProbabilities[k];
    const double share = static_cast<double>(passed[k]) / counted;
    const double deviation = std::sqrt(expected / counted);  // of a share that is so small
    CHECK(share < 1.25 * expected + 2.5 * deviation);
    CHECK(share > 0.75 * expected - 2.5 * deviation);
  }
  CHECK_FALSE(track.Quantile(kStart + 7 * kDay - 1, 0, 0.4));
  CHECK_FALSE(track.Quantile(kStart + 7 * kDay - 1, 0, 1));
  CHECK_FALSE(track.Quantile(kStart + 7 * kDay - 1, 3, 0.9));
  CHECK_FALSE(track.Quantile(kStart + 7 * kDay + 5, 0, 0.9));
}

TEST_CASE("No forecast is negative, nor far beyond what was ever seen", "[forecast][track]") {
  ForecastTrack track = FakeTrack({}, ForecastModel::kRidge30);
  World().errors = {{ForecastModel::kRidge30, 1e6}};
  for (int64_t minute = kStart; minute < kStart + 500; ++minute) {
    track.Add(minute, JumpyDemand(minute));
    FitDue(track, minute, MakeFake);
    for (const HorizonForecast& horizon : track.Now(minute).horizons) {
      REQUIRE(horizon.demand >= 0);
      REQUIRE(horizon.demand <= 2 * 110.01);
      if (horizon.lower) REQUIRE((*horizon.lower >= 0 && *horizon.lower <= *horizon.upper));
    }
  }
}

TEST_CASE("The high-water load is what a minute passes with the risk that was asked for",
          "[forecast][track]") {
  ForecastSettings settings;
  settings.high_water_risk = 0.001;
  ForecastTrack track(RuleOf({}), settings);
  for (int64_t i = 0; i < 5 * kDay; ++i) {
    const double u = (Noise(static_cast<uint64_t>(i)) + 1.0001) / 2.0001;
    track.Add(kStart + i, 20 - 2 * std::log(u));
  }
  const ForecastExplanation explained = track.Explain(kStart + 5 * kDay - 1);
  REQUIRE(explained.now.high_water);
  CHECK(*explained.now.high_water == Approx(20 - 2 * std::log(0.001)).epsilon(0.1));
  REQUIRE(explained.high_water);
  CHECK(explained.high_water->threshold == Approx(20 - 2 * std::log(0.02)).epsilon(0.05));
  CHECK(explained.high_water->observations > 7000);
}

TEST_CASE("A risk that needs no tail has the quantile of all minutes", "[forecast][track]") {
  ForecastTrack track({}, {});
  CHECK_FALSE(track.HighWater(0.1));
  // Each of 0 to 999 five times, in no order.
  for (int64_t i = 0; i < 5000; ++i) {
    track.Add(kStart + i, static_cast<double>(i * 387 % 1000));
  }
  for (const double risk : {0.05, 0.1, 0.3, 0.5, 0.9}) {
    INFO(risk);
    REQUIRE(track.HighWater(risk));
    CHECK(*track.HighWater(risk) == Approx(999 * (1 - risk)).margin(1.5));
  }
  CHECK(*track.HighWater(0.001) > 990);
  CHECK(*track.HighWater(0.001) > *track.HighWater(0.02));
}

TEST_CASE("An explanation has the history, and forecasts with what they were for",
          "[forecast][track]") {
  ForecastTrack track({}, {});
  for (int64_t i = 0; i < 300; ++i) {
    if (i != 250) track.Add(kStart + i, JumpyDemand(kStart + i));
  }
  const ForecastExplanation explained = track.Explain(kStart + 299);
  REQUIRE(explained.history.size() == 300);
  CHECK(explained.history[0].time_ms == kStart * 60'000);
  CHECK(std::isnan(explained.history[250].demand));
  CHECK(double{explained.history[299].demand} == Approx(JumpyDemand(kStart + 299)).epsilon(1e-3));
  REQUIRE(explained.past.size() == 3);
  const auto& past = explained.past[1];  // three minutes ahead
  CHECK(past.back().time_ms == (kStart + 302) * 60'000);
  for (const ForecastPoint& point : past) {
    const int64_t from = point.time_ms / 60'000 - kStart - 3;
    CHECK(from != 250);
    CHECK(from != 247);
    CHECK(double{point.demand} == Approx(JumpyDemand(kStart + from)).epsilon(0.005));
    CHECK(point.lower <= point.demand);
    CHECK(point.demand <= point.upper);
    CHECK(point.upper > point.lower);
  }
  CHECK(static_cast<int64_t>(past.size()) == ForecastTrack::kPastMinutes - 2 + 3);
}

TEST_CASE("With steps of five minutes the mean of the minutes is kept and nothing is forecast",
          "[forecast][track]") {
  ForecastRule rule;
  rule.steps = DemandSteps::kFiveMinutes;
  ForecastTrack track(rule, {});
  for (int64_t i = 0; i < 13; ++i) track.Add(kStart + i, static_cast<double>(i));
  CHECK(track.history().step_minutes() == 5);
  CHECK(double{track.history().At(kStart / 5)} == Approx(2).epsilon(1e-3));
  CHECK(double{track.history().At(kStart / 5 + 1)} == Approx(7).epsilon(1e-3));
  CHECK(double{track.history().At(kStart / 5 + 2)} == Approx(11).epsilon(1e-3));
  const WorkloadForecast now = track.Now(kStart + 12);
  CHECK(now.horizons.empty());
  CHECK(now.why == "the demand of this workload is only kept, not forecast");
  CHECK(*now.demand == Approx(11).epsilon(1e-3));
  CHECK(track.Due(kStart + 12).empty());
  CHECK(track.Explain(kStart + 12).history.size() == 3);
}

TEST_CASE("With no steps nothing is kept", "[forecast][track]") {
  ForecastRule rule;
  rule.steps = DemandSteps::kNone;
  ForecastTrack track(rule, {});
  track.Add(kStart, 5);
  CHECK(track.history().IsEmpty());
  CHECK(track.Now(kStart).why == "the demand of this workload is not kept");
  CHECK(track.MemoryBytes() < 2000);
}

TEST_CASE("A track with linear models and eight days of demand takes less than 41 kB",
          "[forecast][track]") {
  ForecastTrack track({}, {});
  int64_t minute = kStart + 700;
  for (; minute < kStart + 700 + 8 * kDay + 10; ++minute) {
    const double hour = static_cast<double>(minute % kDay) / 60;
    track.Add(minute, 100 + 30 * std::sin(hour / 4) + 3 * Noise(static_cast<uint64_t>(minute)));
    FitDue(track, minute, MakeForecaster);
  }
  CHECK(track.Explain(minute - 1).fitted.size() == 3);
  CHECK(track.MemoryBytes() < 41'000);
}

}  // namespace tidemark::forecast
