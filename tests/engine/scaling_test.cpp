// Replicas of workloads through the engine: decided for each minute of demand, shown, withdrawn by
// age, kept over restarts, changed by a reload.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/request_history.h"
#include "tests/engine/durable.h"
#include "tests/engine/feed.h"

using namespace tidemark;
using namespace tidemark::testing;
using engine::RequestHistory;
using workloads::DemandFacts;
using workloads::DemandMinute;

namespace {

constexpr int64_t kMinute = 60'000;
constexpr uint32_t kWeb = 7;  // number of a container kDemand

WorkloadId Web(const std::string& name = "web") { return {"", "shop", "deployment", name}; }

ScalingRule RuleFor(const std::string& selector, ScalingPolicy policy = ScalingPolicy::kHpa) {
  ScalingRule rule;
  rule.selector = *Selector::Parse(selector);
  rule.policy = UsualSettings(policy);
  return rule;
}

ScalingSettingsPtr Rules(std::vector<ScalingRule> rules) {
  ScalingSettings settings;
  settings.rules = std::move(rules);
  return std::make_shared<const ScalingSettings>(std::move(settings));
}

/// The stock formula at half the request, whatever the workload.
ScalingSettingsPtr ByHpa(const std::function<void(ScalingRule&)>& change = [](ScalingRule&) {}) {
  ScalingRule rule = RuleFor(R"({namespace="shop"})");
  change(rule);
  return Rules({rule});
}

/// 10 pods of one core, 1 to 50 by an autoscaler.
DemandFacts Told() {
  DemandFacts facts;
  facts.replicas = 10;
  facts.request = 1;
  facts.min_replicas = 1;
  facts.max_replicas = 50;
  return facts;
}

/// One workload of a shard, minute by minute, without the namespace around it.
struct Rig {
  RequestHistory history;
  int64_t minute = kT0 / kMinute;

  explicit Rig(ScalingSettingsPtr scaling = ByHpa(), ForecastSettings forecast = {})
      : history(std::make_shared<const ProfileSet>(),
                std::make_shared<const ForecastSettings>(std::move(forecast)), nullptr,
                engine::DemandTracks::Keeps::kAll, std::move(scaling)) {
    Is(kWeb, Web());
  }
  void Is(uint32_t container, const WorkloadId& workload) {
    ProfileSubject subject;
    subject.workload = workload;
    subject.container = workloads::kDemand;
    history.ContainerIs(container, subject);
  }
  void Reload(ScalingSettingsPtr scaling) {
    history.SetRules(history.profiles(), std::make_shared<const ForecastSettings>(),
                     std::move(scaling));
    Is(kWeb, Web());
  }
  /// The next minute; what is to be shown at its end.
  std::optional<WorkloadScaling> Put(double demand, const DemandFacts& facts = Told(),
                                     uint32_t missing = 0, bool is_censored = false,
                                     uint32_t container = kWeb) {
    history.AddDemand(container, Resource::kCpu,
                      {.start_ms = minute * kMinute,
                       .demand = demand,
                       .pods = 10,
                       .missing = missing,
                       .is_censored = is_censored},
                      facts);
    ++minute;
    return Now(container);
  }
  ReplicaDecision Decided(double demand, const DemandFacts& facts = Told(), uint32_t missing = 0,
                          bool is_censored = false) {
    const auto now = Put(demand, facts, missing, is_censored);
    REQUIRE(now);
    INFO(now->why);
    REQUIRE(now->decision);
    return *now->decision;
  }
  std::optional<WorkloadScaling> Now(uint32_t container = kWeb) const {
    return history.scaling().Now(container, minute * kMinute);
  }
  std::string_view Why() const {
    const auto now = Now();
    return now ? now->why : "nothing";
  }
  std::string Bytes(uint32_t container = kWeb) const {
    std::string bytes;
    ByteWriter out(bytes);
    history.SaveContainer(container, out);
    return bytes;
  }
};

template <class Change>
DemandFacts With(Change change) {
  DemandFacts facts = Told();
  change(facts);
  return facts;
}

}  // namespace

TEST_CASE("A workload is scaled within the bounds of its autoscaler", "[scaling]") {
  Rig rig(Rules({}));  // no rule says anything
  const auto now = rig.Put(8);
  REQUIRE(now);
  CHECK(now->policy.policy == ScalingPolicy::kTidemark);
  REQUIRE(now->decision);
  CHECK(now->bounds == ReplicaBounds{.min = 1, .max = 50});
  CHECK(now->current_replicas == 10);
  CHECK(now->demand == 8);
  CHECK(now->request == 1);
  CHECK(now->decision->load_ratio == 0.8);
  CHECK(now->lead_minutes == 3);
  CHECK_FALSE(now->is_startup_measured);
  CHECK(now->minute_ms == (rig.minute - 1) * kMinute);
  CHECK(rig.history.scaling().MemoryBytes(kWeb) > 0);
  CHECK(rig.history.scaling().MemoryBytes(kWeb) < 4096);
}

TEST_CASE("Bounds are those of the rule, else those of the autoscaler, each on its own",
          "[scaling]") {
  struct Case {
    std::optional<int32_t> rule_min, rule_max;
    std::optional<double> told_min, told_max;
    std::optional<ReplicaBounds> bounds;
  };
  const std::vector<Case> cases = {
      {{}, {}, 2, 20, ReplicaBounds{2, 20}},
      {{}, {}, {}, 20, ReplicaBounds{1, 20}},   // Kubernetes' default
      {{}, {}, 0, 20, ReplicaBounds{1, 20}},    // may scale to zero, we never do
      {3, {}, 2, 20, ReplicaBounds{3, 20}},     //
      {{}, 9, 2, 20, ReplicaBounds{2, 9}},      //
      {3, 9, 2, 20, ReplicaBounds{3, 9}},       //
      {{}, 9, {}, {}, ReplicaBounds{1, 9}},     // no autoscaler
      {30, {}, 2, 20, ReplicaBounds{20, 20}},   // never above a maximum
      {3, {}, {}, {}, std::nullopt},            //
      {{}, {}, 2, {}, std::nullopt},            //
      {{}, {}, 2, 0, std::nullopt},             //
      {{}, {}, 2, 2.5, std::nullopt},           //
      {{}, {}, 2, -1, std::nullopt},            //
      {{}, {}, 2, 1e9, std::nullopt},           //
      {{}, {}, 2, std::nan(""), std::nullopt},  //
      {{}, {}, 1.5, 20, ReplicaBounds{1, 20}},  // what is no number is not told
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    const Case& c = cases[i];
    Rig rig(ByHpa([&](ScalingRule& rule) {
      rule.min_replicas = c.rule_min;
      rule.max_replicas = c.rule_max;
    }));
    const auto now = rig.Put(8, With([&](DemandFacts& facts) {
                               facts.min_replicas = c.told_min;
                               facts.max_replicas = c.told_max;
                             }));
    REQUIRE(now);
    CHECK(now->bounds == c.bounds);
    CHECK(now->decision.has_value() == c.bounds.has_value());
    CHECK(now->why == (c.bounds ? "" : "no_bounds"));
    if (c.bounds) {
      CHECK(now->decision->target >= c.bounds->min);
      CHECK(now->decision->target <= c.bounds->max);
    }
  }
}

TEST_CASE("Nothing is shown where nothing is said of replicas", "[scaling]") {
  Rig rig(Rules({RuleFor(R"({workload="other"})")}));
  CHECK_FALSE(rig.Put(8, With([](DemandFacts& facts) {
                        facts.min_replicas.reset();
                        facts.max_replicas.reset();
                      })));
  CHECK(rig.history.scaling().MemoryBytes(kWeb) == 0);
  CHECK_FALSE(rig.history.scaling().WithoutDemand(Web()));
  CHECK(rig.history.scaling().WithoutDemand(Web("other"))->why == "no_bounds");
}

TEST_CASE("What is not known is not decided on, and said", "[scaling]") {
  const auto why = [](const DemandFacts& facts) {
    Rig rig;
    const auto now = rig.Put(8, facts);
    REQUIRE(now);
    CHECK(now->decision.has_value() == now->why.empty());
    return std::string(now->why);
  };
  CHECK(why(Told()).empty());
  CHECK(why(With([](auto& f) { f.replicas.reset(); })) == "no_replicas");
  CHECK(why(With([](auto& f) { f.replicas = -1; })) == "no_replicas");
  CHECK(why(With([](auto& f) { f.replicas = 2.5; })) == "no_replicas");
  CHECK(why(With([](auto& f) { f.replicas = 100'001; })) == "no_replicas");
  CHECK(why(With([](auto& f) { f.replicas = std::nan(""); })) == "no_replicas");
  CHECK(why(With([](auto& f) { f.request.reset(); })) == "no_request");
  CHECK(why(With([](auto& f) { f.request = 0; })) == "no_request");
  CHECK(why(With([](auto& f) { f.request = -2; })) == "no_request");
  CHECK(why(With([](auto& f) { f.request = INFINITY; })) == "no_request");
  CHECK(why(With([](auto& f) { f.request = std::numeric_limits<double>::denorm_min(); })) ==
        "no_request");

  Rig rig(ByHpa([](ScalingRule& rule) { rule.max_replicas = 9; }));
  CHECK(rig.Why() == "no_demand");
  CHECK(rig.Now()->bounds == ReplicaBounds{.min = 1, .max = 9});
  for (const double demand : {-1.0, std::nan(""), static_cast<double>(INFINITY), 1e30}) {
    rig.Put(demand);
    CHECK(rig.Why() == "no_demand");
  }
  rig.Put(8);
  CHECK(rig.Why().empty());
  // A minute of which too little is known has no decision, whatever came before.
  rig.Put(8, With([](auto& f) { f.replicas.reset(); }));
  CHECK(rig.Why() == "no_replicas");
  CHECK_FALSE(rig.Now()->decision);
  rig.Put(8);
  CHECK(rig.Why().empty());
}

TEST_CASE("A base and a start-up of the rule take the place of what is told", "[scaling]") {
  Rig rig(ByHpa([](ScalingRule& rule) {
    rule.base = 2;
    rule.startup_ms = 90'000;
  }));
  const auto now = rig.Put(8, With([](auto& f) {
                             f.request.reset();
                             f.startup_ms = 300'000;
                           }));
  REQUIRE(now->decision);
  CHECK(now->request == 2);
  CHECK(now->decision->load_ratio == 0.4);
  CHECK(now->startup_ms == 90'000);
  CHECK(now->lead_minutes == 3);
  CHECK_FALSE(now->is_startup_measured);
  Rig measured;
  const auto told = measured.Put(8, With([](auto& f) { f.startup_ms = 300'000; }));
  CHECK(told->startup_ms == 300'000);
  CHECK(told->lead_minutes == 6);
  CHECK(told->is_startup_measured);
}

TEST_CASE("A decision is held for five minutes and then withdrawn", "[scaling]") {
  Rig rig;
  rig.Put(8);
  for (int later = 0; later <= 4; ++later) {
    CHECK(rig.Now()->decision);
    ++rig.minute;
  }
  const auto stale = rig.Now();
  CHECK(stale->why == "stale");
  CHECK_FALSE(stale->decision);
  CHECK_FALSE(stale->demand);
  CHECK_FALSE(stale->current_replicas);
  CHECK(rig.Put(8)->decision);
}

TEST_CASE("Demand that comes back never scales down at once", "[scaling]") {
  for (const int gap : {1, 3, 8, 60, 1000}) {
    INFO("gap of " << gap);
    Rig rig;
    for (int i = 0; i < 10; ++i) CHECK(rig.Decided(5).target == 10);
    rig.minute += gap;
    int minutes = 0;
    while (rig.Decided(1).target >= 10) REQUIRE(++minutes < 10);
    CHECK(minutes >= 4 - std::min(gap, 4));
    if (gap >= 5) CHECK(minutes == 4);  // the whole window, the present minute among it
  }
  // The first minute of all is such a return.
  Rig rig;
  CHECK(rig.Decided(1).target == 10);
  CHECK(rig.Now()->decision->recommended == 2);
  CHECK(rig.Now()->decision->reason == DecisionReason::kStabilized);
}

TEST_CASE("Demand that pods' limits cut off asks for half as many again", "[scaling]") {
  Rig rig;
  for (int i = 0; i < 10; ++i) rig.Decided(5);
  const ReplicaDecision decision = rig.Decided(5, Told(), 0, true);
  CHECK(decision.target == 15);
  CHECK(decision.reason == DecisionReason::kCensored);
  CHECK(rig.Now()->is_censored);
}

TEST_CASE("Missing pods take no replicas away", "[scaling]") {
  Rig rig;
  for (int i = 0; i < 10; ++i) rig.Decided(5);
  // A node is lost, and half of the usage with it.
  for (int i = 0; i < 10; ++i) {
    const ReplicaDecision decision = rig.Decided(2.5, Told(), 5);
    CHECK(decision.target == 10);
  }
  CHECK(rig.Now()->missing_pods == 5);
  // That the others have more to do than all should is seen all the same.
  CHECK(rig.Decided(8, Told(), 2).target > 10);
}

TEST_CASE("A workload that is scaled to nothing is left there", "[scaling]") {
  Rig rig;
  rig.Decided(5);
  const ReplicaDecision decision = rig.Decided(0.5, With([](auto& f) {
                                                 f.replicas = 0;
                                                 f.request.reset();
                                               }));
  CHECK(decision.target == 0);
  CHECK(decision.reason == DecisionReason::kSuspended);
}

TEST_CASE("Without steps of a minute the demand of the minute is all that is gone by",
          "[scaling]") {
  ForecastSettings forecast;
  ForecastRule drawn;
  drawn.selector = *Selector::Parse("{}");
  drawn.steps = DemandSteps::kFiveMinutes;
  forecast.rules = {drawn};
  Rig rig(ByHpa([](ScalingRule& rule) { rule.policy = UsualSettings(ScalingPolicy::kDebi); }),
          forecast);
  for (int i = 0; i < 300; ++i) rig.Decided(5 + i % 7);
  const ReplicaDecision decision = rig.Decided(5);
  CHECK(decision.mode == ScalingMode::kReactive);
  CHECK_FALSE(decision.forecast_load_ratio);
  CHECK_FALSE(decision.high_water_load_ratio);
}

TEST_CASE("Rules may change while decisions are made", "[scaling]") {
  Rig rig;
  for (int i = 0; i < 10; ++i) rig.Decided(8);
  CHECK(rig.Decided(8).target == 16);
  // What was decided stands until the next minute, and what was learnt goes on.
  rig.Reload(ByHpa([](ScalingRule& rule) {
    rule.max_replicas = 12;
    rule.policy.target_utilization_ratio = 0.8;
  }));
  CHECK(rig.Now()->decision->target == 16);
  CHECK(rig.Now()->policy.target_utilization_ratio == 0.8);
  CHECK(rig.Decided(8).target == 12);  // the window, within the new bounds
  for (int i = 0; i < 5; ++i) rig.Decided(8);
  CHECK(rig.Decided(8).target == 10);
  // Switched off, nothing is kept; switched on, it begins.
  const auto off = ByHpa([](ScalingRule& rule) { rule.enabled = false; });
  rig.Reload(off);
  CHECK(rig.Why() == "disabled");
  CHECK_FALSE(rig.history.scaling().Has(kWeb));
  rig.Put(8);
  CHECK(rig.Why() == "disabled");
  rig.Reload(ByHpa());
  CHECK(rig.Why() == "no_bounds");  // none that a rule gives, and no minute to tell others by
  CHECK(rig.Decided(8).target == 16);
  // A rule that is gone leaves the autoscaler.
  rig.Reload(Rules({}));
  CHECK(rig.Put(8)->policy.policy == ScalingPolicy::kTidemark);
  REQUIRE(rig.Now()->decision);
}

TEST_CASE("An autoscaler that is gone for a while costs nothing of what was learnt", "[scaling]") {
  const auto gone = With([](auto& f) {
    f.min_replicas.reset();
    f.max_replicas.reset();
  });
  Rig rig(Rules({}));
  for (int i = 0; i < 10; ++i) rig.Put(8);
  rig.Put(8, gone);
  CHECK(rig.Why() == "no_bounds");
  const std::string bytes = rig.Bytes();
  rig.Put(8);
  CHECK(rig.Why().empty());
  for (int i = 0; i < 60; ++i) {
    rig.Put(8, gone);
    CHECK(rig.Why() == "no_bounds");
  }
  rig.Put(8, gone);
  CHECK(rig.Why() == "nothing");
  CHECK(rig.history.scaling().MemoryBytes(kWeb) == 0);
}

TEST_CASE("What is kept of decisions comes back bit by bit", "[scaling][durability]") {
  for (const ScalingPolicy policy :
       {ScalingPolicy::kHpa, ScalingPolicy::kDebi, ScalingPolicy::kTidemark}) {
    INFO(ToString(policy));
    const auto rules = ByHpa([&](ScalingRule& rule) { rule.policy = UsualSettings(policy); });
    Rig first(rules);
    for (int i = 0; i < 400; ++i) first.Decided(5 + i % 11);
    for (const bool undecided : {false, true}) {
      if (undecided) first.Put(8, With([](auto& f) { f.request.reset(); }));
      const std::string bytes = first.Bytes();
      Rig second(rules);
      ByteReader in(bytes);
      REQUIRE(second.history.RestoreContainer(kWeb, in));
      CHECK(in.AtEnd());
      second.minute = first.minute;
      CHECK(second.Bytes() == bytes);
      const auto before = first.Now();
      const auto after = second.Now();
      CHECK(before->why == after->why);
      CHECK(before->decision.has_value() == after->decision.has_value());
      CHECK(before->bounds == after->bounds);
      CHECK(before->current_replicas == after->current_replicas);
      CHECK(before->demand == after->demand);
      CHECK(before->request == after->request);
      for (int i = 0; i < 30; ++i) {
        const auto ours = first.Decided(4 + i % 5);
        const auto theirs = second.Decided(4 + i % 5);
        CHECK(ours.target == theirs.target);
        CHECK(ours.reason == theirs.reason);
        CHECK(ours.forecast_load_ratio == theirs.forecast_load_ratio);
      }
      CHECK(second.Bytes() == first.Bytes());
    }
  }
}

TEST_CASE("Bytes that are cut or wrong restore nothing of decisions", "[scaling][durability]") {
  Rig rig;
  for (int i = 0; i < 3; ++i) rig.Decided(8);
  const std::string bytes = rig.Bytes();
  for (size_t cut = 0; cut + 1 < bytes.size(); ++cut) {
    Rig other;
    ByteReader in(std::string_view(bytes).substr(0, cut + 1));
    CHECK_FALSE(other.history.RestoreContainer(kWeb, in));
    CHECK_FALSE(other.history.scaling().Has(kWeb));
  }
  // Whatever is read, it can be saved and decided on.
  for (size_t at = bytes.size() - 120; at < bytes.size(); ++at) {
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string wrong = bytes;
      wrong[at] = static_cast<char>(wrong[at] ^ flip);
      Rig other;
      ByteReader in(wrong);
      if (!other.history.RestoreContainer(kWeb, in)) continue;
      other.Bytes();
      other.minute = rig.minute;
      other.Put(8);
    }
  }
}

TEST_CASE("Decisions under another number go on where they belong", "[scaling]") {
  constexpr uint32_t kOther = 9;
  Rig rig;
  rig.Is(kOther, Web("web-guessed"));
  for (int i = 0; i < 10; ++i) {
    rig.Put(8, Told(), 0, false, kOther);
  }
  rig.history.MergeContainer(kOther, kWeb);
  rig.history.RemoveContainer(kOther);
  CHECK_FALSE(rig.Now(kOther));
  REQUIRE(rig.Now()->decision);
  CHECK(rig.Now()->decision->target == 16);
  // Where there is something already, that is what counts.
  Rig both;
  both.Is(kOther, Web("web-guessed"));
  both.Put(8);
  both.Put(2, Told(), 0, false, kOther);
  both.history.MergeContainer(kOther, kWeb);
  CHECK(both.Now()->demand == 8);
  both.history.RemoveContainer(kWeb);
  CHECK_FALSE(both.Now());
}

TEST_CASE("A past that is built is not scaled", "[scaling]") {
  RequestHistory past(std::make_shared<const ProfileSet>(),
                      std::make_shared<const ForecastSettings>(), nullptr,
                      engine::DemandTracks::Keeps::kHistory);
  ProfileSubject subject;
  subject.workload = Web();
  subject.container = workloads::kDemand;
  past.ContainerIs(kWeb, subject);
  past.AddDemand(kWeb, Resource::kCpu, {.start_ms = kT0, .demand = 8, .pods = 10}, Told());
  CHECK_FALSE(past.scaling().Has(kWeb));
  // What is merged before a live one leaves its decisions as they are.
  Rig rig;
  rig.Decided(8);
  std::string bytes;
  ByteWriter out(bytes);
  past.SaveContainer(kWeb, out);
  ByteReader in(bytes);
  REQUIRE(rig.history.MergeSaved(kWeb, in));
  CHECK(rig.Now()->decision->target == 16);
}
