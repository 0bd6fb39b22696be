// A track goes on after it was saved, adapted or merged as if nothing had been.
#include <random>

#include "forecast/forecast_track.h"
#include "tests/catch.h"
#include "tests/forecast/fake_forecaster.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kStart = 29'000'160;
constexpr int64_t kDay = 1440;

ForecastRule UsualRule() {
  ForecastRule rule;
  rule.models = {ForecastModel::kDayRise, ForecastModel::kRidge30, ForecastModel::kRidge60,
                 ForecastModel::kBiLstm};
  return rule;
}

void SetUsualWorld() {
  World() = {};
  World().errors = {{ForecastModel::kDayRise, 6},
                    {ForecastModel::kRidge30, 4},
                    {ForecastModel::kRidge60, 5},
                    {ForecastModel::kBiLstm, 3}};
}

ForecastTrack RestoreOf(const std::string& bytes, const ForecastRule& rule = UsualRule(),
                        const ForecastSettings& settings = {}) {
  ByteReader in(bytes);
  auto track = ForecastTrack::Restore(in, rule, settings, MakeFake);
  REQUIRE(track);
  REQUIRE(in.AtEnd());
  return *std::move(track);
}

ForecastTrack Grown(int64_t minutes, const ForecastRule& rule = UsualRule()) {
  ForecastTrack track(rule, {}, MakeFake);
  for (int64_t minute = kStart; minute < kStart + minutes; ++minute) {
    track.Add(minute, World().demand(minute));
    FitDue(track, minute, MakeFake);
  }
  return track;
}

}  // namespace

TEST_CASE("A restored track goes on exactly as the saved one", "[forecast][track][saved]") {
  SetUsualWorld();
  const uint64_t seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U);
  std::mt19937_64 random(seed);
  ForecastTrack original(UsualRule(), {}, MakeFake);
  ForecastTrack restored(UsualRule(), {}, MakeFake);
  int64_t minute = kStart + static_cast<int64_t>(random() % 1440);
  for (int step = 0; step < 6000; ++step) {
    minute += random() % 200 == 0 ? static_cast<int64_t>(random() % 400) : 1;
    const double demand =
        random() % 50 == 0 ? 0 : World().demand(minute) * (random() % 500 == 0 ? 10 : 1);
    original.Add(minute, demand);
    restored.Add(minute, demand);
    if (random() % 10 == 0) {
      const auto fitted = FitDue(original, minute, MakeFake);
      CHECK(FitDue(restored, minute, MakeFake) == fitted);
    }
    if (random() % 400 == 0) {
      const std::string bytes = Saved(original);
      REQUIRE(Saved(restored) == bytes);
      restored = RestoreOf(bytes);
      REQUIRE(Saved(restored) == bytes);
    }
  }
  CHECK(Saved(restored) == Saved(original));
  const WorkloadForecast one = original.Now(minute);
  const WorkloadForecast other = restored.Now(minute);
  REQUIRE(one.horizons.size() == other.horizons.size());
  CHECK(one.high_water == other.high_water);
  for (size_t i = 0; i < one.horizons.size(); ++i) {
    CHECK(one.horizons[i].demand == other.horizons[i].demand);
    CHECK(one.horizons[i].upper == other.horizons[i].upper);
    CHECK(original.Quantile(minute, i, 0.999) == restored.Quantile(minute, i, 0.999));
  }
}

TEST_CASE("Tracks of real models are restored to the bit as well", "[forecast][track][saved]") {
  ForecastTrack original({}, {});
  for (int64_t minute = kStart; minute < kStart + 3 * kDay; ++minute) {
    original.Add(minute, 100 + 30 * std::sin(static_cast<double>(minute % kDay) / 230) +
                             Noise(static_cast<uint64_t>(minute)));
    FitDue(original, minute, MakeForecaster);
  }
  const std::string bytes = Saved(original);
  ByteReader in(bytes);
  auto restored = ForecastTrack::Restore(in, {}, {});
  REQUIRE(restored);
  for (int64_t minute = kStart + 3 * kDay; minute < kStart + 3 * kDay + 300; ++minute) {
    original.Add(minute, JumpyDemand(minute));
    restored->Add(minute, JumpyDemand(minute));
  }
  CHECK(Saved(*restored) == Saved(original));
}

TEST_CASE("Drawn and empty tracks are saved too", "[forecast][track][saved]") {
  ForecastRule rule;
  rule.steps = GENERATE(DemandSteps::kNone, DemandSteps::kFiveMinutes, DemandSteps::kMinutes);
  const int64_t minutes = GENERATE(0, 13);
  ForecastTrack track(rule, {}, MakeFake);
  for (int64_t i = 0; i < minutes; ++i) track.Add(kStart + i, 7);
  ForecastTrack again = RestoreOf(Saved(track), rule);
  track.Add(kStart + 14, 9);
  again.Add(kStart + 14, 9);
  CHECK(Saved(again) == Saved(track));
}

TEST_CASE("Bytes that were cut or changed are refused, or make a track that can be saved",
          "[forecast][track][saved]") {
  SetUsualWorld();
  const std::string bytes = Saved(Grown(1000));
  for (size_t size = 0; size < bytes.size(); size += 1 + size / 40) {
    ByteReader in(std::string_view(bytes).substr(0, size));
    CHECK_FALSE(ForecastTrack::Restore(in, UsualRule(), {}, MakeFake));
  }
  std::mt19937_64 random(7);
  int restored = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string changed = bytes;
    changed[random() % changed.size()] ^= static_cast<char>(1U << (random() % 8));
    ByteReader in(changed);
    auto track = ForecastTrack::Restore(in, UsualRule(), {}, MakeFake);
    if (!track) continue;
    ++restored;
    RestoreOf(Saved(*track));
    for (int64_t minute = 0; minute < 20; ++minute) track->Add(kStart + 1000 + minute, 5);
    RestoreOf(Saved(*track));
  }
  CHECK(restored > 0);
}

TEST_CASE("Weights that a model does not know any more are left out", "[forecast][track][saved]") {
  SetUsualWorld();
  const std::string bytes = Saved(Grown(600));
  ByteReader in(bytes);
  auto track = ForecastTrack::Restore(in, UsualRule(), {});  // real models, weights of fakes
  REQUIRE(track);
  CHECK(track->Weights(ForecastModel::kRidge30).empty());
  CHECK(track->history().Span() == 600);
  CHECK(track->Due(kStart + 600).size() >= 2);
}

TEST_CASE("Other candidates leave history and the scores of those that stay",
          "[forecast][track][adapt]") {
  SetUsualWorld();
  ForecastTrack track = Grown(1000);
  const auto before = track.Now(kStart + 999).horizons.at(0);
  CHECK(before.model == ForecastModel::kRidge30);
  ForecastRule rule = UsualRule();
  rule.models = {ForecastModel::kRidge60, ForecastModel::kHoltWinters};
  track.Adapt(rule, {});
  auto now = track.Now(kStart + 999).horizons.at(0);
  CHECK(now.model == ForecastModel::kLastValue);
  REQUIRE(now.scores.size() == 3);
  CHECK(now.scores[1].model == ForecastModel::kHoltWinters);
  CHECK_FALSE(now.scores[1].day_error_ratio);
  CHECK(now.scores[2].day_error_ratio == before.scores[3].day_error_ratio);
  track.Add(kStart + 1000, World().demand(kStart + 1000));
  CHECK(track.Now(kStart + 1000).horizons.at(0).model == ForecastModel::kRidge60);
  CHECK(track.history().Span() == 1001);
}

TEST_CASE("Other horizons keep what is known of those that stay", "[forecast][track][adapt]") {
  SetUsualWorld();
  ForecastTrack track = Grown(1000);
  const auto before = track.Now(kStart + 999).horizons;
  ForecastSettings settings;
  settings.horizons_minutes = {3, 20};
  track.Adapt(UsualRule(), settings);
  track.Add(kStart + 1000, World().demand(kStart + 1000));
  const auto now = track.Now(kStart + 1000).horizons;
  REQUIRE(now.size() == 2);
  CHECK(now[0].horizon_seconds == 180);
  CHECK(now[0].scores[0].scored == before[1].scores[0].scored + 1);
  CHECK(now[1].scores[0].scored == 0);
  // What has learnt other horizons has to learn again.
  CHECK(track.Due(kStart + 1000).size() == 3);
}

TEST_CASE("Another resource or finer steps begin anew, coarser ones keep the history",
          "[forecast][track][adapt]") {
  SetUsualWorld();
  ForecastRule rule = UsualRule();
  rule.resource = Resource::kMemory;
  ForecastTrack other = Grown(100);
  other.Adapt(rule, {});
  CHECK(other.history().IsEmpty());
  CHECK(other.resource() == Resource::kMemory);

  ForecastTrack coarse = Grown(103);
  rule = UsualRule();
  rule.steps = DemandSteps::kFiveMinutes;
  coarse.Adapt(rule, {});
  CHECK(coarse.history().Span() == 21);
  coarse.Add(kStart + 103, 200);  // into the step that had begun
  const double mean = (World().demand(kStart + 100) + World().demand(kStart + 101) +
                       World().demand(kStart + 102) + 200) /
                      4;
  CHECK(*coarse.Now(kStart + 103).demand == Approx(mean).epsilon(1e-3));
  coarse.Adapt(UsualRule(), {});
  CHECK(coarse.history().IsEmpty());
  CHECK(coarse.steps() == DemandSteps::kMinutes);
}

TEST_CASE("The same configuration changes nothing", "[forecast][track][adapt]") {
  SetUsualWorld();
  ForecastTrack track = Grown(700);
  const std::string before = Saved(track);
  track.Adapt(UsualRule(), {});
  CHECK(Saved(track) == before);
}

TEST_CASE("A past is put before what is known, and brings its fits and scores where there are none",
          "[forecast][track][merge]") {
  SetUsualWorld();
  const ForecastTrack past = Grown(2 * kDay);
  ForecastTrack live(UsualRule(), {}, MakeFake);
  SECTION("into an empty one all of it") {
    live.Merge(past);
    CHECK(Saved(live) == Saved(past));
  }
  SECTION("into one that has begun all but what waits") {
    live.Add(kStart + 2 * kDay + 3, 100);
    live.Merge(past);
    CHECK(live.history().Span() == 2 * kDay + 4);
    CHECK(live.history().At(kStart) == Approx(past.history().At(kStart)).epsilon(1e-4));
    const auto now = live.Now(kStart + 2 * kDay + 3).horizons.at(0);
    CHECK(now.scores.at(2).scored > 1000);
    live.Add(kStart + 2 * kDay + 4, 100);
    CHECK(live.Now(kStart + 2 * kDay + 4).horizons.at(0).model == ForecastModel::kBiLstm);
    CHECK(live.Now(kStart + 2 * kDay + 4).high_water);
  }
  SECTION("into one that knows better only the history") {
    for (int64_t minute = kStart + 2 * kDay; minute < kStart + 3 * kDay; ++minute) {
      live.Add(minute, World().demand(minute));
      FitDue(live, minute, MakeFake);
    }
    const auto before = live.Now(kStart + 3 * kDay - 1).horizons.at(0).scores.at(2);
    live.Merge(past);
    const auto after = live.Now(kStart + 3 * kDay - 1).horizons.at(0).scores.at(2);
    CHECK(after.day_error_ratio == before.day_error_ratio);
    CHECK(after.scored == before.scored);
    CHECK(live.history().Span() == 3 * kDay);
    // The same again adds nothing but to the tail.
    const DemandSeries once = live.Series();
    live.Merge(past);
    CHECK(live.Series().values == once.values);
  }
  SECTION("of another resource nothing") {
    ForecastRule rule = UsualRule();
    rule.resource = Resource::kMemory;
    ForecastTrack other(rule, {}, MakeFake);
    const std::string before = Saved(other);
    other.Merge(past);
    CHECK(Saved(other) == before);
  }
}

TEST_CASE("A past that ends later than what is known is gone on from", "[forecast][track][merge]") {
  SetUsualWorld();
  const ForecastTrack past = Grown(400);
  ForecastTrack live(UsualRule(), {}, MakeFake);
  for (int64_t i = 0; i < 30; ++i) live.Add(kStart + 300 + i, 100);
  live.Merge(past);
  CHECK(live.history().newest() == kStart + 399);
  CHECK(live.Now(kStart + 399).horizons.empty());
  live.Add(kStart + 400, 100);
  CHECK(live.Now(kStart + 400).horizons.size() == 3);
}

}  // namespace tidemark::forecast
