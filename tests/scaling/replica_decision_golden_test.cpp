// Every case of replica_decision.json: DEBI's algorithm 2 in both roundings, the combination of
// load, forecast and mark, the stabilisation window, the HPA's formula, and what is refused.
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "model/scaling.h"
#include "scaling/replica_decision.h"
#include "scaling/scaler.h"
#include "scaling/stabilisation_window.h"
#include "tests/catch.h"
#include "tests/scaling/golden_files.h"

namespace tidemark::scaling {
namespace {

using Json = boost::json::value;

const Json& Golden() {
  static const Json golden = ReadGolden("replica_decision.json");
  return golden;
}

double Number(const Json& value) {
  if (!value.is_string()) return value.to_number<double>();
  return value.as_string() == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                    : std::numeric_limits<double>::infinity();
}
int32_t Whole(const Json& value) { return value.to_number<int32_t>(); }
std::optional<double> Known(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(Number(value));
}

ReplicaBounds BoundsOf(const Json& entry) {
  return {.min = Whole(entry.at("n_min")), .max = Whole(entry.at("n_max"))};
}

TEST_CASE("Replicas are those of the reference, in both roundings", "[scaling][golden]") {
  const std::map<std::string, DecisionReason> reasons = {
      {"suspended", DecisionReason::kSuspended},
      {"fixed", DecisionReason::kFixed},
      {"within_tolerance", DecisionReason::kWithinTolerance},
      {"at_minimum", DecisionReason::kAtMinimum},
      {"search", DecisionReason::kLoad},
      {"at_maximum", DecisionReason::kAtMaximum}};
  const auto& cases = Golden().at("replicas").as_array();
  REQUIRE(cases.size() >= 200);
  for (const Json& entry : cases) {
    INFO(entry);
    DebiAim aim{.low_ratio = Number(entry.at("u_lo")),
                .high_ratio = Number(entry.at("u_hi")),
                .tolerance_ratio = Number(entry.at("tolerance")),
                .rounding = Rounding::kNearest};
    const auto decide = [&] {
      return DebiReplicas(Number(entry.at("w")), Whole(entry.at("n_now")), BoundsOf(entry), aim);
    };
    const ReplicaChoice nearest = decide();
    CHECK(nearest.replicas == Whole(entry.at("expected")));
    CHECK(nearest.reason == reasons.at(std::string(entry.at("reason").as_string())));
    aim.rounding = Rounding::kUp;
    const ReplicaChoice up = decide();
    CHECK(up.replicas == Whole(entry.at("expected_round_up")));
    CHECK(up.reason == nearest.reason);
  }
}

TEST_CASE("Load, forecast and mark combine as in the reference", "[scaling][golden]") {
  const auto& cases = Golden().at("combine").as_array();
  REQUIRE(cases.size() >= 12);
  for (const Json& entry : cases) {
    INFO(entry);
    const auto combined =
        Combine(Known(entry.at("w1")), Known(entry.at("w2")), Known(entry.at("w3")));
    const auto expected = Known(entry.at("expected_w"));
    REQUIRE(combined.has_value() == expected.has_value());
    CHECK((entry.at("mode").as_string() == "hold") == !combined.has_value());
    if (!combined) continue;
    CHECK(combined->load_ratio == *expected);
    CHECK(ToString(combined->mode) == std::string_view(entry.at("mode").as_string()));
  }
}

TEST_CASE("The window gives what the reference gives", "[scaling][golden]") {
  const auto& cases = Golden().at("window").as_array();
  REQUIRE(cases.size() >= 4);
  for (const Json& entry : cases) {
    StabilisationWindow window(Whole(entry.at("window_steps")));
    const auto& recommended = entry.at("recommendations").as_array();
    const auto& expected = entry.at("expected").as_array();
    REQUIRE(recommended.size() == expected.size());
    for (size_t i = 0; i < recommended.size(); ++i) {
      INFO("step " << i << " of " << entry.at("recommendations"));
      CHECK(window.Add(static_cast<int64_t>(i), Whole(recommended[i])) == Whole(expected[i]));
    }
  }
}

TEST_CASE("The HPA's formula gives what the reference gives", "[scaling][golden]") {
  const auto& cases = Golden().at("native_hpa").as_array();
  REQUIRE(cases.size() >= 40);
  for (const Json& entry : cases) {
    INFO(entry);
    CHECK(HpaReplicas(Number(entry.at("w")), Whole(entry.at("n_now")), BoundsOf(entry),
                      Number(entry.at("target")), Number(entry.at("tolerance")))
              .replicas == Whole(entry.at("expected")));
  }
}

TEST_CASE("What the reference refuses is refused", "[scaling][golden]") {
  const auto& cases = Golden().at("invalid").as_array();
  REQUIRE(cases.size() >= 10);
  const auto is_refused = [](const Json& changes) {
    PolicySettings settings = UsualSettings(ScalingPolicy::kDebi);
    ScalingMinute minute{.minute = 1, .demand = 2, .base = 1, .replicas = 4, .ready_pods = 4};
    minute.bounds = {.min = 1, .max = 50};
    double load_ratio = 0.5;
    for (const auto& [key, value] : changes.as_object()) {
      if (key == "n_min") minute.bounds.min = Whole(value);
      if (key == "n_max") minute.bounds.max = Whole(value);
      if (key == "u_lo") settings.utilization_low_ratio = Number(value);
      if (key == "u_hi") settings.utilization_high_ratio = Number(value);
      if (key == "tolerance") settings.tolerance_ratio = Number(value);
      if (key == "n_now") minute.replicas = Whole(value);
      if (key == "w") load_ratio = Number(value);
    }
    minute.demand = load_ratio * 4;
    return !CheckSettings(settings) || !CheckMinute(minute);
  };
  CHECK_FALSE(is_refused(Json(boost::json::object())));
  for (const Json& entry : cases) {
    INFO(entry);
    CHECK(is_refused(entry));
  }
}

}  // namespace
}  // namespace tidemark::scaling
