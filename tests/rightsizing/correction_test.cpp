#include "rightsizing/correction.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/catch.h"

namespace tidemark::rightsizing {
namespace {

ResourceRule Rule(Correction correction) {
  ResourceRule rule;
  rule.correction = correction;
  rule.static_ratio = 0.8;
  return rule;
}

ResourceAdvice Recommends(double request) {
  ResourceAdvice advice;
  advice.model_request = request;
  advice.recommended_request = request;
  advice.confidence_days = 8;
  return advice;
}

struct Case {
  ResourceRule rule;
  PoolMode mode = PoolMode::kDynamic;
  Effect effect = Effect::kApplied;
  ResourceAdvice advice;
  std::optional<double> original;
  std::optional<double> limit;

  Corrected Correct() const { return CorrectRequest(rule, mode, effect, advice, original, limit); }
};

Case RandomCase(std::mt19937& random) {
  std::uniform_real_distribution<double> amount(0, 8);
  const auto maybe = [&]() -> std::optional<double> {
    switch (random() % 8) {
      case 0: return std::nullopt;
      case 1: return std::numeric_limits<double>::quiet_NaN();
      case 2: return -1.0;
      case 3: return 0.0;
      default: return std::round(amount(random) * 1000) / 1000;
    }
  };
  Case made;
  made.rule = Rule(static_cast<Correction>(random() % 3));
  made.rule.enabled = random() % 8 != 0;
  made.rule.static_ratio = std::uniform_real_distribution<double>(0.05, 1)(random);
  made.rule.rounding = random() % 2 == 0 ? 0.001 : 0.05;
  if (random() % 3 == 0) made.rule.floor = amount(random);
  if (random() % 3 == 0) made.rule.ceiling = amount(random);
  made.mode = static_cast<PoolMode>(random() % 4);
  made.effect = static_cast<Effect>(random() % 2);
  made.advice.recommended_request = maybe();
  made.advice.confidence_days = static_cast<double>(random() % 3);
  if (random() % 5 == 0) made.advice.Mark(AdviceMark::kStatic);
  made.original = maybe();
  made.limit = maybe();
  return made;
}

bool IsAmount(const std::optional<double>& value) {
  return value && std::isfinite(*value) && *value >= 0;
}

}  // namespace

TEST_CASE("a candidate below the original is taken, else the original is kept",
          "[rightsizing][correction]") {
  const ResourceRule rule = Rule(Correction::kKeepOriginal);
  const auto correct = [&](double candidate) {
    return CorrectRequest(rule, PoolMode::kDynamic, Effect::kApplied, Recommends(candidate), 0.5);
  };
  const Corrected less = correct(0.217);
  CHECK(less.request == 0.217);
  CHECK(less.changed);
  CHECK(less.rule == CorrectionRule::kCandidate);
  CHECK(less.what == "217m: the recommendation is less than the original request of 500m");
  for (const double candidate : {0.5, 0.7}) {
    const Corrected kept = correct(candidate);
    CHECK(kept.request == 0.5);
    CHECK_FALSE(kept.changed);
    CHECK(kept.rule == CorrectionRule::kKeepOriginal);
  }
  CHECK(correct(0.7).what ==
        "the original request of 500m is kept: the recommendation of 700m is not less");
}

TEST_CASE("replacing goes either way, but not over the limit", "[rightsizing][correction]") {
  const ResourceRule rule = Rule(Correction::kReplace);
  const auto correct = [&](double candidate, std::optional<double> original) {
    return CorrectRequest(rule, PoolMode::kDynamic, Effect::kApplied, Recommends(candidate),
                          original, 1.0);
  };
  CHECK(correct(0.7, 0.5).request == 0.7);
  CHECK(correct(0.7, 0.5).what == "700m: the recommendation replaces the original request of 500m");
  CHECK(correct(0.2, 0.5).request == 0.2);
  CHECK_FALSE(correct(0.5, 0.5).changed);
  CHECK(correct(0.7, std::nullopt).request == 0.7);
  CHECK(correct(0.7, std::nullopt).changed);
  CHECK(correct(3, 0.5).request == 1.0);
  CHECK(correct(3, 0.5).what ==
        "1: the recommendation of 3 ends at the limit, which is never changed");
}

TEST_CASE("an original that is not known is never guessed", "[rightsizing][correction]") {
  for (const PoolMode mode : {PoolMode::kStatic, PoolMode::kDynamic, PoolMode::kStaticAndDynamic}) {
    const Corrected corrected = CorrectRequest(Rule(Correction::kKeepOriginal), mode,
                                               Effect::kApplied, Recommends(0.2), std::nullopt);
    CHECK(corrected.rule == CorrectionRule::kUnknownOriginal);
    CHECK_FALSE(corrected.request);
    CHECK_FALSE(corrected.changed);
    CHECK(corrected.what ==
          "the original request is not known: right-sizing reads it from the manifest");
  }
}

TEST_CASE("correction off, pool off and a resource left out leave the original alone",
          "[rightsizing][correction]") {
  const auto check = [](const ResourceRule& rule, PoolMode mode, std::string_view why) {
    const Corrected kept = CorrectRequest(rule, mode, Effect::kApplied, Recommends(0.2), 0.5);
    CHECK(kept.request == 0.5);
    CHECK_FALSE(kept.changed);
    CHECK(kept.rule == CorrectionRule::kOff);
    CHECK(kept.what == "the original request of 500m is kept: " + std::string(why));
    CHECK_FALSE(CorrectRequest(rule, mode, Effect::kApplied, Recommends(0.2), {}).request);
  };
  check(Rule(Correction::kOff), PoolMode::kDynamic, "correction is off for this resource");
  check(Rule(Correction::kOff), PoolMode::kStatic, "correction is off for this resource");
  check(Rule(Correction::kReplace), PoolMode::kOff, "the pool is off");
  ResourceRule out = Rule(Correction::kReplace);
  out.enabled = false;
  check(out, PoolMode::kDynamic, "the profile leaves this resource out");
}

TEST_CASE("memory of an oversold pool is corrected only where it is enabled",
          "[rightsizing][correction]") {
  const Profile profile = PresetProfile(Preset::kOversell);
  const auto correct = [&](Resource resource) {
    ResourceAdvice advice = Recommends(1);
    advice.resource = resource;
    return CorrectRequest(profile.rule(resource), profile.mode, Effect::kApplied, advice, 2);
  };
  CHECK(correct(Resource::kCpu).request == 1.0);
  CHECK(correct(Resource::kMemory).request == 2.0);
  CHECK(correct(Resource::kMemory).rule == CorrectionRule::kOff);
}

TEST_CASE("a recommendation that is only shown is not set", "[rightsizing][correction]") {
  const Corrected shown = CorrectRequest(Rule(Correction::kReplace), PoolMode::kDynamic,
                                         Effect::kShown, Recommends(0.2), 0.5);
  CHECK(shown.rule == CorrectionRule::kShown);
  CHECK(shown.request == 0.5);
  CHECK_FALSE(shown.changed);
  CHECK(shown.what ==
        "the original request of 500m is kept: the recommendation of 200m is only shown, its owner "
        "has to take it over");
}

TEST_CASE("the static ratio serves until a recommendation is in effect",
          "[rightsizing][correction]") {
  const ResourceRule rule = Rule(Correction::kKeepOriginal);
  const auto correct = [&](PoolMode mode, Effect effect, const ResourceAdvice& advice) {
    return CorrectRequest(rule, mode, effect, advice, 0.5);
  };
  const Corrected first = correct(PoolMode::kStaticAndDynamic, Effect::kApplied, ResourceAdvice());
  CHECK(first.request == 0.4);
  CHECK(first.changed);
  CHECK(first.rule == CorrectionRule::kStaticRatio);
  CHECK(first.what ==
        "400m: 80 % of the original request of 500m, as there is no recommendation yet");
  CHECK(correct(PoolMode::kStaticAndDynamic, Effect::kApplied, Recommends(0.2)).request == 0.2);
  CHECK(correct(PoolMode::kStaticAndDynamic, Effect::kApplied, Recommends(0.9)).request == 0.5);
  CHECK(correct(PoolMode::kStaticAndDynamic, Effect::kShown, Recommends(0.2)).request == 0.4);
  CHECK(correct(PoolMode::kStatic, Effect::kApplied, Recommends(0.2)).request == 0.4);
  CHECK(correct(PoolMode::kDynamic, Effect::kApplied, ResourceAdvice()).request == 0.5);

  // A day of samples is what it takes; of an original the engine may know nothing.
  ResourceAdvice young = Recommends(0.2);
  young.confidence_days = 0.99;
  CHECK(correct(PoolMode::kStaticAndDynamic, Effect::kApplied, young).request == 0.4);
  CHECK(correct(PoolMode::kDynamic, Effect::kApplied, young).request == 0.2);

  // What the engine made of another pod's original is not taken for a recommendation.
  ResourceAdvice of_engine = Recommends(1.6);
  of_engine.Mark(AdviceMark::kStatic);
  CHECK(correct(PoolMode::kStaticAndDynamic, Effect::kApplied, of_engine).request == 0.4);
}

TEST_CASE(
    "the static ratio is a whole amount, rounded up, kept above the floor and under the ceiling",
    "[rightsizing][correction]") {
  ResourceRule rule = Rule(Correction::kKeepOriginal);
  const auto correct = [&](double original) {
    return *CorrectRequest(rule, PoolMode::kStatic, Effect::kApplied, {}, original).request;
  };
  CHECK(correct(0.333) == 0.266);  // whole millicores
  CHECK(correct(0.35) == 0.28);
  rule.rounding = 0.05;
  CHECK(correct(0.333) == 0.3);
  rule.rounding = 0.001;
  rule.floor = 0.3;
  CHECK(correct(0.333) == 0.3);
  CHECK(correct(0.2) == 0.2);
  rule.ceiling = 1;
  CHECK(correct(4) == 1);
  rule.rounding = 0;
  CHECK(correct(0.5) == 0.4);
}

TEST_CASE("whatever comes, the laws of correction hold", "[rightsizing][correction][property]") {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same cases every time
  int changed = 0;
  int kept = 0;
  for (int round = 0; round < 20000; ++round) {
    const Case given = RandomCase(random);
    const Corrected corrected = given.Correct();
    REQUIRE_FALSE(corrected.what.empty());
    REQUIRE(ToString(corrected.rule) != "unknown");
    // An amount, or nothing.
    REQUIRE((!corrected.request || IsAmount(corrected.request)));
    // Changed means: something is set that the owner did not write.
    REQUIRE((!corrected.changed || corrected.request));
    if (IsAmount(given.original)) {
      REQUIRE(corrected.request.has_value());
      REQUIRE(corrected.changed == (*corrected.request != *given.original));
    } else if (given.rule.correction != Correction::kReplace) {
      REQUIRE_FALSE(corrected.changed);
    }
    // Never more than the owner asked for, unless replacing.
    if (given.rule.correction != Correction::kReplace && corrected.request) {
      REQUIRE(*corrected.request <= *given.original);
    }
    // Nothing is raised over the limit.
    if (corrected.changed && IsAmount(given.limit)) {
      REQUIRE(*corrected.request <=
              std::max(*given.limit, IsAmount(given.original) ? *given.original : 0.0));
    }
    if (given.rule.correction == Correction::kOff || given.mode == PoolMode::kOff ||
        !given.rule.enabled) {
      REQUIRE_FALSE(corrected.changed);
    }
    // Correcting from the original again, with the correction now in force, changes nothing.
    Case again = given;
    again.advice.current_request = corrected.request;
    const Corrected second = again.Correct();
    REQUIRE(second.request == corrected.request);
    REQUIRE(second.changed == corrected.changed);
    REQUIRE(second.what == corrected.what);
    // A higher recommendation never gives a lower request.
    if (IsAmount(given.advice.recommended_request) && corrected.request) {
      Case higher = given;
      *higher.advice.recommended_request += 0.5;
      REQUIRE(*higher.Correct().request >= *corrected.request);
    }
    ++(corrected.changed ? changed : kept);
  }
  CHECK(changed > 2000);
  CHECK(kept > 2000);
}

}  // namespace tidemark::rightsizing
