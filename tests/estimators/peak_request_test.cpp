// The request by the highest hours of a week.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "estimators/peak_request.h"
#include "tests/catch.h"
#include "tests/estimators/saved_bytes.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'438'400)};
constexpr double kMiB = 1048576;
const PeakRequestOptions kShipped;
const PeakRequestOptions kWithoutMaximum{.safety_factor = 1.1, .keeps_maximum = false};

Result<PeakRequest> Restored(std::string_view bytes) { return RestoredAs<PeakRequest>(bytes); }

/// One sample for each hour.
void Feed(PeakRequest& request, int from, int to, double bytes,
          const PeakRequestOptions& options = kShipped) {
  for (int hour = from; hour < to; ++hour) {
    REQUIRE(request.AddSample(kStart + std::chrono::hours(hour), bytes, options));
  }
}

}  // namespace

TEST_CASE("a peak request begins with the first sample, and what is no usage is refused",
          "[estimators][peak]") {
  PeakRequest request;
  CHECK_FALSE(request.Request());
  CHECK_FALSE(request.Explain(kShipped));
  CHECK(request.DailyMaximum(0) == 0);
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_FALSE(request.AddSample(kStart, bad, kShipped));
  }
  CHECK_FALSE(request.Request());
  REQUIRE(request.AddSample(kStart, 100 * kMiB, kShipped));
  CHECK(*request.Request() == Approx(110 * kMiB).epsilon(0.001));
}

TEST_CASE("a sample above the request raises it at once", "[estimators][peak]") {
  PeakRequest request;
  Feed(request, 0, 100, 100 * kMiB);
  REQUIRE(request.AddSample(kStart + 99h + 30min, 300 * kMiB, kShipped));
  CHECK(*request.Request() >= 300 * kMiB);
  CHECK(*request.Request() <= 301 * kMiB);
  CHECK(request.Explain(kShipped)->is_maximum);
}

TEST_CASE("one exceptional hour is not multiplied, two are", "[estimators][peak]") {
  PeakRequest request;
  Feed(request, 0, 190, 100 * kMiB);
  REQUIRE(request.AddSample(kStart + 170h, 300 * kMiB, kShipped));
  request.Close(kStart + 190h, kShipped);
  CHECK(*request.Request() == Approx(300 * kMiB).epsilon(0.001));
  CHECK(request.Explain(kShipped)->high_hour == Approx(100 * kMiB).epsilon(0.001));
  REQUIRE(request.AddSample(kStart + 189h, 300 * kMiB, kShipped));
  Feed(request, 190, 192, 100 * kMiB);
  CHECK(*request.Request() == Approx(330 * kMiB).epsilon(0.001));
}

TEST_CASE("the maximum is kept for seven days and then let go", "[estimators][peak]") {
  PeakRequest request;
  Feed(request, 0, 10, 100 * kMiB);
  REQUIRE(request.AddSample(kStart + 9h, 300 * kMiB, kShipped));
  for (int hour = 10; hour < 10 + 168; ++hour) {
    Feed(request, hour, hour + 1, 100 * kMiB);
    REQUIRE(*request.Request() >= 300 * kMiB);
  }
  Feed(request, 10 + 168, 10 + 200, 100 * kMiB);
  CHECK(*request.Request() == Approx(110 * kMiB).epsilon(0.001));
}

TEST_CASE("random memory: the request is never below a week's maximum", "[estimators][peak]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  PeakRequest request;
  PeakRequest without;
  std::vector<double> used;
  for (int step = 0; step < 12 * 24 * 20; ++step) {
    const Time time = kStart + 5min * step;
    request.Close(time, kShipped);
    without.Close(time, kWithoutMaximum);
    if (step > 0) {
      const auto begin = used.end() - std::min(step, 12 * 168);
      REQUIRE(*request.Request() >= *std::max_element(begin, used.end()));
      REQUIRE(*without.Request() <= *request.Request());
    }
    used.push_back(std::lognormal_distribution<double>(18, 1)(random));
    request.AddSample(time, used.back(), kShipped);
    without.AddSample(time, used.back(), kWithoutMaximum);
  }
}

TEST_CASE("gaps leave a peak request as it is, late samples count in their hour",
          "[estimators][peak]") {
  PeakRequest request;
  Feed(request, 0, 100, 100 * kMiB);
  const std::string before = Saved(request);
  const double asked = *request.Request();
  request.Close(kStart + 100h, kShipped);
  const std::string closed = Saved(request);
  for (int hour = 101; hour < 130; ++hour)
    request.Close(kStart + std::chrono::hours(hour), kShipped);
  CHECK(Saved(request) == closed);
  CHECK(*request.Request() == asked);
  CHECK(before != closed);
  Feed(request, 130, 131, 90 * kMiB);
  CHECK(*request.Request() == asked);
  CHECK(request.AddSample(kStart + 120h, 200 * kMiB, kShipped));
  CHECK(*request.Request() >= 200 * kMiB);
  CHECK(request.hours().At(HourOf(kStart) + 120) == Approx(200 * kMiB).epsilon(0.001));
}

TEST_CASE("a larger safety factor asks for more", "[estimators][peak]") {
  double before = 0;
  for (const double factor : {0.5, 1.0, 1.1, 1.5, 3.0}) {
    PeakRequestOptions options{.safety_factor = factor, .keeps_maximum = false};
    PeakRequest request;
    for (int hour = 0; hour < 300; ++hour)
      Feed(request, hour, hour + 1, (50 + hour % 30) * kMiB, options);
    CHECK(*request.Request() > before);
    CHECK(*request.Request() == Approx(factor * 79 * kMiB).epsilon(0.02));
    before = *request.Request();
    options.keeps_maximum = true;
    request.Close(kStart + 300h, options);
    CHECK(*request.Request() >= 79 * kMiB);
  }
}

TEST_CASE("daily maxima are told by days back", "[estimators][peak]") {
  PeakRequest request;
  for (int hour = 0; hour < 7 * 24; ++hour)
    Feed(request, hour, hour + 1, (100 + DayOfHour(hour)) * kMiB);
  for (int day = 0; day < 7; ++day) {
    CHECK(request.DailyMaximum(day) == Approx((106 - day) * kMiB).epsilon(0.001));
  }
  CHECK(request.DailyMaximum(-1) == 0);
  CHECK(request.DailyMaximum(8) == 0);
}

TEST_CASE("peak requests add up in either order", "[estimators][peak]") {
  PeakRequest past;
  Feed(past, 0, 150, 100 * kMiB);
  REQUIRE(past.AddSample(kStart + 140h, 500 * kMiB, kShipped));
  PeakRequest live;
  Feed(live, 150, 160, 120 * kMiB);
  PeakRequest merged = live;
  merged.Merge(past, kShipped);
  PeakRequest reversed = past;
  reversed.Merge(live, kShipped);
  CHECK(Saved(merged) == Saved(reversed));
  CHECK(*merged.Request() >= 500 * kMiB);
  CHECK(merged.hours().At(HourOf(kStart) + 155) == Approx(120 * kMiB).epsilon(0.001));
  const std::string before = Saved(merged);
  merged.Merge(PeakRequest(), kShipped);
  CHECK(Saved(merged) == before);
}

TEST_CASE("a peak request goes on to the last bit as the saved one", "[estimators][peak]") {
  PeakRequest request;
  std::mt19937 random(9);
  for (int i = 0; i < 2000; ++i) {
    auto restored = Restored(Saved(request));
    REQUIRE(restored);
    const Time time = kStart + 17min * i - (i % 5 == 0 ? 3h : 0h);
    const double usage = std::lognormal_distribution<double>(18, 1)(random);
    REQUIRE(request.AddSample(time, usage, kShipped));
    REQUIRE(restored->AddSample(time, usage, kShipped));
    REQUIRE(Saved(*restored) == Saved(request));
    REQUIRE(restored->Request() == request.Request());
  }
  const std::string bytes = Saved(request);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    REQUIRE_FALSE(Restored(std::string_view(bytes).substr(0, cut)));
  }
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    auto read = Restored(damaged);
    if (!read) continue;
    REQUIRE(read->AddSample(kStart + 2000h, 1, kShipped));
    REQUIRE(std::isfinite(*read->Request()));
  }
  CHECK(sizeof(PeakRequest) <= 420);
}

TEST_CASE("format 1 of a saved peak request is read as it was written", "[estimators][peak]") {
  const auto written = [](int64_t running, double request) {
    std::string bytes;
    ByteWriter out(bytes);
    out.Byte(1);
    out.Bool(true);  // hours: the newest, then 192 levels
    out.Signed(480'100);
    for (int i = 0; i < 191; ++i) out.Varint(0);
    out.Varint(EncodeLevel(100 * kMiB));
    out.Signed(running);
    out.Double(request);
    return bytes;
  };
  const auto read = Restored(written(480'101, 123 * kMiB));
  REQUIRE(read);
  CHECK(Saved(*read) == written(480'101, 123 * kMiB));
  CHECK(read->Request() == 123 * kMiB);
  CHECK(read->Explain(kShipped)->largest == Approx(100 * kMiB).epsilon(0.001));
  CHECK(Restored(written(480'100, 0)));
  CHECK_FALSE(Restored(written(480'099, 1)));  // before its newest hour
  CHECK_FALSE(Restored(written(480'101, -1)));
  CHECK_FALSE(Restored(written(480'101, std::numeric_limits<double>::quiet_NaN())));
}
