// Replicas of workloads through the engine: decided for each minute of demand, shown, withdrawn by
// age, kept over restarts, changed by a reload.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/request_history.h"
#include "tests/engine/durable.h"
#include "tests/engine/feed.h"

using namespace tidemark;
using namespace tidemark::testing;
using engine::RequestHistory;
using workloads::DemandFacts;

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
    history.ContainerIs(container,
                        {.workload = workload, .container = workloads::kDemand, .pod_labels = {}});
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

TEST_CASE("A pod counts for its request, its limit or its original request", "[scaling]") {
  const auto load = [](UtilizationBase kind, const DemandFacts& facts) {
    Rig rig(ByHpa([kind](ScalingRule& rule) { rule.base_kind = kind; }));
    const auto now = rig.Put(8, facts);
    REQUIRE(now);
    CHECK(now->base_kind == kind);
    INFO(now->why);
    REQUIRE(now->decision);
    // The stock formula at half of what ten pods count for.
    CHECK(now->decision->recommended == static_cast<int32_t>(std::ceil(8 / 0.5 / *now->request)));
    return now->decision->load_ratio;
  };
  const DemandFacts facts = With([](auto& f) {
    f.limit = 4;
    f.original_request = 2;
  });
  CHECK(load(UtilizationBase::kRequest, facts) == 0.8);
  CHECK(load(UtilizationBase::kLimit, facts) == 0.2);
  CHECK(load(UtilizationBase::kOriginal, facts) == 0.4);
}

TEST_CASE("A base that is a limit needs one", "[scaling]") {
  const auto rules = ByHpa([](ScalingRule& rule) { rule.base_kind = UtilizationBase::kLimit; });
  Rig rig(rules);
  rig.Put(8);
  CHECK(rig.Why() == "no_limit");
  CHECK_FALSE(rig.Now()->request);
  // It is said after a restart as well.
  const std::string bytes = rig.Bytes();
  Rig later(rules);
  ByteReader in(bytes);
  REQUIRE(later.history.RestoreContainer(kWeb, in));
  later.minute = rig.minute;
  CHECK(later.Why() == "no_limit");
  CHECK(later.Now()->base_kind == UtilizationBase::kLimit);
  CHECK(later.Bytes() == bytes);
  rig.Put(8, With([](auto& f) { f.limit = 1; }));
  CHECK(rig.Why().empty());
  // An amount takes the place of all of them.
  Rig amount(ByHpa([](ScalingRule& rule) {
    rule.base_kind = UtilizationBase::kLimit;
    rule.base = 2;
  }));
  CHECK(amount.Decided(8).load_ratio == 0.4);
}

TEST_CASE("Whether a target is to leave the dead band follows the rule at once", "[scaling]") {
  Rig rig;
  rig.Decided(8);
  CHECK_FALSE(rig.Now()->escape_dead_band);
  rig.Reload(ByHpa([](ScalingRule& rule) { rule.escape_dead_band = true; }));
  CHECK(rig.Now()->escape_dead_band);
  CHECK(rig.Now()->decision);
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
  past.ContainerIs(kWeb, {.workload = Web(), .container = workloads::kDemand, .pod_labels = {}});
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

namespace {

/// A Deployment behind a HorizontalPodAutoscaler, as cAdvisor and kube-state-metrics tell of it.
class Autoscaled {
 public:
  explicit Autoscaled(std::string name = "web", std::string ns = "shop")
      : name_(std::move(name)), ns_(std::move(ns)) {}

  std::vector<std::string> pods = {"a", "b", "c", "d"};
  double replicas = 4;
  bool has_autoscaler = true;
  bool has_request = true;
  double cores = 2;  // of all pods

  /// Minutes with a batch at the end of each.
  void Go(engine::Engine& engine, ManualClock& clock, int minutes) {
    for (int i = 0; i < minutes; ++i, ++minute_) {
      const int64_t at = now_ms();
      clock.Set(FromUnixMs(at));
      std::vector<FeedSeries> request;
      const auto put = [&](LabelMap labels, double value) {
        labels["namespace"] = ns_;
        request.push_back({std::move(labels), {{at, value}}});
      };
      put(ReplicaSetOwner(name_ + "-5c9", "Deployment", name_), 1);
      put(Named("kube_deployment_spec_replicas", {{"deployment", name_}}), replicas);
      if (has_autoscaler) {
        const LabelMap hpa = {{"horizontalpodautoscaler", "hpa-of-" + name_}};
        LabelMap target = hpa;
        target.insert({{"scaletargetref_kind", "Deployment"}, {"scaletargetref_name", name_}});
        put(Named("kube_horizontalpodautoscaler_info", target), 1);
        put(Named("kube_horizontalpodautoscaler_spec_min_replicas", hpa), 2);
        put(Named("kube_horizontalpodautoscaler_spec_max_replicas", hpa), 20);
      }
      for (const std::string& each : pods) {
        const std::string pod = name_ + "-5c9-" + each;
        double& spent = spent_[each];
        if (minute_ > 0) spent += 60 * cores / static_cast<double>(pods.size());
        put(PodOwner(pod, "ReplicaSet", name_ + "-5c9"), 1);
        if (has_request) put(Request(pod, "cpu"), 1);
        put(Cpu(pod), spent);
        put(Memory(pod), 1e8);
      }
      Write(engine, request);
    }
  }
  int64_t now_ms() const { return kT0 + minute_ * kMinute; }
  /// Start of the newest minute that is closed.
  int64_t newest_ms() const { return now_ms() - 2 * kMinute; }

 private:
  std::string name_;
  std::string ns_;
  std::map<std::string, double> spent_;
  int64_t minute_ = 0;
};

std::shared_ptr<const WorkloadScaling> ScalingOf(engine::Engine& engine,
                                                 const std::string& workload = "web") {
  engine.Tick();
  for (const auto& block : engine.Current()->blocks) {
    for (const WorkloadAdvice& advice : block->workloads) {
      if (advice.id.workload == workload) return advice.scaling;
    }
  }
  return nullptr;
}

engine::Options Scaled(ScalingSettingsPtr scaling) {
  engine::Options options = Bench::Plain();
  options.shards = 2;
  options.scaling = std::move(scaling);
  return options;
}

}  // namespace

TEST_CASE("Bounds, replicas and request come from kube-state-metrics", "[scaling][engine]") {
  Bench bench(Scaled(ByHpa()));
  Autoscaled web;
  web.Go(bench.engine, bench.clock, 12);
  const auto shown = ScalingOf(bench.engine);
  REQUIRE(shown);
  INFO(shown->why);
  REQUIRE(shown->decision);
  CHECK(shown->minute_ms == web.newest_ms());
  CHECK(shown->bounds == ReplicaBounds{.min = 2, .max = 20});
  CHECK(shown->current_replicas == 4);
  CHECK(shown->request == 1);
  CHECK(*shown->demand == Approx(2));
  CHECK(shown->decision->load_ratio == Approx(0.5));
  CHECK(shown->decision->target == 4);
  // Nothing has come: it is shown again as it was.
  CHECK(ScalingOf(bench.engine) == shown);
  // Explained as it is shown.
  const auto all = bench.engine.ExplainRequests("shop", "deployment", "web");
  REQUIRE(all);
  REQUIRE(all->front().scaling);
  CHECK(all->front().scaling->decision->target == 4);

  web.cores = 3.5;
  web.Go(bench.engine, bench.clock, 2);
  CHECK(ScalingOf(bench.engine)->decision->target == 7);
}

TEST_CASE("A rule scales what has no autoscaler", "[scaling][engine]") {
  Bench bench(Scaled(ByHpa([](ScalingRule& rule) {
    rule.selector = *Selector::Parse(R"({workload="web"})");
    rule.max_replicas = 6;
    rule.base = 0.25;
  })));
  Autoscaled web;
  Autoscaled api("api");
  web.has_autoscaler = web.has_request = false;
  api.has_autoscaler = false;
  web.Go(bench.engine, bench.clock, 12);
  api.Go(bench.engine, bench.clock, 12);
  const auto shown = ScalingOf(bench.engine);
  REQUIRE(shown);
  REQUIRE(shown->decision);
  CHECK(shown->bounds == ReplicaBounds{.min = 1, .max = 6});
  CHECK(shown->decision->target == 6);
  CHECK(shown->decision->reason == DecisionReason::kAtMaximum);
  CHECK(ScalingOf(bench.engine, "api") == nullptr);
  // Asked for now.
  bench.engine.SetScaling(ByHpa([](ScalingRule& rule) { rule.max_replicas = 9; }));
  CHECK(ScalingOf(bench.engine, "api")->why == "no_demand");
  api.Go(bench.engine, bench.clock, 1);
  CHECK(ScalingOf(bench.engine, "api")->bounds->max == 9);
  bench.engine.SetScaling(ByHpa([](ScalingRule& rule) { rule.enabled = false; }));
  CHECK(ScalingOf(bench.engine, "api")->why == "disabled");
}

TEST_CASE("Where no demand is summed, that is why", "[scaling][engine]") {
  engine::Options options = Scaled(ByHpa([](ScalingRule& rule) { rule.max_replicas = 6; }));
  ForecastSettings forecast;
  forecast.rules.emplace_back().steps = DemandSteps::kNone;
  options.forecast = std::make_shared<const ForecastSettings>(std::move(forecast));
  Bench bench(options);
  Autoscaled web;
  web.Go(bench.engine, bench.clock, 12);
  const auto shown = ScalingOf(bench.engine);
  REQUIRE(shown);
  CHECK(shown->why == "no_demand");
  CHECK(shown->bounds == ReplicaBounds{.min = 2, .max = 6});  // the autoscaler's and the rule's
  CHECK(ScalingOf(bench.engine) == shown);
  // Nor where only an autoscaler speaks of it; where nobody does, nothing is said.
  bench.engine.SetScaling(Rules({}));
  CHECK(ScalingOf(bench.engine)->why == "no_demand");
  CHECK(ScalingOf(bench.engine)->bounds == ReplicaBounds{.min = 2, .max = 20});
  Autoscaled api("api");
  api.has_autoscaler = false;
  api.Go(bench.engine, bench.clock, 12);
  CHECK(ScalingOf(bench.engine, "api") == nullptr);
}

TEST_CASE("A target is withdrawn when nothing comes any more", "[scaling][engine]") {
  Bench bench(Scaled(ByHpa()));
  Autoscaled web;
  web.Go(bench.engine, bench.clock, 12);
  REQUIRE(ScalingOf(bench.engine)->decision);
  // The wall clock goes on.
  for (int i = 0; i < 8; ++i) {
    bench.clock.Set(FromUnixMs(web.now_ms() + i * kMinute));
    const auto shown = ScalingOf(bench.engine);
    REQUIRE(shown);
    if (!shown->decision) CHECK(shown->why == "stale");
    if (i < 3) CHECK(shown->decision);
  }
  CHECK(ScalingOf(bench.engine)->why == "stale");
  CHECK_FALSE(ScalingOf(bench.engine)->decision);
}

TEST_CASE("A rollout does not take replicas away", "[scaling][engine]") {
  Bench bench(Scaled(ByHpa()));
  Autoscaled web;
  web.Go(bench.engine, bench.clock, 15);
  for (size_t i = 0; i < 4; ++i) {
    web.pods[i] = std::string("new-") + static_cast<char>('a' + i);
    for (int minute = 0; minute < 3; ++minute) {
      web.Go(bench.engine, bench.clock, 1);
      const auto shown = ScalingOf(bench.engine);
      REQUIRE(shown);
      if (shown->decision) CHECK(shown->decision->target >= 4);
    }
  }
}

TEST_CASE("Decisions are the same after a restart, by the journal and by a checkpoint",
          "[scaling][engine][durability]") {
  for (const ScalingPolicy policy : {ScalingPolicy::kHpa, ScalingPolicy::kTidemark}) {
    INFO(ToString(policy));
    const engine::Options options =
        Scaled(ByHpa([&](ScalingRule& rule) { rule.policy = UsualSettings(policy); }));
    MemoryStore disk;
    MemoryStore untouched_disk;
    const auto untouched = Open(untouched_disk, options);
    Autoscaled theirs;
    Autoscaled ours;
    const auto load = [](int step) { return 2 + std::fmod(step * 0.37, 3.0); };
    const auto go = [&](Durable& durable, Autoscaled& web, int step) {
      web.cores = load(step);
      web.replicas = 4 + step % 3;
      web.Go(durable.engine, durable.clock, 1);
    };
    auto durable = Open(disk, options);
    for (int step = 0; step < 90; ++step) {
      go(*untouched, theirs, step);
      go(*durable, ours, step);
      if (step == 30 || step == 60) {
        const int64_t now_ms = ToUnixMs(durable->clock.Now());
        // Killed; the second time on a checkpoint that is a few minutes old.
        durable.reset();
        durable = std::make_unique<Durable>(disk, options);
        durable->clock.Set(FromUnixMs(now_ms));
        REQUIRE(durable->engine.Recover());
        CHECK(durable->State() == untouched->State());
      }
      if (step == 55) REQUIRE(durable->engine.Checkpoint());
      const auto expected = ScalingOf(untouched->engine);
      const auto shown = ScalingOf(durable->engine);
      REQUIRE((shown != nullptr) == (expected != nullptr));
      if (!shown) continue;
      CHECK(shown->why == expected->why);
      REQUIRE(shown->decision.has_value() == expected->decision.has_value());
      if (!shown->decision) continue;
      CHECK(shown->minute_ms == expected->minute_ms);
      CHECK(shown->decision->target == expected->decision->target);
      CHECK(shown->decision->recommended == expected->decision->recommended);
      CHECK(shown->decision->reason == expected->decision->reason);
      CHECK(shown->decision->forecast_load_ratio == expected->decision->forecast_load_ratio);
    }
    const auto state = durable->State();
    CHECK(state == untouched->State());
    CHECK(std::any_of(state.begin(), state.end(), [](const std::string& line) {
      return line.find("\"target_replicas\"") != std::string::npos;
    }));
    // Bit by bit: what a checkpoint would hold.
    REQUIRE(durable->engine.Checkpoint());
    REQUIRE(untouched->engine.Checkpoint());
    CHECK(disk.checkpoints().back().blocks == untouched_disk.checkpoints().back().blocks);
  }
}
