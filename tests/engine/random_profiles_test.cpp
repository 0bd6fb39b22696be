// Whatever profiles and samples there are: requests are finite and in order, their steps end where
// they do, and a state kept under one set of profiles is read under every other.
#include <cmath>
#include <random>

#include "tests/engine/durable.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  double Between(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random_));
  }
  bool Once(int in) { return Below(in) == 0; }

  /// Anything that the configuration would take.
  Profile AProfile() {
    Profile profile = PresetProfile(static_cast<Preset>(Below(3)));
    profile.strict = profile.preset == Preset::kVpa && Once(2);
    if (profile.strict) return profile;
    profile.level = static_cast<Level>(Below(4));
    profile.mode = static_cast<PoolMode>(Below(4));
    for (const Resource resource : kAllResources) {
      ResourceRule& rule = profile.rule(resource);
      const bool bytes = rule.buckets.max > 1e9;
      const double unit = bytes ? 1e9 : 1;
      rule.enabled = !Once(10);
      rule.lower_percentile = Between(0.01, 0.5);
      rule.percentile = Between(0.5, 0.9);
      rule.upper_percentile = Between(0.9, 1);
      rule.window_ms = static_cast<int64_t>(Between(60e3, 8 * 86400e3));
      rule.half_life_ms = static_cast<int64_t>(Between(86400e3 * 8 / 24, 365 * 86400e3));
      rule.samples = static_cast<SampleKind>(Below(2));
      rule.weight = static_cast<WeightRule>(Below(2));
      rule.sample_weight = Between(1e-3, 1000);
      rule.buckets = {.first = unit * Between(1e-3, 0.1),
                      .ratio = Between(1.03, 2),
                      .max = unit * Between(10, 1e5)};
      rule.margin_ratio = Between(1e-3, 10);
      rule.expansion_factor = Between(0.1, 10);
      rule.pod_minimum = unit * Between(1e-3, 10);
      if (Once(2)) rule.floor = unit * Between(1e-3, 10);
      if (Once(2)) rule.ceiling = std::max(rule.floor, unit * Between(1e-3, 100));
      rule.rounding = bytes ? std::floor(Between(1, 1e12)) : Between(0.001, 1000);
      rule.static_ratio = Between(0.01, 1);
      if (Once(3)) rule.basis = Basis::kHighWater;
      rule.high_water = {.risk = Between(1e-6, 0.4), .method = static_cast<TailMethod>(Below(4))};
      rule.kills.hold_ms = Below(3) * 3'600'000LL;
    }
    return profile;
  }
  ProfileSetPtr ASet() {
    constexpr const char* kSelectors[] = {R"({namespace="shop"})", R"({container="app"})",
                                          R"({label_team="a"})", R"({container!="app"})",
                                          R"({workload=~"db|never"})"};
    std::vector<Profile> profiles;
    for (int i = Below(3); i > 0; --i) {
      Profile& profile = profiles.emplace_back(AProfile());
      profile.name = "p" + std::to_string(i);
      profile.selector = *Selector::Parse(kSelectors[Below(std::size(kSelectors))]);
    }
    return std::make_shared<const ProfileSet>(std::move(profiles), AProfile());
  }

 private:
  std::mt19937 random_;
};

engine::Options With(ProfileSetPtr profiles) {
  engine::Options options;
  options.profiles = std::move(profiles);
  return options;
}

FeedSeries Kube(const std::string& metric, const std::string& container, int64_t at, double value,
                LabelMap more = {}) {
  more.insert(
      {{"namespace", "shop"}, {"pod", "db-0"}, {"uid", "u-db-0"}, {"container", container}});
  return {Named("kube_pod_" + metric, std::move(more)), {{at, value}}};
}

void CheckAmounts(const ResourceAdvice& advice, const Profile& profile) {
  const ResourceRule& rule = profile.rule(advice.resource);
  for (const auto& amount : {advice.model_request, advice.recommended_request, advice.lower_bound,
                             advice.upper_bound, advice.reclaimable}) {
    if (amount) CHECK(std::isfinite(*amount));
  }
  CHECK(std::isfinite(advice.confidence_days));
  if (!advice.recommended_request) return;
  const double is = *advice.recommended_request;
  const double least = rule.buckets.max > 1e6 ? 1 : 0.001;  // what amounts are whole numbers of
  CHECK(is >= 0);
  if (rule.ceiling) CHECK(is <= *rule.ceiling + least);
  CHECK(is >= std::min(rule.floor, rule.ceiling.value_or(rule.floor)) - least);
  if (profile.strict || advice.Has(AdviceMark::kStatic)) return;
  REQUIRE(advice.lower_bound);
  CHECK(*advice.lower_bound <= is);
  if (advice.upper_bound) CHECK(is <= *advice.upper_bound);
}

void CheckAll(Durable& world) {
  world.engine.Tick();
  const auto snapshot = world.engine.Current();
  REQUIRE(snapshot->blocks.size() == 1);
  REQUIRE(snapshot->blocks[0]->workloads.size() == 1);
  const WorkloadAdvice& workload = snapshot->blocks[0]->workloads[0];
  const auto why = world.engine.ExplainRequests("shop", "statefulset", "db");
  REQUIRE(why);
  for (const ContainerAdvice& container : workload.containers) {
    const auto& explained = why->front().containers;
    const auto same =
        std::ranges::find(explained, container.container, &ContainerExplanation::container);
    REQUIRE(same != explained.end());
    REQUIRE(same->resources.size() == container.resources.size());
    for (size_t i = 0; i < container.resources.size(); ++i) {
      const ResourceAdvice& advice = container.resources[i];
      const ResourceExplanation& steps = same->resources[i];
      INFO("container " << container.container << ", " << ResourceName(advice.resource)
                        << ", profile " << container.profile->name);
      CheckAmounts(advice, *container.profile);
      CHECK(steps.advice.recommended_request == advice.recommended_request);
      CHECK(steps.advice.model_request == advice.model_request);
      CHECK(steps.advice.lower_bound == advice.lower_bound);
      CHECK(steps.advice.upper_bound == advice.upper_bound);
      CHECK(steps.advice.marks == advice.marks);
      if (!advice.recommended_request) continue;
      REQUIRE_FALSE(steps.steps.empty());
      CHECK(steps.steps.back().value == *advice.recommended_request);
    }
  }
}

}  // namespace

TEST_CASE("under any profiles requests are finite and in order, and outlive any change of them",
          "[engine][profiles][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Draw draw(seed);
  constexpr double kOdd[] = {0, 1e-300, 1e300, 1.7e308};
  for (int round = 0; round < 60; ++round) {
    INFO("round " << round);
    MemoryStore store;
    int64_t at = kT0;
    double cpu = 0;
    int restarts = 0;
    for (int start = 0; start < 4; ++start) {
      INFO("start " << start);
      const auto world = Open(store, With(draw.ASet()));
      CHECK(world->storage.checkpoints_damaged.load() == 0);
      if (start > 0) CheckAll(*world);
      for (int i = 0; i < 90; ++i, at += draw.Once(40) ? 86'400'000 / 3 : 60'000) {
        world->clock.Set(FromUnixMs(at));
        cpu += 60 * draw.Between(0.001, 10);
        const bool odd = draw.Once(8);
        const auto amount = [&](double usual) { return odd ? kOdd[draw.Below(4)] : usual; };
        restarts += draw.Once(15);
        std::vector<FeedSeries> request = {{PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}}};
        for (const std::string container : {"app", "side"}) {
          if (container == "side" && draw.Once(3)) continue;
          request.push_back({Cpu("db-0", container), {{at, odd ? amount(cpu) : cpu}}});
          request.push_back({Memory("db-0", container), {{at, amount(draw.Between(1e6, 1e11))}}});
          request.push_back(Kube("container_resource_requests", container, at, amount(2),
                                 {{"resource", "cpu"}, {"unit", "core"}}));
          request.push_back(Kube("container_resource_requests", container, at, amount(4e9),
                                 {{"resource", "memory"}, {"unit", "byte"}}));
          request.push_back(Kube("container_status_restarts_total", container, at, restarts));
          request.push_back(Kube("container_status_last_terminated_reason", container, at, 1,
                                 {{"reason", "OOMKilled"}}));
        }
        if (draw.Once(10)) {
          request.push_back(
              Kube("labels", "app", at, 1, {{"label_team", draw.Once(2) ? "a" : "b"}}));
        }
        Write(world->engine, request);
        if (draw.Once(30)) world->engine.SetProfiles(draw.ASet());
        if (draw.Once(30)) CheckAll(*world);
      }
      CheckAll(*world);
      if (draw.Once(2)) REQUIRE(world->engine.Checkpoint());
    }
  }
}
