// Which workload an autoscaler scales, and between which bounds, in whatever order it is told.
#include "workloads/autoscalers.h"

#include <algorithm>
#include <limits>
#include <random>

#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;
using workloads::Autoscalers;
using workloads::AutoscalerSlot;
using workloads::Fact;
using workloads::kMinuteMs;

namespace {

constexpr int64_t kT0 = 1'700'000'040'000;
constexpr int64_t kSecond = 1000;

/// Series of autoscalers, told at seconds since kT0.
struct Told {
  struct One {
    std::string name;
    AutoscalerSlot slot;
    std::string target;
    Fact* fact;
  };
  Autoscalers scalers;
  std::vector<One> series;

  uint32_t Bind(const std::string& name, AutoscalerSlot slot, const std::string& target = "") {
    series.push_back({name, slot, target, scalers.Bind(name, slot)});
    return static_cast<uint32_t>(series.size() - 1);
  }
  void Tell(uint32_t index, int seconds, double value) {
    const One& one = series[index];
    scalers.Tell(one.name, one.slot, index, {kT0 + seconds * kSecond, value, 0}, one.target);
  }
  void End(uint32_t index) { series[index].fact->End(index); }
  /// All three, from then on every 30 s until `until`.
  void Whole(const std::string& name, const std::string& target, double min, double max, int from,
             int until) {
    const uint32_t info = Bind(name, AutoscalerSlot::kInfo, target);
    const uint32_t least = Bind(name, AutoscalerSlot::kMin);
    const uint32_t most = Bind(name, AutoscalerSlot::kMax);
    for (int at = from; at <= until; at += 30) {
      Tell(info, at, 1);
      Tell(least, at, min);
      Tell(most, at, max);
    }
  }
  /// "min max" of deployment `workload`, "-" for what is absent.
  std::string At(int seconds, const std::string& workload = "web") const {
    const auto bounds = scalers.BoundsOf("deployment", workload, kT0 + seconds * kSecond);
    if (!bounds) return "-";
    return (bounds->min ? std::to_string(static_cast<int>(*bounds->min)) : "-") + " " +
           std::to_string(static_cast<int>(bounds->max));
  }
};

std::string TargetOf(std::vector<LabelView> labels) { return workloads::TargetFrom(labels); }

}  // namespace

TEST_CASE("kinds of scale targets are workload types in lower case", "[workloads][autoscalers]") {
  CHECK(TargetOf({{"scaletargetref_kind", "Deployment"}, {"scaletargetref_name", "web"}}) ==
        "deployment/web");
  CHECK(TargetOf({{"scaletargetref_kind", "CloneSet"}, {"scaletargetref_name", "a.b"}}) ==
        "cloneset/a.b");
  CHECK(TargetOf({}) == "/");
}

TEST_CASE("bounds are known when the last of three series has come, in any order",
          "[workloads][autoscalers]") {
  std::vector<AutoscalerSlot> order = {AutoscalerSlot::kInfo, AutoscalerSlot::kMin,
                                       AutoscalerSlot::kMax};
  do {
    Told told;
    int at = 0;
    for (const AutoscalerSlot slot : order) {
      CHECK(told.At(at) == "-");
      const uint32_t series =
          told.Bind("hpa", slot, slot == AutoscalerSlot::kInfo ? "deployment/web" : "");
      told.Tell(series, at += 10, slot == AutoscalerSlot::kMax ? 9 : 2);
    }
    CHECK(told.At(30) == "2 9");
    CHECK(told.At(29) == "-");  // as it was known then
    CHECK(told.At(30, "other") == "-");
    CHECK_FALSE(told.scalers.BoundsOf("statefulset", "web", kT0 + 30 * kSecond));
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("without a minimum bounds are known when it has had a minute to come",
          "[workloads][autoscalers]") {
  Told told;
  const uint32_t info = told.Bind("hpa", AutoscalerSlot::kInfo, "deployment/web");
  const uint32_t most = told.Bind("hpa", AutoscalerSlot::kMax);
  told.Tell(info, 0, 1);
  told.Tell(most, 20, 8);
  CHECK(told.At(20) == "-");
  CHECK(told.At(79) == "-");
  CHECK(told.At(80) == "- 8");
  const uint32_t least = told.Bind("hpa", AutoscalerSlot::kMin);
  told.Tell(least, 90, 3);
  CHECK(told.At(90) == "3 8");
  // A scrape that failed ends all three; they come back one batch after the other.
  told.End(info);
  told.End(least);
  told.End(most);
  CHECK(told.At(120) == "-");
  told.Tell(info, 150, 1);
  told.Tell(most, 150, 8);
  CHECK(told.At(150) == "-");
  told.Tell(least, 151, 3);
  CHECK(told.At(151) == "3 8");
}

TEST_CASE("bounds that nobody tells any more are not known", "[workloads][autoscalers]") {
  Told told;
  told.Whole("hpa", "deployment/web", 2, 8, 0, 60);
  CHECK(told.At(60 + 300) == "2 8");
  CHECK(told.At(60 + 301) == "-");
  for (uint32_t series = 0; series < 3; ++series) told.Tell(series, 900, series == 0 ? 1 : 5);
  CHECK(told.At(900) == "5 5");
  CHECK(told.At(899) == "-");
  told.End(2);
  CHECK(told.At(930) == "-");  // the maximum may come again
  CHECK(told.At(960) == "-");  // it does not
  CHECK_FALSE(told.scalers.FirstOf("deployment", "web", kT0 + 960 * kSecond).empty());
  for (int i = 0; i < 3; ++i) told.scalers.Release("hpa");
  CHECK(told.scalers.all().empty());
  CHECK(told.scalers.FirstOf("deployment", "web", kT0 + 960 * kSecond).empty());
  told.scalers.Release("hpa");  // nothing is there
}

TEST_CASE("an autoscaler that scales another workload leaves the one before",
          "[workloads][autoscalers]") {
  Told told;
  told.Whole("hpa", "deployment/web", 2, 8, 0, 60);
  const uint32_t anew = told.Bind("hpa", AutoscalerSlot::kInfo, "deployment/shop");
  const bool ends_first = GENERATE(true, false);
  if (ends_first) told.End(0);
  told.Tell(anew, 90, 1);
  told.Tell(1, 90, 2);
  told.Tell(2, 90, 8);
  if (!ends_first) told.End(0);
  CHECK(told.At(90, "shop") == "2 8");
  CHECK(told.At(90) == "-");
  // A word of the old one that is older than the new one's changes nothing.
  told.Tell(0, 89, 1);
  CHECK(told.At(120, "shop") == "2 8");
  // A newer one does: it scales the first again.
  told.Tell(0, 120, 1);
  CHECK(told.At(120) == "2 8");
  CHECK(told.At(120, "shop") == "-");
  // The series that no longer holds is forgotten; the one that does is not.
  told.series[anew].fact->End(anew);
  told.scalers.Release("hpa");
  CHECK(told.At(120) == "2 8");
}

TEST_CASE("of several autoscalers the first by name that has a maximum counts",
          "[workloads][autoscalers]") {
  Told told;
  told.Whole("b", "deployment/web", 2, 8, 0, 300);
  told.Whole("c", "deployment/web", 3, 9, 0, 300);
  CHECK(told.At(60) == "2 8");
  // One before it, of which the maximum has not come yet: wait for it.
  const uint32_t info = told.Bind("a", AutoscalerSlot::kInfo, "deployment/web");
  told.Tell(info, 90, 1);
  CHECK(told.At(90) == "-");
  CHECK(told.At(89) == "2 8");
  CHECK(told.At(149) == "-");
  CHECK(told.At(150) == "2 8");  // it has none
  const uint32_t most = told.Bind("a", AutoscalerSlot::kMax);
  const uint32_t least = told.Bind("a", AutoscalerSlot::kMin);
  told.Tell(most, 160, 5);
  told.Tell(least, 160, 1);
  CHECK(told.At(160) == "1 5");
  CHECK(told.scalers.FirstOf("deployment", "web", kT0 + 160 * kSecond) == "a");
  told.End(info);  // it was renamed
  CHECK(told.At(180) == "2 8");
  CHECK(told.scalers.FirstOf("deployment", "web", kT0 + 180 * kSecond) == "b");
}

TEST_CASE("numbers that are none are not told", "[workloads][autoscalers]") {
  Told told;
  told.Whole("hpa", "deployment/web", 2, std::numeric_limits<double>::infinity(), 0, 0);
  CHECK(told.At(0) == "-");
  CHECK(told.At(120) == "-");
}

TEST_CASE("the order of series within a scrape does not matter", "[workloads][autoscalers]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&random](uint32_t below) { return static_cast<uint32_t>(random() % below); };
  for (int round = 0; round < 100; ++round) {
    Told one;
    Told other;
    const std::vector<std::string> workloads = {"web", "shop", "pay"};
    for (int scaler = 0; scaler < 4; ++scaler) {
      const std::string name = "hpa-" + std::to_string(scaler);
      for (Told* told : {&one, &other}) {
        // An info for each workload that it may scale, in the course of time.
        for (const auto& workload : workloads) {
          told->Bind(name, AutoscalerSlot::kInfo, "deployment/" + workload);
        }
        told->Bind(name, AutoscalerSlot::kMin);
        told->Bind(name, AutoscalerSlot::kMax);
      }
    }
    std::vector<uint32_t> scales(4);
    std::vector<bool> is_told(20);
    for (int scrape = 0; scrape < 40; ++scrape) {
      const int at = scrape * 30;
      struct Event {
        uint32_t series;
        double value;  // below 0: it ends
      };
      std::vector<Event> events;
      std::vector<bool> now(20);
      for (uint32_t scaler = 0; scaler < 4; ++scaler) {
        if (pick(10) == 0) scales[scaler] = pick(3);
        if (pick(15) == 0) continue;  // not there
        now[scaler * 5 + scales[scaler]] = true;
        now[scaler * 5 + 3] = pick(8) != 0;
        now[scaler * 5 + 4] = pick(8) != 0;
      }
      for (uint32_t i = 0; i < 20; ++i) {
        if (now[i]) events.push_back({i, static_cast<double>(1 + pick(9))});
        if (is_told[i] && !now[i]) events.push_back({i, -1});
      }
      is_told = now;
      for (Told* told : {&one, &other}) {
        std::ranges::shuffle(events, random);
        for (const Event& event : events) {
          if (event.value < 0) {
            told->End(event.series);
          } else {
            told->Tell(event.series, at, event.value);
          }
        }
      }
      for (const auto& workload : workloads) {
        for (int back = 0; back < 90; back += 15) {
          INFO("round " << round << " scrape " << scrape << " " << workload << " back " << back);
          REQUIRE(one.At(at - back, workload) == other.At(at - back, workload));
        }
      }
    }
  }
}
