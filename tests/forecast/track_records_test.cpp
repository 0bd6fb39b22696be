// What a track keeps of its forecasts: losses, errors, intervals; and how it chooses by them.
#include <array>
#include <cmath>
#include <vector>

#include "forecast/error_sketch.h"
#include "forecast/interval_record.h"
#include "forecast/loss_record.h"
#include "forecast/model_choice.h"
#include "forecast/packed_amount.h"
#include "forecast/past_forecasts.h"
#include "tests/catch.h"
#include "tests/forecast/fake_forecaster.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kStart = 29'000'160;

/// One hour of losses for each, of the model and of the last value.
struct Hour {
  float model;
  float last_value;
};

LossSums DayOf(const std::vector<Hour>& hours) {
  LossRecord model;
  LossRecord last_value;
  int64_t minute = kStart;
  for (const Hour& hour : hours) {
    for (int i = 0; i < 60; ++i, ++minute) {
      model.Advance(minute, minute - 1);
      last_value.Advance(minute, minute - 1);
      model.Note(minute, hour.model, hour.model, true);
      last_value.Note(minute, hour.last_value, hour.last_value, true);
    }
  }
  return model.Day(minute - 1, last_value);
}

Contender Of(ForecastModel model, double cost, double evidence = 3) {
  return {.model = model, .usable = true, .cost = cost, .error = cost, .evidence = evidence};
}

}  // namespace

TEST_CASE("Amounts in 16 bits are within their rounding", "[forecast][records]") {
  for (const float amount : {0.0F, 1e-30F, 0.37F, 1.0F, 123.456F, 8e9F, 3e38F}) {
    const uint16_t packed = PackAmount(amount);
    CHECK(IsPackedAmount(packed));
    CHECK(std::abs(UnpackAmount(packed) - amount) <= amount * 0x1p-9F);
  }
  CHECK(UnpackAmount(PackAmount(-1)) == 0);
  CHECK(std::isfinite(UnpackAmount(PackAmount(std::numeric_limits<float>::max()))));
}

TEST_CASE("Losses of the last day and week forget what is older", "[forecast][records]") {
  LossRecord losses;
  int64_t minute = kStart;
  losses.Note(minute, 1000, 500, true);
  CHECK(losses.Day(minute, losses).error == 1000);
  CHECK(losses.Day(minute, losses).scored == 1);
  losses.Advance(minute + 1440, minute);
  CHECK(losses.Day(minute + 1440, losses).error == Approx(1000).epsilon(0.002));
  losses.Advance(minute + 1440 + 120, minute + 1440);
  CHECK(losses.Day(minute + 1560, losses).error == 0);
  CHECK(losses.Week(minute + 1560, losses).pinball == Approx(500).epsilon(0.002));
  losses.Advance(minute + 7 * 1440, minute + 1560);
  CHECK(losses.Week(minute + 7 * 1440, losses).scored == 0);
  CHECK_FALSE(losses.Week(minute + 7 * 1440, losses).ErrorRatio());
}

TEST_CASE("Models are compared over the hours in which they said something",
          "[forecast][records]") {
  LossRecord model;
  LossRecord last_value;
  for (int64_t minute = kStart; minute < kStart + 360; ++minute) {
    model.Advance(minute, minute - 1);
    last_value.Advance(minute, minute - 1);
    const bool own = minute >= kStart + 240;
    last_value.Note(minute, 2, 1, true);
    model.Note(minute, own ? 1 : 2, 1, own);
  }
  const LossSums day = model.Day(kStart + 359, last_value);
  CHECK(*day.ErrorRatio() == Approx(0.5).epsilon(0.01));
  CHECK(*day.PinballRatio() == Approx(1).epsilon(0.01));
  CHECK(day.scored == 120);
  CHECK(last_value.AsUnscored().Day(kStart + 359, last_value).scored == 0);
}

TEST_CASE("Saved losses are the same", "[forecast][records]") {
  LossRecord losses;
  for (int64_t minute = kStart; minute < kStart + 3000; ++minute) {
    losses.Advance(minute, minute - 1);
    losses.Note(minute, 0.1F * static_cast<float>(minute % 7), 3, minute % 3 != 0);
  }
  std::string bytes;
  ByteWriter out(bytes);
  losses.Save(out);
  LossRecord again;
  ByteReader in(bytes);
  again.Restore(in);
  REQUIRE(in.AtEnd());
  CHECK(again.Day(kStart + 2999, again).error == losses.Day(kStart + 2999, losses).error);
  CHECK(again.Week(kStart + 2999, again).scored == losses.Week(kStart + 2999, losses).scored);
}

TEST_CASE("An error sketch answers with the quantiles of what came", "[forecast][records]") {
  ErrorSketch sketch;
  CHECK_FALSE(sketch.HasScale());
  CHECK(sketch.Quantile(0.9) == 0);
  std::vector<double> errors;
  for (uint64_t i = 0; i < 5000; ++i) {
    const double u = (Noise(i) + 1.0001) / 2.0001;
    errors.push_back(-std::log(u) - 1);
    sketch.Note(static_cast<float>(errors.back()), 1.0F);
  }
  std::sort(errors.begin(), errors.end());
  for (const double p : {0.05, 0.25, 0.5, 0.9, 0.95}) {
    INFO(p);
    CHECK(sketch.Quantile(p) == Approx(errors[static_cast<size_t>(p * 5000)]).margin(0.07));
  }
  CHECK(sketch.TailQuantile(0.999) == Approx(-std::log(0.001) - 1).epsilon(0.25));
  CHECK(sketch.TailQuantile(0.99) < sketch.TailQuantile(0.999));
  CHECK(sketch.Scale() == Approx(2 / M_E).epsilon(0.3));  // mean of |x - 1|
  const double before = sketch.Errors();
  sketch.Halve();
  CHECK(sketch.Errors() == Approx(before / 2).epsilon(0.01));
  CHECK(sketch.Quantile(0.9) == Approx(errors[4500]).margin(0.1));
}

TEST_CASE("Errors that never were leave a sketch without width", "[forecast][records]") {
  ErrorSketch sketch;
  for (int i = 0; i < 500; ++i) sketch.Note(0, static_cast<float>(sketch.Scale()));
  CHECK(sketch.IsEnough());
  CHECK(sketch.Scale() == 0);
  CHECK(sketch.Quantile(0.999) == 0);
  CHECK(sketch.TailQuantile(0.999) == 0);
  // The first one afterwards is large in any unit, and bounded.
  sketch.Note(5, 0);
  CHECK(sketch.Scale() > 0);
  CHECK(std::isfinite(sketch.TailQuantile(0.9999)));
}

TEST_CASE("Saved sketches are the same, and others are refused", "[forecast][records]") {
  ErrorSketch sketch;
  for (uint64_t i = 0; i < 2000; ++i) sketch.Note(static_cast<float>(Noise(i)), 0.5F);
  std::string bytes;
  ByteWriter out(bytes);
  sketch.Save(out);
  ErrorSketch again;
  ByteReader in(bytes);
  again.Restore(in);
  REQUIRE(in.AtEnd());
  CHECK(again.Quantile(0.97) == sketch.Quantile(0.97));
  CHECK(again.Scale() == sketch.Scale());
  bytes.back() = static_cast<char>(0xFF);  // a negative amount
  ByteReader bad(bytes);
  again.Restore(bad);
  CHECK(bad.failed());
}

TEST_CASE("An interval that is missed too often is aimed wider, on the side it is missed",
          "[forecast][records]") {
  IntervalRecord record;
  CHECK(record.UpperProbability(0.05) == 0.95);
  CHECK_FALSE(record.Coverage());
  for (int i = 0; i < 20; ++i) record.Note(0, 10, 1, i % 5 == 0 ? 9 : 11, 0.05);
  CHECK(*record.Coverage() == Approx(0.8));
  CHECK(record.UpperProbability(0.05) > 0.955);
  CHECK(record.LowerProbability(0.05) > 0.05);
  record.Advance(25, 0);
  CHECK_FALSE(record.Coverage());
  for (int i = 0; i < 100'000; ++i) record.Note(25, 10, 1, 9, 0.05);
  CHECK(record.UpperProbability(0.05) < 1);
  CHECK(record.UpperProbability(0.05) > 0.99);
}

TEST_CASE("Past forecasts are those of the last minutes", "[forecast][records]") {
  PastForecasts past;
  CHECK(past.Points().empty());
  for (int64_t i = 0; i < 300; ++i) {
    if (i % 10 != 3) past.Put(kStart + i, 100, 90, 120);
  }
  past.Put(kStart + 5, 1, 1, 1);
  const auto points = past.Points();
  REQUIRE(points.size() == 81);
  CHECK(points.front().time_ms == (kStart + 210) * 60'000);
  CHECK(points.back().time_ms == (kStart + 299) * 60'000);
  CHECK(points.back().lower == 90);
  past.Put(kStart + 1000, 1, 1, 1);
  CHECK(past.Points().size() == 1);
}

TEST_CASE("Little evidence says little, and one good hour is not enough", "[forecast][choice]") {
  const auto contender = [](const std::vector<Hour>& hours) {
    return ContenderOf(ForecastModel::kRidge30, true, DayOf(hours));
  };
  const std::vector<Hour> steady(24, {0.9F, 1});
  CHECK(contender(steady).cost == Approx(0.904).margin(0.005));
  CHECK(contender(steady).evidence > 3);
  CHECK(contender(steady).usable);
  CHECK_FALSE(contender({{0.9F, 1}, {0.9F, 1}}).usable);
  CHECK(contender({{0.5F, 1}, {0.5F, 1}, {0.5F, 1}, {0.5F, 1}}).cost == Approx(0.6).margin(0.01));
  // As much is gained in all, but in one hour, and half of it is lost in the others.
  std::vector<Hour> lucky(24, {1.1F, 1});
  lucky[10] = {1, 6};
  CHECK(contender(lucky).cost < 0.95);
  CHECK(contender(lucky).evidence < 0.7);
  CHECK_FALSE(ContenderOf(ForecastModel::kRidge30, false, DayOf(steady)).usable);
  // Where the last value was never wrong nothing can be better.
  CHECK(contender(std::vector<Hour>(24, {0, 0})).cost == 1);
  CHECK(contender(std::vector<Hour>(24, {0, 0})).evidence == 0);
}

TEST_CASE("The last value is in use until it is beaten by enough", "[forecast][choice]") {
  const Contender last = Of(ForecastModel::kLastValue, 1, 0);
  const auto choose = [&](std::vector<Contender> others, size_t in_use, bool in_doubt = false) {
    others.insert(others.begin(), last);
    return Choose(others, in_use, 0.03, in_doubt);
  };
  CHECK(choose({Of(ForecastModel::kRidge30, 0.99)}, 0) == 0);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.97)}, 0) == 1);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.99)}, 1) == 1);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.97, 0.5)}, 0) == 0);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.97, 0.5)}, 1) == 1);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.97, 1)}, 1, true) == 0);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.97, 3)}, 1, true) == 1);
  // Of two good ones the second is taken when it is better by enough.
  CHECK(choose({Of(ForecastModel::kRidge30, 0.90), Of(ForecastModel::kRidge60, 0.89)}, 1) == 1);
  CHECK(choose({Of(ForecastModel::kRidge30, 0.90), Of(ForecastModel::kRidge60, 0.88)}, 1) == 2);
  // A good upper quantile does not make up for a larger error.
  Contender wide = Of(ForecastModel::kDayRise, 0.8);
  wide.error = 1.01;
  CHECK(choose({wide}, 0) == 0);
  CHECK(choose({wide}, 1) == 0);
  CHECK(choose({}, 5) == 0);
}

TEST_CASE("A network has a margin of its own", "[forecast][choice]") {
  const auto choose = [](double network, size_t in_use) {
    const std::vector<Contender> contenders = {Of(ForecastModel::kLastValue, 1, 0),
                                               Of(ForecastModel::kRidge30, 0.90),
                                               Of(ForecastModel::kBiLstm, network)};
    return Choose(contenders, in_use, 0.05, false);
  };
  CHECK(choose(0.86, 1) == 1);
  CHECK(choose(0.85, 1) == 2);
  CHECK(choose(0.87, 2) == 2);
  CHECK(choose(0.885, 2) == 1);
  const std::vector<Contender> alone = {Of(ForecastModel::kLastValue, 1, 0),
                                        Of(ForecastModel::kBiLstm, 0.96)};
  CHECK(Choose(alone, 0, 0.05, false) == 0);
  CHECK(Choose(alone, 0, 0.03, false) == 1);
}

TEST_CASE("A choice is in doubt from one per cent on until it is even again",
          "[forecast][choice]") {
  CHECK(IsInDoubt({.error = 1.02, .last_value_error = 1}, false));
  CHECK_FALSE(IsInDoubt({.error = 1.005, .last_value_error = 1}, false));
  CHECK(IsInDoubt({.error = 1.005, .last_value_error = 1}, true));
  CHECK_FALSE(IsInDoubt({.error = 1, .last_value_error = 1}, true));
}

}  // namespace tidemark::forecast
