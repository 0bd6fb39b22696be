// Step, units and windows.

#include "backfill/plan.h"

#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

constexpr int64_t kDay = 24 * 60 * kMinuteMs;
constexpr int64_t kNow = 1'700'000'012'345;

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

FoundNamespace Named(const std::string& name, uint64_t series, const std::string& cluster = "") {
  return {{cluster, name}, cluster, series};
}

}  // namespace

TEST_CASE("the grid lies on multiples of the step within the range", "[backfill][plan]") {
  const auto grid = MakeGrid(kNow - 8 * kDay, kNow, 0);
  REQUIRE(grid);
  CHECK(grid->step_ms == kMinuteMs);
  CHECK(grid->start_ms % kMinuteMs == 0);
  CHECK(grid->end_ms % kMinuteMs == 0);
  CHECK(grid->start_ms >= kNow - 8 * kDay);
  CHECK(grid->end_ms <= kNow);
  CHECK(grid->end_ms > kNow - kMinuteMs);
  CHECK(grid->Points() == 8 * 24 * 60);
}

TEST_CASE("a longer range has a longer step, up to five minutes", "[backfill][plan]") {
  CHECK(MakeGrid(kNow - kDay, kNow, 0)->step_ms == kMinuteMs);
  CHECK(MakeGrid(kNow - 14 * kDay, kNow, 0)->step_ms == 2 * kMinuteMs);
  CHECK(MakeGrid(kNow - 400 * kDay, kNow, 0)->step_ms == kMaxStepMs);
}

TEST_CASE("a step that loses usage is refused with the reason", "[backfill][plan]") {
  const auto wrong = [](int64_t start, int64_t end, int64_t step) {
    const auto grid = MakeGrid(start, end, step);
    REQUIRE_FALSE(grid);
    CHECK(grid.error().code == ErrorCode::kInvalidArgument);
    return grid.error().message;
  };
  CHECK(Has(wrong(kNow - kDay, kNow, kMaxStepMs + 1000), "5 minutes"));
  CHECK(Has(wrong(kNow - kDay, kNow, 1000), "15 seconds"));
  CHECK(Has(wrong(kNow, kNow, 0), "before end"));
  CHECK(Has(wrong(kNow + 1, kNow, 0), "before end"));
  CHECK(Has(wrong(-5, kNow, 0), "before end"));
  CHECK(Has(wrong(kNow - 401 * kDay, kNow, 0), "400 days"));
  CHECK(Has(wrong(kNow - 1000, kNow, 0), "one step"));
  CHECK(MakeGrid(kNow - kDay, kNow, 15'000));
  CHECK(MakeGrid(kNow - kDay, kNow, kMaxStepMs));
}

TEST_CASE("units are bounded, in order, and of one cluster", "[backfill][plan]") {
  Tuning tuning;
  tuning.unit_series = 100;
  tuning.unit_namespaces = 3;
  CHECK(PlanUnits({}, tuning).empty());
  const std::vector<Unit> units =
      PlanUnits({Named("a", 40), Named("b", 60), Named("c", 1), Named("d", 500), Named("e", 1),
                 Named("f", 1), Named("g", 1), Named("h", 1), Named("a", 1, "eu")},
                tuning);
  std::vector<std::string> texts;
  for (const Unit& unit : units) texts.push_back(unit.Text());
  CHECK(texts == std::vector<std::string>{"a, b", "c", "d", "e, f, g", "h", "eu/a"});
  CHECK(units[0].series == 100);
  tuning.unit_matcher_bytes = 25;
  CHECK(PlanUnits({Named("0123456789", 1), Named("b", 1), Named("c", 1)}, tuning).size() == 2);
}

TEST_CASE("windows are as long as an answer may be large", "[backfill][plan]") {
  const Tuning tuning;
  CHECK(WindowPoints(1, 500'000, kMinuteMs, tuning) == 360);  // six hours
  CHECK(WindowPoints(5000, 500'000, kMinuteMs, tuning) == 100);
  CHECK(WindowPoints(1'000'000, 500'000, kMinuteMs, tuning) == kMinWindowPoints);
  CHECK(WindowPoints(0, 0, kMinuteMs, tuning) == kMinWindowPoints);
  Tuning endless = tuning;
  endless.max_window = std::chrono::hours(24 * 400);
  CHECK(WindowPoints(1, 500'000'000, kMinuteMs, endless) == 11'000);
}

}  // namespace tidemark::backfill
