// The request that follows the hours of day and week and corrects itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "estimators/adaptive_request.h"
#include "tests/catch.h"
#include "tests/estimators/saved_bytes.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

// A Monday, 00:00 UTC.
constexpr Time kMonday{std::chrono::seconds(1'700'438'400)};
const AdaptiveRequestOptions kShipped;

Result<AdaptiveRequest> Restored(std::string_view bytes) {
  return RestoredAs<AdaptiveRequest>(bytes);
}

/// Noise that a minute has whatever is done with it; in (0, 1).
double NoiseOf(int64_t minute, int pod = 0) {
  std::mt19937 random(static_cast<uint32_t>(minute * 31 + pod));
  return std::uniform_real_distribution<double>(0.001, 0.999)(random);
}

/// 2 cores by day, a tenth of it at night and at the weekend.
double OfficeHours(int64_t minute) {
  const int64_t hour = minute / 60 % 24;
  const int64_t day = minute / 1440 % 7;
  const double load = day < 5 && hour >= 9 && hour < 17 ? 2 : 0.2;
  return load * (0.9 + 0.1 * NoiseOf(minute));
}

double Steady(int64_t minute) { return 0.5 * (0.95 + 0.05 * NoiseOf(minute)); }

/// Heavy-tailed: the mean is 1, one in a thousand is above 14.
double Bursty(int64_t minute) { return 0.6 * std::pow(1 - NoiseOf(minute), -0.4); }

template <class Usage>
void Feed(AdaptiveRequest& request, int64_t from, int64_t to, Usage usage,
          const AdaptiveRequestOptions& options = kShipped) {
  for (int64_t minute = from; minute < to; ++minute) {
    REQUIRE(request.AddSample(kMonday + std::chrono::minutes(minute), usage(minute), options));
  }
}

double RequestAt(AdaptiveRequest& request, int64_t minute) {
  request.Close(kMonday + std::chrono::minutes(minute), kShipped);
  return request.Request().value();
}

constexpr int64_t kHour = 60;
constexpr int64_t kDay = 1440;
constexpr int64_t kWeek = 7 * kDay;

}  // namespace

TEST_CASE("no request before an hour is over, and what is no usage is refused",
          "[estimators][adaptive]") {
  AdaptiveRequest request;
  CHECK_FALSE(request.Request());
  CHECK_FALSE(request.Explain(kShipped));
  request.Close(kMonday + 5h, kShipped);
  CHECK_FALSE(request.Request());
  Feed(request, 0, 59, Steady);
  CHECK_FALSE(request.Request());
  const std::string before = Saved(request);
  for (const double bad :
       {-0.1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_FALSE(request.AddSample(kMonday + 59min, bad, kShipped));
  }
  CHECK(Saved(request) == before);
  request.Close(kMonday + 60min, kShipped);
  REQUIRE(request.Request());
  CHECK(*request.Request() == Approx(0.5).epsilon(0.05));
}

TEST_CASE("a steady workload is given little more than it uses", "[estimators][adaptive]") {
  AdaptiveRequest request;
  Feed(request, 0, 2 * kWeek, Steady);
  CHECK(RequestAt(request, 2 * kWeek) <= 0.5 * 1.05 * 1.001);
  CHECK(RequestAt(request, 2 * kWeek) >= 0.48);
}

TEST_CASE("what a weekend forgets comes back on Monday morning before the load does",
          "[estimators][adaptive]") {
  AdaptiveRequest request;
  Feed(request, 0, kWeek + 9 * kHour, OfficeHours);
  // Monday, 09:00: no minute of the load has been seen since Friday.
  const double at_nine = RequestAt(request, kWeek + 9 * kHour);
  const auto told = request.Explain(kShipped);
  CHECK(told->day_before < 0.25);
  CHECK(told->week_before == Approx(2).epsilon(0.03));
  CHECK(at_nine > 1);
  AdaptiveRequest without_week;
  Feed(without_week, 4 * kDay, kWeek + 9 * kHour, OfficeHours);
  CHECK(RequestAt(without_week, kWeek + 9 * kHour) < 0.9);
}

TEST_CASE("the hour before the load is given what the load took yesterday",
          "[estimators][adaptive]") {
  AdaptiveRequest request;
  Feed(request, 0, kDay + 9 * kHour, OfficeHours);
  CHECK(RequestAt(request, kDay + 9 * kHour) > 1);
  CHECK(request.Explain(kShipped)->last_hour < 0.25);
  CHECK(request.Explain(kShipped)->day_before > 1.8);
}

TEST_CASE("gaps neither raise nor lower", "[estimators][adaptive]") {
  for (const int64_t gap : {1 * kHour, 5 * kHour, kDay, kDay + 7 * kHour}) {
    AdaptiveRequest request;
    Feed(request, 0, 8 * kDay, Steady);
    const double before = RequestAt(request, 8 * kDay);
    const std::string state = Saved(request);
    for (int64_t minute = 8 * kDay; minute < 8 * kDay + gap; minute += 30) {
      request.Close(kMonday + std::chrono::minutes(minute), kShipped);
    }
    CHECK(Saved(request) == state);
    Feed(request, 8 * kDay + gap, 8 * kDay + gap + 1, Steady);
    CHECK(*request.Request() == Approx(before).epsilon(0.02));
    Feed(request, 8 * kDay + gap + 1, 9 * kDay + gap, Steady);
    CHECK(*request.Request() == Approx(before).epsilon(0.03));
  }
}

TEST_CASE("a day that nobody measured is replaced by the one before it", "[estimators][adaptive]") {
  AdaptiveRequest request;
  Feed(request, 0, 2 * kDay, OfficeHours);
  Feed(request, 3 * kDay, 3 * kDay + 9 * kHour, OfficeHours);  // all of Wednesday is missing
  CHECK(RequestAt(request, 3 * kDay + 9 * kHour) > 1);
}

TEST_CASE("pods whose clocks differ by minutes make the same hours", "[estimators][adaptive]") {
  AdaptiveRequest in_order;
  AdaptiveRequest mixed;
  for (int64_t minute = 0; minute < 3 * kDay; ++minute) {
    for (int pod = 0; pod < 4; ++pod) {
      in_order.AddSample(kMonday + std::chrono::minutes(minute), OfficeHours(minute + pod * 7),
                         kShipped);
    }
  }
  // Pod 3 is up to 12 minutes behind.
  for (int64_t minute = 0; minute < 3 * kDay + 12; ++minute) {
    for (int pod = 0; pod < 4; ++pod) {
      const int64_t own = minute - (pod == 3 ? 12 : 0);
      if (own < 0 || own >= 3 * kDay) continue;
      mixed.AddSample(kMonday + std::chrono::minutes(own), OfficeHours(own + pod * 7), kShipped);
    }
  }
  in_order.Close(kMonday + 72h + 1h, kShipped);
  mixed.Close(kMonday + 72h + 1h, kShipped);
  for (int32_t hour = 0; hour < 72; ++hour) {
    const int32_t slot = HourOf(kMonday) + hour;
    REQUIRE(mixed.hours().At(slot) == Approx(in_order.hours().At(slot)).epsilon(1e-9));
  }
  // What is not lowered by less than 30 % may have been raised a little differently.
  CHECK(*mixed.Request() == Approx(*in_order.Request()).epsilon(0.3));
}

TEST_CASE("samples every minute or every five come to the same", "[estimators][adaptive]") {
  AdaptiveRequest minutes;
  AdaptiveRequest fives;
  Feed(minutes, 0, 4 * kDay, OfficeHours);
  for (int64_t minute = 0; minute < 4 * kDay; minute += 5) {
    fives.AddSample(kMonday + std::chrono::minutes(minute), OfficeHours(minute), kShipped);
  }
  for (const int64_t hour : {1, 9}) {
    const int64_t at = 4 * kDay + hour * kHour;
    Feed(minutes, 4 * kDay + (hour - 1) * kHour, at, OfficeHours);
    for (int64_t minute = 4 * kDay + (hour - 1) * kHour; minute < at; minute += 5) {
      fives.AddSample(kMonday + std::chrono::minutes(minute), OfficeHours(minute), kShipped);
    }
    CHECK(RequestAt(fives, at) == Approx(RequestAt(minutes, at)).epsilon(0.1));
  }
}

TEST_CASE("the share of time above the request comes to what is tolerated",
          "[estimators][adaptive]") {
  for (const double target : {0.1, 0.04, 0.01}) {
    AdaptiveRequestOptions options;
    options.target_exceedance = target;
    AdaptiveRequest request;
    Feed(request, 0, 10 * kDay, Bursty, options);
    int64_t above = 0;
    double tolerated = 0;
    for (int64_t minute = 10 * kDay; minute < 60 * kDay; ++minute) {
      const double usage = Bursty(minute);
      if (usage > *request.Request()) ++above;
      request.AddSample(kMonday + std::chrono::minutes(minute), usage, options);
      if (minute % kHour == 0) tolerated += request.Explain(options)->tolerated;
    }
    const double exceeded = static_cast<double>(above) / (50.0 * kDay);
    INFO(target);
    CHECK(exceeded < 1.6 * tolerated / (50 * 24));
    CHECK(exceeded > 0.5 * tolerated / (50 * 24));
  }
}

TEST_CASE("the more time above the request is wished for, the less is asked for",
          "[estimators][adaptive]") {
  for (const auto usage : {&OfficeHours, &Bursty, &Steady}) {
    double before = 1e9;
    for (const double target : {0.002, 0.01, 0.04, 0.1, 0.3}) {
      AdaptiveRequestOptions options;
      options.target_exceedance = target;
      AdaptiveRequest request;
      Feed(request, 0, 3 * kDay, usage, options);
      double sum = 0;
      for (int64_t minute = 3 * kDay; minute < 10 * kDay; ++minute) {
        request.AddSample(kMonday + std::chrono::minutes(minute), usage(minute), options);
        sum += *request.Request();
      }
      CHECK(sum <= before);
      before = sum;
    }
  }
}

TEST_CASE("a request for days is the least that the histogram tolerates, by the knob",
          "[estimators][adaptive]") {
  const auto layout = HistogramOptions::Exponential(1000, 0.001, 1.05, 0.0001);
  DecayingHistogram histogram(&*layout, 24h);
  AdaptiveRequest request;
  CHECK_FALSE(request.RequestForADay(histogram, kShipped));
  std::vector<double> used;
  for (int64_t minute = 0; minute < 4 * kDay; ++minute) {
    used.push_back(Bursty(minute));
    request.AddSample(kMonday + std::chrono::minutes(minute), used.back(), kShipped);
    histogram.Add(used.back(), 0.1, kMonday);
  }
  double before = 1e9;
  for (const double target : {0.00001, 0.001, 0.01, 0.04, 0.2}) {
    AdaptiveRequestOptions options;
    options.target_exceedance = target;
    const double told = request.RequestForADay(histogram, options).value();
    CHECK(told <= before);
    before = told;
    const double without_margin = told / 1.15;
    const double mean = request.Explain(options)->mean;
    const auto share_above = [&](double level) {
      const auto above = std::ranges::count_if(used, [&](double use) { return use > level; });
      return static_cast<double>(above) / static_cast<double>(used.size());
    };
    CHECK(share_above(without_margin) <= options.Tolerated(told, mean));
    if (target > 0.0005) {
      // A bucket less would be too little.
      CHECK(share_above(without_margin / 1.06) > options.Tolerated(told / 1.06, mean));
    }
  }
}

TEST_CASE("what is tolerated grows with what the request costs, within bounds",
          "[estimators][adaptive]") {
  CHECK(kShipped.Tolerated(1.45, 1) == Approx(0.04));
  CHECK(kShipped.Tolerated(2.9, 1) == Approx(0.08));
  CHECK(kShipped.Tolerated(0.1, 1) == Approx(0.01));
  CHECK(kShipped.Tolerated(1000, 1) == Approx(0.4));
  CHECK(kShipped.Tolerated(1, 0) == Approx(0.04));
}

TEST_CASE("a request rises at once and is lowered by more than a little only",
          "[estimators][adaptive]") {
  AdaptiveRequest request;
  Feed(request, 0, kHour + 1, Bursty);
  double before = *request.Request();
  int falls = 0;
  for (int64_t minute = kHour + 1; minute < 20 * kDay; ++minute) {
    request.AddSample(kMonday + std::chrono::minutes(minute),
                      Bursty(minute) * (minute / kDay % 2 == 0 ? 1 : 0.3), kShipped);
    const double now = *request.Request();
    REQUIRE((now >= before || now < 0.7 * before));
    falls += now < before ? 1 : 0;
    const auto told = request.Explain(kShipped);
    if (minute % kHour == 0) REQUIRE(now >= told->wanted);
    before = now;
  }
  CHECK(falls > 5);
}

TEST_CASE("whatever comes, the request stays between 0 and the cap", "[estimators][adaptive]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 30; ++round) {
    AdaptiveRequest request;
    Time time = kMonday;
    for (int i = 0; i < 4000; ++i) {
      time += std::chrono::seconds(random() % 600);
      if (random() % 200 == 0) time += std::chrono::hours(random() % 300);
      const Time at = random() % 10 == 0 ? time - std::chrono::minutes(random() % 500) : time;
      const double usage =
          random() % 5 == 0 ? 0 : std::lognormal_distribution<double>(0, 3)(random);
      REQUIRE(request.AddSample(at, usage, kShipped));
      if (const auto now = request.Request()) {
        REQUIRE(std::isfinite(*now));
        REQUIRE(*now >= 0);
        const auto told = request.Explain(kShipped);
        REQUIRE(told->wanted <= told->cap);
        REQUIRE(told->correction <= std::exp(1.5) * 1.0001);
        REQUIRE(told->correction >= std::exp(-1.5) * 0.9999);
      }
    }
  }
  AdaptiveRequest extremes;
  for (const Time at : {Time::min(), Time::max(), kMonday, Time::min() + 1h}) {
    CHECK(extremes.AddSample(at, std::numeric_limits<double>::max(), kShipped));
    CHECK(extremes.AddSample(at, 0, kShipped));
  }
}

TEST_CASE("two halves of one workload's pods add up", "[estimators][adaptive]") {
  AdaptiveRequest whole;
  AdaptiveRequest halves[2];
  for (int64_t minute = 0; minute < 5 * kDay + 30; ++minute) {
    for (int pod = 0; pod < 2; ++pod) {
      const double usage = OfficeHours(minute + 3 * pod);
      whole.AddSample(kMonday + std::chrono::minutes(minute), usage, kShipped);
      halves[pod].AddSample(kMonday + std::chrono::minutes(minute), usage, kShipped);
    }
  }
  AdaptiveRequest reversed = halves[1];
  reversed.Merge(halves[0], kShipped);
  AdaptiveRequest merged = halves[0];
  merged.Merge(halves[1], kShipped);
  CHECK(*merged.Request() == *reversed.Request());
  for (int32_t back = 1; back < 120; ++back) {
    const int32_t slot = HourOf(kMonday) + 120 - back;
    REQUIRE(merged.hours().CodeAt(slot) ==
            std::max(halves[0].hours().CodeAt(slot), halves[1].hours().CodeAt(slot)));
  }
  const double now = RequestAt(merged, 5 * kDay + kHour);
  CHECK(now == Approx(RequestAt(whole, 5 * kDay + kHour)).epsilon(0.15));
  CHECK(now == Approx(RequestAt(reversed, 5 * kDay + kHour)));
}

TEST_CASE("a past that is merged before live data is known from then on",
          "[estimators][adaptive]") {
  AdaptiveRequest past;
  Feed(past, 0, kWeek, OfficeHours);
  AdaptiveRequest live;
  Feed(live, kWeek, kWeek + 8 * kHour + 30, OfficeHours);
  AdaptiveRequest whole;
  Feed(whole, 0, kWeek + 8 * kHour + 30, OfficeHours);
  live.Merge(past, kShipped);
  Feed(live, kWeek + 8 * kHour + 30, kWeek + 9 * kHour, OfficeHours);
  Feed(whole, kWeek + 8 * kHour + 30, kWeek + 9 * kHour, OfficeHours);
  CHECK(RequestAt(live, kWeek + 9 * kHour) ==
        Approx(RequestAt(whole, kWeek + 9 * kHour)).epsilon(0.15));
  // Nothing is nothing, in either order.
  const std::string before = Saved(live);
  live.Merge(AdaptiveRequest(), kShipped);
  CHECK(Saved(live) == before);
  AdaptiveRequest empty;
  empty.Merge(live, kShipped);
  CHECK(Saved(empty) == before);
}

TEST_CASE("an adaptive request goes on to the last bit as the saved one",
          "[estimators][adaptive]") {
  AdaptiveRequest request;
  for (int64_t minute = 0; minute < 9 * kDay; minute += 13) {
    if (minute / kDay == 4) continue;
    auto restored = Restored(Saved(request));
    REQUIRE(restored);
    REQUIRE(Saved(*restored) == Saved(request));
    const Time time = kMonday + std::chrono::minutes(minute - (minute % 7 == 0 ? 40 : 0));
    REQUIRE(request.AddSample(time, Bursty(minute), kShipped));
    REQUIRE(restored->AddSample(time, Bursty(minute), kShipped));
    REQUIRE(Saved(*restored) == Saved(request));
    REQUIRE(restored->Request() == request.Request());
  }
  const std::string bytes = Saved(request);
  CHECK(bytes.size() < 800);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    REQUIRE_FALSE(Restored(std::string_view(bytes).substr(0, cut)));
  }
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    auto read = Restored(damaged);
    if (!read) continue;
    REQUIRE(read->AddSample(kMonday + 9 * 24h, 1, kShipped));
    read->Close(kMonday + 10 * 24h, kShipped);
    if (read->Request()) REQUIRE(std::isfinite(*read->Request()));
  }
}

TEST_CASE("format 1 of a saved adaptive request is read as it was written",
          "[estimators][adaptive]") {
  const auto written = [](uint64_t above) {
    std::string bytes;
    ByteWriter out(bytes);
    out.Byte(1);
    out.Bool(true);  // hours: the newest, then 192 levels
    out.Signed(480'100);
    for (int i = 0; i < 191; ++i) out.Varint(0);
    out.Varint(EncodeLevel(2));
    out.Bool(true);  // days: the newest, then 8
    out.Signed(20'004);
    for (int i = 0; i < 7; ++i) out.Varint(0);
    out.Varint(EncodeLevel(4));
    out.Bool(true);  // samples of the running hour: the largest, its bucket, 44 counts
    out.Double(1.0);
    out.Signed(0);
    for (int i = 0; i < 43; ++i) out.Varint(0);
    out.Varint(5);
    out.Double(3.0);  // the request in force
    out.Bool(false);  // the hour before it: no samples
    out.Double(2.5);
    out.Signed(480'101);  // the running hour and the first
    out.Signed(480'000);
    out.Varint(5);      // samples since the last correction
    out.Varint(above);  // of them above the request
    out.Varint(5);      // of the running hour
    out.Varint(7);      // hours learnt from
    out.Double(5.0);    // sum of the running hour
    out.Double(12.0);   // sum of the hours' means, and their number
    out.Double(8.0);
    out.Double(0.25);  // the correction
    return bytes;
  };
  const auto read = Restored(written(2));
  REQUIRE(read);
  CHECK(Saved(*read) == written(2));
  CHECK(read->Request() == 3.0);
  const auto told = read->Explain(kShipped);
  CHECK(told->last_hour == Approx(2).epsilon(0.001));
  CHECK(told->cap == Approx(1.05 * 4).epsilon(0.001));
  CHECK(told->correction == Approx(std::exp(0.25)));
  CHECK(told->mean == 1.5);
  CHECK(told->exceeded == Approx(0.4));
  CHECK_FALSE(Restored(written(6)));  // more above than there are
  std::string other = written(2);
  other[0] = 2;
  CHECK_FALSE(Restored(other));
}

TEST_CASE("an adaptive request takes 700 bytes at most", "[estimators][adaptive]") {
  CHECK(sizeof(AdaptiveRequest) <= 700);
  CHECK(sizeof(AdaptiveRequest) >= 600);
  CHECK(AdaptiveRequest().MemoryBytes() == sizeof(AdaptiveRequest));
}
