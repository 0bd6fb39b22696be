// What is drawn of a trace, however long it is.
#include "cmd/replay_policies/drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cmd/replay_policies/chart.h"
#include "tests/catch.h"

namespace tidemark::replay_policies {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kFirst = 28'000'000;

/// One policy: demand 10, but 99 in one minute and 1 in another; replicas 5, but 7 in one.
std::vector<scaling::ReplayedPolicy> OnePolicy(size_t minutes) {
  std::vector<scaling::ReplayedPolicy> policies(1);
  for (size_t i = 0; i < minutes; ++i) {
    scaling::ReplayedMinute minute;
    minute.minute = kFirst + static_cast<int64_t>(i);
    minute.demand = i == 5000 ? 99 : i == 7000 ? 1 : i >= 8000 && i < 8400 ? kGap : 10;
    minute.replicas = i == 6000 ? 7 : 5;
    minute.ready = i == 6002 ? 7 : 5;
    policies[0].outcome.minutes_kept.push_back(minute);
  }
  return policies;
}

}  // namespace

TEST_CASE("A long trace is drawn at no more places than a chart has, extremes and all",
          "[replay_policies]") {
  const auto policies = OnePolicy(100'000);
  const Drawing drawing = Draw(policies, {0}, {}, kFirst + 1440, 3, 2.0);
  CHECK(drawing.whole.first_minute == kFirst + 1440);
  CHECK(drawing.whole.minutes == 100'000 - 1440);
  REQUIRE(drawing.whole.demand.size() == kMaxPlaces);
  float low = 1e9F;
  float high = 0;
  size_t unknown = 0;
  for (const Span& span : drawing.whole.demand) {
    if (std::isnan(span.low)) {
      ++unknown;
      continue;
    }
    low = std::min(low, span.low);
    high = std::max(high, span.high);
  }
  CHECK(low == 1);
  CHECK(high == 99);
  CHECK(unknown >= 1);  // places of nothing but the gap
  CHECK(unknown <= 3);
  CHECK(std::ranges::max(drawing.whole.replicas[0], {}, &Span::high).high == 7);
  CHECK(std::ranges::max(drawing.whole.capacity[0], {}, &Span::high).high == 14);
  CHECK(drawing.whole.band.empty());

  CHECK(drawing.peak.minutes == kPeakMinutes);
  CHECK(drawing.peak.first_minute == kFirst + 5000 - kPeakMinutes / 2);
  CHECK(drawing.peak.demand[kPeakMinutes / 2].high == 99);

  const std::string svg = CapacityChart("a & b", drawing.whole, 2.0);
  CHECK(svg.size() < 60'000);
  CHECK(svg.find("a &amp; b") != std::string::npos);
  CHECK(svg.find(R"(class="truth")") != std::string::npos);
  CHECK(svg.find(R"(class="line p0")") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find(">49.5<") != std::string::npos);  // the highest, in pods' worth
  CHECK(ReplicasChart("x", drawing.whole).find(">7<") != std::string::npos);
}

TEST_CASE("A forecast stands where what it was of stands", "[replay_policies]") {
  const auto policies = OnePolicy(200);
  std::vector<ExpectedBand> bands(200, {0, 0, 0});
  for (size_t i = 0; i < bands.size(); ++i) {
    bands[i] = {static_cast<float>(i), static_cast<float>(i) - 1, static_cast<float>(i) + 1};
  }
  const Drawing drawing = Draw(policies, {0}, bands, kFirst, 3, 1.0);
  REQUIRE(drawing.whole.band.size() == 200);
  CHECK(std::isnan(drawing.whole.band[2].low));
  CHECK(drawing.whole.band[3].low == -1);
  CHECK(drawing.whole.band[3].high == 1);
  CHECK(drawing.whole.band[199].high == 197);
}

TEST_CASE("The peak of a short trace is all of it, and nothing is drawn of no minutes",
          "[replay_policies]") {
  const auto policies = OnePolicy(100);
  const Drawing drawing = Draw(policies, {0}, {}, kFirst, 3, 1.0);
  CHECK(drawing.peak.minutes == 100);
  CHECK(drawing.peak.first_minute == kFirst);
  CHECK(Draw(policies, {0}, {}, kFirst + 100, 3, 1.0).whole.minutes == 0);
  CHECK(Draw(policies, {}, {}, kFirst, 3, 1.0).policies.empty());
}

}  // namespace tidemark::replay_policies
