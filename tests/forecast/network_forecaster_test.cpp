#include "forecast/network_forecaster.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>
#include <vector>

#include "forecast/network_together.h"
#include "tests/catch.h"
#include "tests/forecast/network_fixture.h"

namespace tidemark::forecast {
namespace {

constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

Horizons Ahead(std::initializer_list<int32_t> minutes) {
  return Horizons(std::span(minutes.begin(), minutes.size()));
}

/// Mean absolute errors over the last `count` minutes: of the model and of the last value, at one
/// horizon.
std::array<double, 2> Errors(const Forecaster& forecaster, const DemandSeries& series,
                             const Horizons& horizons, size_t horizon, int64_t count) {
  const DemandHistory history = HistoryOf(series);
  double own = 0;
  double last = 0;
  std::vector<double> out(horizons.size());
  for (int64_t now = series.end() - count; now + horizons.longest() < series.end(); ++now) {
    REQUIRE(forecaster.Forecast(history, now, out));
    const double truth = double{series.At(now + horizons[horizon])};
    own += std::abs(out[horizon] - truth);
    last += std::abs(double{series.At(now)} - truth);
  }
  return {own, last};
}

bool LongRun() {
  const char* const value = std::getenv("TIDEMARK_LONG");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace

TEST_CASE("both networks learn a wave far better than the last value knows it") {
  const Horizons horizons = Ahead({1, 3, 10});
  for (const ForecastModel model : {ForecastModel::kLstm, ForecastModel::kBiLstm}) {
    const DemandSeries series = Wave(900, 0.05);
    NetworkForecaster forecaster(model, horizons, SmallNetwork());
    CHECK(forecaster.model() == model);
    CHECK(forecaster.NeedsFit());
    CHECK_FALSE(forecaster.IsFitted());
    const auto report = forecaster.Fit(series, {.seed = 7});
    REQUIRE(report);
    CHECK(report->iterations > 50);
    CHECK(report->loss > 0);
    CHECK(report->loss < 0.01);
    CHECK(forecaster.IsFitted());
    for (size_t h = 0; h < horizons.size(); ++h) {
      CAPTURE(ToString(model), horizons[h]);
      const auto [own, last] = Errors(forecaster, series, horizons, h, 80);
      CHECK(own < last * 0.3);
    }
  }
}

TEST_CASE("with one output later minutes are forecast from earlier ones") {
  NetworkOptions options = SmallNetwork();
  options.recursive = true;
  const Horizons horizons = Ahead({1, 5});
  const DemandSeries series = Wave(900, 0.02);
  NetworkForecaster forecaster(ForecastModel::kBiLstm, horizons, options);
  REQUIRE(forecaster.Fit(series, {.seed = 7}));
  const auto [own, last] = Errors(forecaster, series, horizons, 1, 80);
  CHECK(own < last * 0.3);
}

TEST_CASE("the paper's settings are as it says") {
  const NetworkOptions paper = PaperOptions();
  CHECK(paper.hidden == 100);
  CHECK(paper.train_points == 760);
  CHECK(paper.validation_ratio == 0.1);
  CHECK(paper.max_iterations == 10'000);
  CHECK(paper.stop_loss == 1e-4);
  CHECK(paper.recursive);
  CHECK(paper.readout == Readout::kFinalStates);
}

TEST_CASE("the same seed makes the same bytes, alone and together; another one others") {
  const std::vector<DemandSeries> series = {Wave(400, 0.3, 1), Wave(500, 0.3, 2),
                                            Wave(450, 0.3, 3)};
  NetworkOptions options = SmallNetwork();
  options.max_iterations = 60;
  std::vector<std::string> alone;
  for (size_t i = 0; i < series.size(); ++i) {
    NetworkForecaster forecaster(ForecastModel::kBiLstm, Horizons(), options);
    REQUIRE(forecaster.Fit(series[i], {.seed = i}));
    alone.push_back(Bytes(forecaster));
  }
  // The one in the middle is of another shape, so that the buffers have to change.
  NetworkOptions other = options;
  other.hidden = 5;
  NetworkForecaster first(ForecastModel::kBiLstm, Horizons(), options);
  NetworkForecaster narrow(ForecastModel::kLstm, Horizons(), other);
  NetworkForecaster second(ForecastModel::kBiLstm, Horizons(), options);
  NetworkForecaster third(ForecastModel::kBiLstm, Horizons(), options);
  const std::vector<TogetherFit> fits = {{&first, series.data(), {.seed = 0}},
                                         {&narrow, &series[1], {.seed = 5}},
                                         {&second, &series[1], {.seed = 1}},
                                         {&third, &series[2], {.seed = 2}}};
  const auto reports = TrainTogether(fits);
  REQUIRE(reports.size() == 4);
  for (const auto& report : reports) REQUIRE(report);
  CHECK(Bytes(first) == alone[0]);
  CHECK(Bytes(second) == alone[1]);
  CHECK(Bytes(third) == alone[2]);

  NetworkForecaster again(ForecastModel::kBiLstm, Horizons(), options);
  REQUIRE(again.Fit(series[0], {.seed = 99}));
  CHECK(Bytes(again) != alone[0]);
}

TEST_CASE("a fit that is told to stop ends soon and changes nothing; others go on") {
  NetworkOptions options = SmallNetwork();
  options.hidden = 64;
  options.look_back = 60;
  options.batch = 32;
  options.max_iterations = 1'000'000;
  options.patience = 1'000'000;
  const DemandSeries series = Wave(600, 0.3);
  NetworkForecaster endless(ForecastModel::kBiLstm, Horizons(), options);
  NetworkOptions few = options;
  few.max_iterations = 3;
  NetworkForecaster brief(ForecastModel::kBiLstm, Horizons(), few);
  std::stop_source source;
  const std::vector<TogetherFit> fits = {{&endless, &series, {.stop = source.get_token()}},
                                         {&brief, &series, {}}};
  std::vector<Result<FitReport>> reports;
  std::thread thread([&] { reports = TrainTogether(fits); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it would end without it as well
  source.request_stop();
  thread.join();
  REQUIRE(reports.size() == 2);
  REQUIRE_FALSE(reports[0]);
  CHECK(reports[0].error().code == ErrorCode::kUnavailable);
  CHECK_FALSE(endless.IsFitted());
  REQUIRE(reports[1]);
  CHECK(reports[1]->iterations == 3);
  const std::string before = Bytes(brief);
  REQUIRE_FALSE(brief.Fit(series, {.stop = source.get_token()}));
  CHECK(Bytes(brief) == before);
}

TEST_CASE("too short, too full of gaps and flat demand are refused with the reason") {
  NetworkForecaster forecaster(ForecastModel::kBiLstm, Horizons(), SmallNetwork());
  const auto refused = [&](const DemandSeries& series, const std::string& reason) {
    const auto report = forecaster.Fit(series, {});
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::kInvalidArgument);
    CAPTURE(report.error().message);
    CHECK(report.error().message.find(reason) != std::string::npos);
    CHECK_FALSE(forecaster.IsFitted());
  };
  refused({}, "the last 0 minutes has 0 windows of 13 minutes without a gap");
  refused(Wave(54), "has 27 windows of 13 minutes without a gap to learn from, wanted: 32 or more");
  DemandSeries holes = Wave(2000);
  for (size_t t = 0; t < holes.values.size(); t += 13) holes.values[t] = kGap;
  refused(holes, "has 0 windows");
  DemandSeries flat = Wave(900);
  for (float& value : flat.values) value = 3;
  refused(flat, "does not move");
  for (float& value : flat.values) value = 0;
  refused(flat, "does not move");
  DemandSeries steady = Wave(900);  // the same every ten minutes
  for (size_t t = 0; t < steady.values.size(); ++t) steady.values[t] = t % 10 == 0 ? 2.0F : 1.0F;
  refused(steady, "is the same every 10 minutes");
}

TEST_CASE("a gap keeps a forecast from being made until the window is past it") {
  const NetworkOptions options = SmallNetwork();
  DemandSeries series = Wave(600, 0.1);
  const int64_t gap = kFirstMinute + 300;
  series.values[300] = kGap;
  NetworkForecaster forecaster(ForecastModel::kBiLstm, Horizons(), options);
  std::vector<double> out(3, -1);
  const DemandHistory history = HistoryOf(series);
  CHECK_FALSE(forecaster.Forecast(history, gap - 1, out));  // not fitted
  REQUIRE(forecaster.Fit(series, {.seed = 1}));
  CHECK(forecaster.look_back() == 13);
  CHECK(forecaster.Forecast(history, gap - 1, out));
  for (int64_t now = gap; now < gap + 13; ++now) {
    std::vector<double> none(3, -1);
    CHECK_FALSE(forecaster.Forecast(history, now, none));
    CHECK(none == std::vector<double>(3, -1));
  }
  CHECK(forecaster.Forecast(history, gap + 13, out));
  // Before the first minute nothing is known either.
  CHECK_FALSE(forecaster.Forecast(history, kFirstMinute + 11, out));
  CHECK(forecaster.Forecast(history, kFirstMinute + 12, out));
}

TEST_CASE("forecasts are finite and never below 0, whatever comes") {
  const Horizons horizons = Ahead({1, 10});
  for (const bool recursive : {false, true}) {
    NetworkOptions options = SmallNetwork();
    options.recursive = recursive;
    options.max_iterations = 100;
    DemandSeries series = Wave(600, 0.1);
    for (float& value : series.values) value = std::max(0.0F, value - 12);  // often at 0
    NetworkForecaster forecaster(ForecastModel::kBiLstm, horizons, options);
    REQUIRE(forecaster.Fit(series, {.seed = 1}));
    // Afterwards something that was never seen: a fall from the sky.
    for (int i = 0; i < 30; ++i) series.values.push_back(i % 7 == 3 ? 1e30F : 0.0F);
    const DemandHistory history = HistoryOf(series);
    int made = 0;
    std::vector<double> out(2);
    for (int64_t now = series.first + 20; now < series.end(); ++now) {
      if (!forecaster.Forecast(history, now, out)) continue;
      ++made;
      for (const double value : out) {
        REQUIRE(std::isfinite(value));
        REQUIRE(value >= 0);
      }
    }
    CHECK(made > 500);
  }
}

TEST_CASE("a fit costs about as many seconds as it says it takes work") {
  const NetworkForecaster usual(ForecastModel::kBiLstm, Horizons(), NetworkOptions{});
  const NetworkForecaster half(ForecastModel::kLstm, Horizons(), NetworkOptions{});
  CHECK(usual.FitSeconds(2880) > 5);
  CHECK(usual.FitSeconds(2880) < 120);
  CHECK(half.FitSeconds(2880) == Approx(usual.FitSeconds(2880) / 2));
  CHECK(usual.FitSeconds(10) == 0);
}

TEST_CASE("a BiLSTM of 100 units takes 332 kB, and nothing before it is fitted") {
  NetworkOptions options;
  options.max_iterations = 1;
  options.look_back = 5;
  NetworkForecaster forecaster(ForecastModel::kBiLstm, Horizons(), options);
  CHECK(forecaster.MemoryBytes() < 500);
  REQUIRE(forecaster.Fit(Wave(300), {}));
  CHECK(forecaster.MemoryBytes() > 330'000);
  CHECK(forecaster.MemoryBytes() < 340'000);
  CHECK(Bytes(forecaster).size() < 333'000);
  const auto made = MakeNetwork(ForecastModel::kBiLstm, Horizons());
  CHECK(made->look_back() == 61);
}

TEST_CASE("a BiLSTM of 100 units learns two noisy days, in a long run") {
  if (!LongRun()) return;
  const Horizons horizons;
  const DemandSeries series = Wave(2880, 0.5);
  NetworkForecaster forecaster(ForecastModel::kBiLstm, horizons, NetworkOptions{});
  const auto report = forecaster.Fit(series, {.seed = 7});
  REQUIRE(report);
  for (size_t h = 0; h < horizons.size(); ++h) {
    const auto [own, last] = Errors(forecaster, series, horizons, h, 280);
    CAPTURE(horizons[h], own / last);
    CHECK(own < last * 0.75);
  }
}

}  // namespace tidemark::forecast
