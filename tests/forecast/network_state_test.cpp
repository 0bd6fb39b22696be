// Weights as bytes, and fits that begin from them.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "forecast/network_forecaster.h"
#include "tests/catch.h"
#include "tests/forecast/network_fixture.h"

namespace tidemark::forecast {
namespace {

NetworkForecaster Make(const NetworkOptions& options = SmallNetwork(),
                       ForecastModel model = ForecastModel::kBiLstm,
                       const Horizons& horizons = Horizons()) {
  return {model, horizons, options};
}

Result<void> RestoreFrom(NetworkForecaster& forecaster, const std::string& bytes) {
  ByteReader in(bytes);
  auto restored = forecaster.Restore(in);
  if (restored && !in.AtEnd()) return Fail(ErrorCode::kInternal, "not all was read");
  return restored;
}

std::string Refusal(NetworkForecaster forecaster, const std::string& bytes) {
  const auto restored = RestoreFrom(forecaster, bytes);
  REQUIRE_FALSE(restored);
  CHECK(restored.error().code == ErrorCode::kInvalidArgument);
  CHECK_FALSE(forecaster.IsFitted());
  return restored.error().message;
}

bool Says(const std::string& message, const std::string& part) {
  CAPTURE(message);
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what is restored forecasts the same and saves the same") {
  const DemandSeries series = Wave(500, 0.2);
  const DemandHistory history = HistoryOf(series);
  NetworkForecaster fitted = Make();
  REQUIRE(fitted.Fit(series, {.seed = 3}));
  const std::string bytes = Bytes(fitted);
  NetworkForecaster other = Make();
  REQUIRE(RestoreFrom(other, bytes));
  CHECK(other.IsFitted());
  CHECK(Bytes(other) == bytes);
  std::vector<double> a(3);
  std::vector<double> b(3);
  for (int64_t now = series.end() - 50; now < series.end(); ++now) {
    REQUIRE(fitted.Forecast(history, now, a));
    REQUIRE(other.Forecast(history, now, b));
    CHECK(a == b);
  }

  // One that has learnt nothing saves that, and takes it back.
  const NetworkForecaster empty = Make();
  REQUIRE(RestoreFrom(other, Bytes(empty)));
  CHECK_FALSE(other.IsFitted());
}

TEST_CASE("a fit from known weights takes fewer iterations and is no worse") {
  NetworkOptions options = SmallNetwork();
  options.max_iterations = 400;
  NetworkForecaster cold = Make(options);
  const auto first = cold.Fit(Wave(700, 0.1), {.seed = 3});
  REQUIRE(first);
  NetworkForecaster warm = Make(options);
  REQUIRE(RestoreFrom(warm, Bytes(cold)));
  const auto second = warm.Fit(Wave(760, 0.1), {.seed = 4});
  REQUIRE(second);
  CHECK(second->iterations <= 100);
  CHECK(second->loss < first->loss * 1.1);
  // A hundred iterations from nothing come less far.
  options.max_iterations = 100;
  NetworkForecaster again = Make(options);
  const auto third = again.Fit(Wave(760, 0.1), {.seed = 4});
  REQUIRE(third);
  CHECK(second->loss < third->loss);
}

TEST_CASE("weights of another network are refused, and nothing changes") {
  NetworkForecaster fitted = Make();
  REQUIRE(fitted.Fit(Wave(300), {}));
  const std::string bytes = Bytes(fitted);

  NetworkOptions options = SmallNetwork();
  CHECK(Says(Refusal(Make(options, ForecastModel::kLstm), bytes), "another network"));
  options.hidden = 9;
  CHECK(Says(Refusal(Make(options), bytes), "another network (8 units, 12 minutes back)"));
  options = SmallNetwork();
  options.look_back = 13;
  CHECK(Says(Refusal(Make(options), bytes), "another network"));
  options = SmallNetwork();
  options.readout = Readout::kLastStep;
  CHECK(Says(Refusal(Make(options), bytes), "another network"));
  options = SmallNetwork();
  options.recursive = true;
  CHECK(Says(Refusal(Make(options), bytes), "another network"));
  const std::vector<int32_t> two = {1, 3};
  CHECK(Says(Refusal(Make(SmallNetwork(), ForecastModel::kBiLstm, Horizons(two)), bytes),
             "other horizons"));
  const std::vector<int32_t> others = {1, 3, 11};
  CHECK(Says(Refusal(Make(SmallNetwork(), ForecastModel::kBiLstm, Horizons(others)), bytes),
             "other horizons"));
  std::string newer = bytes;
  newer[0] = 2;
  CHECK(Says(Refusal(Make(), newer), "version 2 is not known, allowed: 1"));
  CHECK(Says(Refusal(Make(), ""), "version 0"));
}

TEST_CASE("cut or damaged weights are refused, never half taken over") {
  NetworkForecaster fitted = Make();
  REQUIRE(fitted.Fit(Wave(300), {}));
  const std::string bytes = Bytes(fitted);
  NetworkForecaster target = Make();
  for (size_t size = 0; size < bytes.size(); size += size < 120 ? 1 : 37) {
    CAPTURE(size);
    REQUIRE_FALSE(RestoreFrom(target, bytes.substr(0, size)));
    REQUIRE_FALSE(target.IsFitted());
  }
  const auto put = [&](size_t from_end, float value) {
    std::string changed = bytes;
    const auto bits = std::bit_cast<std::array<char, 4>>(value);
    std::copy(bits.begin(), bits.end(), changed.end() - static_cast<ptrdiff_t>(from_end));
    return changed;
  };
  CHECK(Says(Refusal(Make(), put(4, std::numeric_limits<float>::quiet_NaN())), "not finite"));
  CHECK(Says(Refusal(Make(), put(400, std::numeric_limits<float>::infinity())), "not finite"));

  // Whatever is damaged: it is refused, or it is a network that forecasts nothing below 0.
  std::mt19937_64 random(5);
  const DemandSeries series = Wave(60);
  const DemandHistory history = HistoryOf(series);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    damaged[random() % (i % 2 == 0 ? 90 : damaged.size())] = static_cast<char>(random());
    NetworkForecaster victim = Make();
    if (!RestoreFrom(victim, damaged)) continue;
    std::vector<double> out(3);
    if (!victim.IsFitted() || !victim.Forecast(history, series.end() - 1, out)) continue;
    for (const double value : out) REQUIRE((std::isfinite(value) && value >= 0));
  }
}

}  // namespace tidemark::forecast
