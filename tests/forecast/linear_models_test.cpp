// What holds for every model that is not a network.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "forecast/forecaster.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kStart = 20'000 * 1440LL + 333;
constexpr std::array kModels = {ForecastModel::kLastValue,   ForecastModel::kDayRise,
                                ForecastModel::kSeasonalDay, ForecastModel::kSeasonalWeek,
                                ForecastModel::kHoltWinters, ForecastModel::kRidge30,
                                ForecastModel::kRidge60,     ForecastModel::kArima};

DemandHistory HistoryOf(const std::vector<double>& values) {
  DemandHistory history;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i])) history.Put(kStart + static_cast<int64_t>(i), values[i]);
  }
  return history;
}

/// Waves over day and hour, noise that remembers.
std::vector<double> Lively(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> normal;
  std::vector<double> values;
  double memory = 0;
  for (size_t i = 0; i < count; ++i) {
    memory = 0.9 * memory + normal(random);
    const double day = 2 * std::numbers::pi * static_cast<double>(i) / 1440;
    values.push_back(std::max(0.0, 40 + 12 * std::sin(day) + 4 * std::sin(24 * day) + memory));
  }
  return values;
}

bool FitTo(Forecaster& model, const DemandHistory& history) {
  return !model.NeedsFit() || model.Fit(history.Series(), {}).has_value();
}

std::optional<std::vector<double>> Said(const Forecaster& model, const DemandHistory& history,
                                        const Horizons& horizons) {
  std::vector<double> out(horizons.size(), -1);
  if (model.Forecast(history, history.newest(), out)) return out;
  CHECK(std::all_of(out.begin(), out.end(), [](double value) { return value == -1; }));
  return std::nullopt;
}

std::string Saved(const Forecaster& model) {
  std::string bytes;
  ByteWriter out(bytes);
  model.Save(out);
  return bytes;
}

}  // namespace

TEST_CASE("every model says which it is", "[forecast][models]") {
  for (const ForecastModel model : kModels) {
    const auto made = MakeForecaster(model, Horizons());
    CHECK(made->model() == model);
    CHECK(made->look_back() >= 1);
    CHECK(made->FitSeconds(11'520) >= 0);
    CHECK(made->IsFitted() == !made->NeedsFit());
  }
}

TEST_CASE("a demand in another unit is forecast in that unit", "[forecast][models]") {
  const auto values = Lively(9 * 1440, 4);
  for (const double unit : {1.0 / 1024, 4096.0}) {  // powers of two change no digit
    std::vector<double> scaled = values;
    for (double& value : scaled) value *= unit;
    const DemandHistory one = HistoryOf(values);
    const DemandHistory other = HistoryOf(scaled);
    for (const ForecastModel model : kModels) {
      INFO(ToString(model) << " times " << unit);
      const auto here = MakeForecaster(model, Horizons());
      const auto there = MakeForecaster(model, Horizons());
      REQUIRE(FitTo(*here, one));
      REQUIRE(FitTo(*there, other));
      const auto said = Said(*here, one, Horizons());
      const auto again = Said(*there, other, Horizons());
      REQUIRE(said);
      REQUIRE(again);
      for (size_t h = 0; h < said->size(); ++h) {
        CHECK((*again)[h] == Approx((*said)[h] * unit).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("a constant demand is forecast to stay, or refused by what has to learn",
          "[forecast][models]") {
  const DemandHistory history = HistoryOf(std::vector<double>(8 * 1440, 12.5));
  for (const ForecastModel model : kModels) {
    INFO(ToString(model));
    const auto made = MakeForecaster(model, Horizons());
    if (made->NeedsFit()) {
      const auto fit = made->Fit(history.Series(), {});
      REQUIRE_FALSE(fit);
      CHECK(fit.error().code == ErrorCode::kInvalidArgument);
      CHECK(fit.error().message == "history: the demand does not move");
      CHECK_FALSE(made->IsFitted());
      CHECK_FALSE(Said(*made, history, Horizons()));
      continue;
    }
    const auto said = Said(*made, history, Horizons());
    REQUIRE(said);
    for (const double value : *said) CHECK(value == Approx(12.5).epsilon(1e-4));
  }
}

TEST_CASE("what repeats every day is forecast by the models that know of days",
          "[forecast][models]") {
  std::vector<double> values;
  for (size_t i = 0; i < 8 * 1440; ++i) {
    const size_t minute = i % 1440;
    const double day = 2 * std::numbers::pi * static_cast<double>(minute) / 1440;
    // A job of ten minutes at the same minute, which nothing announces.
    values.push_back(20 + 8 * std::sin(day) + (minute >= 700 && minute < 710 ? 30 : 0));
  }
  values.resize(7 * 1440 + 698);  // the newest minute is 697; the job begins within three
  const DemandHistory history = HistoryOf(values);
  const Horizons horizons;
  const double truth = 20 + 8 * std::sin(2 * std::numbers::pi * 700 / 1440) + 30;
  for (const ForecastModel model :
       {ForecastModel::kDayRise, ForecastModel::kSeasonalDay, ForecastModel::kSeasonalWeek,
        ForecastModel::kHoltWinters, ForecastModel::kRidge30, ForecastModel::kRidge60}) {
    INFO(ToString(model));
    const auto made = MakeForecaster(model, horizons);
    REQUIRE(FitTo(*made, history));
    const auto said = Said(*made, history, horizons);
    REQUIRE(said);
    // Neighbours are averaged, so the edge of the job is blurred: most of it is seen coming.
    CHECK((*said)[1] > values.back() + 10);
    CHECK((*said)[1] < truth + 5);
    CHECK((*said)[0] < values.back() + 12);
  }
}

TEST_CASE("forecasts are finite and not negative, whatever came", "[forecast][models]") {
  std::mt19937_64 random(21);
  const std::vector<int32_t> all = {1, 7, 30, 60};
  for (int trial = 0; trial < 24; ++trial) {
    auto values =
        Lively(static_cast<size_t>(400 + 500 * trial), 100 + static_cast<uint64_t>(trial));
    const auto somewhere = [&] { return random() % values.size(); };
    for (int i = 0; i < trial % 7; ++i) {  // spikes of any size, and down to nothing
      values[somewhere()] = std::pow(10.0, static_cast<double>(random() % 40));
      values[somewhere()] = 0;
    }
    for (int i = 0; i < trial % 5; ++i) {  // gaps
      const size_t from = somewhere();
      const size_t to = std::min(values.size(), from + 1 + random() % 200);
      for (size_t k = from; k < to; ++k) values[k] = std::numeric_limits<double>::quiet_NaN();
    }
    if (trial % 3 == 0) {  // it ends in a step
      for (size_t k = values.size() - 20; k < values.size(); ++k) values[k] *= 50;
    }
    const DemandHistory history = HistoryOf(values);
    const Horizons horizons = trial % 2 == 0 ? Horizons() : Horizons(all);
    for (const ForecastModel model : kModels) {
      INFO(ToString(model) << ", trial " << trial);
      if (model == ForecastModel::kArima && trial % 4 != 0) continue;  // it takes its time
      const auto made = MakeForecaster(model, horizons);
      (void)FitTo(*made, history);
      for (int64_t back = 0; back < 300; back += 7) {
        std::vector<double> out(horizons.size(), 0);
        if (!made->Forecast(history, history.newest() - back, out)) continue;
        for (const double value : out) {
          CHECK(value >= 0);
          CHECK(std::isfinite(value));
        }
      }
    }
  }
}

TEST_CASE("short gaps are bridged in what a forecast is made from, longer ones are not",
          "[forecast][models]") {
  const auto values = Lively(9 * 1440, 8);
  const DemandHistory whole = HistoryOf(values);
  for (const ForecastModel model : kModels) {
    INFO(ToString(model));
    const auto made = MakeForecaster(model, Horizons());
    REQUIRE(FitTo(*made, whole));
    for (const size_t length : {size_t{5}, size_t{6}}) {
      // At the end, and where only models that look back see it.
      for (const size_t from : {values.size() - 1 - length, values.size() - 20}) {
        auto gappy = values;
        const bool at_end = from != values.size() - 20;
        const size_t begin = at_end ? values.size() - length : from;
        for (size_t k = begin; k < begin + length; ++k) {
          gappy[k] = std::numeric_limits<double>::quiet_NaN();
        }
        const DemandHistory history = HistoryOf(gappy);
        std::vector<double> out(3);
        const int64_t now = whole.newest();
        const bool says = made->Forecast(history, now, out);
        const bool only_now =
            model == ForecastModel::kLastValue || model == ForecastModel::kDayRise;
        const bool level =
            model == ForecastModel::kSeasonalDay || model == ForecastModel::kSeasonalWeek;
        if (level) continue;  // goes by the share of the hour that is known: its own test
        CHECK(says == (length == 5 || (only_now && !at_end)));
      }
    }
  }
}

TEST_CASE("seasons need the hour then and now, and their own minutes", "[forecast][models]") {
  const auto values = Lively(8 * 1440, 12);
  const DemandHistory history = HistoryOf(values);
  std::vector<double> out(3);
  for (const auto& [model, season] : {std::pair{ForecastModel::kSeasonalDay, 1440},
                                      std::pair{ForecastModel::kSeasonalWeek, 7 * 1440}}) {
    INFO(ToString(model));
    const auto made = MakeForecaster(model, Horizons());
    CHECK(made->Forecast(history, kStart + season + 60, out));
    CHECK_FALSE(made->Forecast(history, kStart + season - 1, out));
    auto gappy = values;
    for (size_t k = gappy.size() - 30; k < gappy.size(); ++k) {
      gappy[k] = std::numeric_limits<double>::quiet_NaN();
    }
    CHECK_FALSE(made->Forecast(HistoryOf(gappy), history.newest(), out));
  }
}

TEST_CASE("what is saved says the same when it is restored", "[forecast][models]") {
  const DemandHistory history = HistoryOf(Lively(5 * 1440, 6));
  for (const ForecastModel model : kModels) {
    INFO(ToString(model));
    const auto made = MakeForecaster(model, Horizons());
    // A model that has learnt nothing can be saved too.
    const std::string nothing = Saved(*made);
    ByteReader empty(nothing);
    REQUIRE(MakeForecaster(model, Horizons())->Restore(empty));
    CHECK(empty.AtEnd());

    REQUIRE(FitTo(*made, history));
    const std::string bytes = Saved(*made);
    const auto restored = MakeForecaster(model, Horizons());
    ByteReader in(bytes);
    REQUIRE(restored->Restore(in));
    CHECK(in.AtEnd());
    CHECK(restored->IsFitted());
    CHECK(Saved(*restored) == bytes);
    CHECK(Said(*restored, history, Horizons()) == Said(*made, history, Horizons()));
    CHECK(restored->MemoryBytes() <= made->MemoryBytes());
    CHECK(made->MemoryBytes() < 4096);
  }
}

TEST_CASE("bytes that are no such model are refused, and the model is as before",
          "[forecast][models]") {
  const DemandHistory history = HistoryOf(Lively(3 * 1440, 6));
  const std::vector<int32_t> others = {1, 5};
  for (const ForecastModel model : kModels) {
    const auto made = MakeForecaster(model, Horizons());
    if (!made->NeedsFit()) continue;
    INFO(ToString(model));
    REQUIRE(FitTo(*made, history));
    const std::string bytes = Saved(*made);
    const auto victim = MakeForecaster(model, Horizons());
    REQUIRE(FitTo(*victim, HistoryOf(Lively(2 * 1440, 9))));
    const std::string before = Saved(*victim);
    const auto refuses = [&](const std::string& wrong) {
      ByteReader in(wrong);
      const auto result = victim->Restore(in);
      if (result) return false;
      CHECK(result.error().code == ErrorCode::kInvalidArgument);
      return Saved(*victim) == before;
    };
    for (size_t length = 0; length < bytes.size(); ++length) {
      REQUIRE(refuses(bytes.substr(0, length)));
    }
    for (const size_t at : {0, 1, 2, 3}) {  // format, model, horizons
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] + 1);
      CHECK(refuses(wrong));
    }
    std::string infinite = bytes;
    for (size_t i = infinite.size() - 8; i < infinite.size(); ++i) infinite[i] = '\x7f';
    infinite[infinite.size() - 2] = '\xf8';
    CHECK(refuses(infinite));
    const auto elsewhere = MakeForecaster(model, Horizons(others));
    ByteReader in(bytes);
    CHECK_FALSE(elsewhere->Restore(in));
    CHECK_FALSE(elsewhere->IsFitted());
  }
}

TEST_CASE("too short a history is refused with the number that is needed", "[forecast][models]") {
  const DemandHistory history = HistoryOf(Lively(250, 6));
  for (const ForecastModel model : kModels) {
    const auto made = MakeForecaster(model, Horizons());
    if (!made->NeedsFit()) continue;
    INFO(ToString(model));
    for (const DemandSeries& series : {history.Series(), DemandSeries{}}) {
      const auto fit = made->Fit(series, {});
      REQUIRE_FALSE(fit);
      CHECK(fit.error().code == ErrorCode::kInvalidArgument);
      CHECK_FALSE(made->IsFitted());
    }
    CHECK(made->Fit(history.Series(), {}).error().message.find("needed: ") != std::string::npos);
    std::stop_source stop;
    stop.request_stop();
    FitOptions options;
    options.stop = stop.get_token();
    const auto stopped = made->Fit(HistoryOf(Lively(2000, 6)).Series(), options);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code == ErrorCode::kUnavailable);
    CHECK_FALSE(made->IsFitted());
  }
}

TEST_CASE("nothing is learnt from a minute that was not measured", "[forecast][models]") {
  // Every tenth minute is missing; what is bridged there would teach that nothing moves.
  std::mt19937_64 random(31);
  std::vector<double> values;
  for (size_t i = 0; i < 3 * 1440; ++i) {
    values.push_back(i % 2 == 0 ? 10 : 20);
    if (i % 10 == 3) values.back() = std::numeric_limits<double>::quiet_NaN();
  }
  const DemandHistory history = HistoryOf(values);
  const auto made = MakeForecaster(ForecastModel::kRidge30, Horizons());
  REQUIRE(FitTo(*made, history));
  double error = 0;
  int count = 0;
  for (int64_t now = history.newest() - 200; now < history.newest() - 3; ++now) {
    std::vector<double> out(3);
    if (std::isnan(history.At(now)) || std::isnan(history.At(now + 1))) continue;
    REQUIRE(made->Forecast(history, now, out));
    error += std::abs(out[0] - double{history.At(now + 1)});
    ++count;
  }
  CHECK(count > 100);
  CHECK(error / count < 1);  // last value errs by 10
}

}  // namespace tidemark::forecast
