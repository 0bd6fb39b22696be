// `estimation:` and `profiles:`: what comes from where, and what is refused.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/config.h"
#include "estimators/histogram_options.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

Config Good(std::string_view yaml) {
  auto config = ParseConfig(yaml, "tidemark.yml");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return *config;
}

Profile Only(std::string_view yaml) {
  const Config config = Good(yaml);
  REQUIRE(config.engine.profiles->profiles().size() == 1);
  return config.engine.profiles->profiles().front();
}

const Profile& Defaults(const Config& config) { return config.engine.profiles->fallback(); }

struct Wrong {
  std::string_view yaml;
  std::string_view message;
};

const Wrong kWrong[] = {
    {"estimation: {preset: kvm}",
     "estimation.preset: there is no preset kvm, allowed: tidemark, vpa, oversell"},
    {"estimation: {level: pods}",
     "estimation.level: there is no level pods (did you mean pod?), allowed: container, workload, "
     "namespace, pod"},
    {"estimation: {mode: on}",
     "estimation.mode: there is no mode on, allowed: off, static, dynamic, static_and_dynamic"},
    {"estimation: {effect: ''}",
     "estimation.effect: there is no effect \"\", allowed: applied, shown"},
    {"estimation: {may_change_qos: never}",
     "estimation.may_change_qos: never is not a boolean, allowed: true, false"},
    {"estimation: {strict: 1}", "estimation.strict: 1 is not a boolean, allowed: true, false"},
    {"estimation: {cpu: {enabled: yes}}",
     "estimation.cpu.enabled: yes is not a boolean, allowed: true, false"},
    {"estimation: {cpu: {samples: peaks}}",
     "estimation.cpu.samples: there is no kind of samples peaks, allowed: every_minute, "
     "peak_per_window"},
    {"estimation: {cpu: {weight: requests}}",
     "estimation.cpu.weight: there is no rule of weight requests, allowed: constant, by_request"},
    {"estimation: {cpu: {correction: keep}}",
     "estimation.cpu.correction: there is no correction keep (did you mean keep_original?), "
     "allowed: off, keep_original, replace"},
    {"estimation: {cpu: {window: 30s}}",
     "estimation.cpu.window: 30s is out of range, allowed: 1m <= x <= 8d"},
    {"estimation: {cpu: {window: 9d}}",
     "estimation.cpu.window: 9d is out of range, allowed: 1m <= x <= 8d"},
    {"estimation: {cpu: {expansion: 0.05}}",
     "estimation.cpu.expansion: 0.05 is out of range, allowed: 0.1 <= x <= 10"},
    {"estimation: {cpu: {confidence_interval: 1s}}",
     "estimation.cpu.confidence_interval: 1s is out of range, allowed: 1m <= x <= 365d"},
    {"estimation: {cpu: {floor: 2k}}",
     "estimation.cpu.floor: 2k is out of range, allowed: 0 <= x <= 1000"},
    {"estimation: {cpu: {ceiling: 0}}",
     "estimation.cpu.ceiling: 0 is out of range, allowed: 1m <= x <= 1000"},
    {"estimation: {memory: {rounding: 100m}}",
     "estimation.memory.rounding: 100m is out of range, allowed: 1 <= x <= 1Ti"},
    {"estimation: {cpu: {static_ratio: 0}}",
     "estimation.cpu.static_ratio: 0 is out of range, allowed: 0 < x <= 1"},
    {"estimation: {cpu: {buckets: {first: 0}}}",
     "estimation.cpu.buckets.first: 0 is out of range, allowed: 0 < x <= 1000"},
    {"estimation: {cpu: {buckets: {ratio: 1}}}",
     "estimation.cpu.buckets.ratio: 1 is out of range, allowed: 1.001 <= x <= 2"},
    {"estimation: {cpu: {buckets: {size: 1}}}",
     "estimation.cpu.buckets.size: there is no such key, allowed: first, ratio, max"},
    {"estimation: {cpu: {kills: {hold: 1d}}}",
     "estimation.cpu.kills: there is no such key, allowed: enabled, basis, percentile, "
     "lower_percentile, "
     "upper_percentile, half_life, samples, window, weight, sample_weight, margin, expansion, "
     "confidence_interval, pod_minimum, floor, ceiling, rounding, static_ratio, correction, "
     "throttled_from, startup, peak_per_run, node_cap, high_water, adaptive, buckets"},
    {"estimation: {cpu: {basis: mark}}",
     "estimation.cpu.basis: there is no basis mark, allowed: percentile, high_water, adaptive"},
    {"estimation: {cpu: {high_water: {risk: 0.5}}}",
     "estimation.cpu.high_water.risk: 0.5 is out of range, allowed: 0 < x < 0.5"},
    {"estimation: {cpu: {high_water: {risk: 0}}}",
     "estimation.cpu.high_water.risk: 0 is out of range, allowed: 0 < x < 0.5"},
    {"estimation: {memory: {high_water: {method: grimshaw}}}",
     "estimation.memory.high_water.method: there is no method grimshaw, allowed: auto, moments, "
     "pwm, mle"},
    {"estimation: {memory: {high_water: {level: 0.98}}}",
     "estimation.memory.high_water.level: there is no such key, allowed: risk, method"},
    {"estimation: {high_water_risks: 0.01}",
     "estimation.high_water_risks: 0.01 is not a list, allowed: a list of at most 4 items"},
    {"estimation: {high_water_risks: [0.1, 0.2, 0.3, 0.4, 0.45]}",
     "estimation.high_water_risks: 5 items are too many, allowed: a list of at most 4 items"},
    {"estimation: {high_water_risks: [0.01, 1e-2]}",
     "estimation.high_water_risks[1]: 0.01 stands there already, allowed: each risk once"},
    {"estimation: {high_water_risks: [0.01, 1%]}",
     "estimation.high_water_risks[1]: 1% is not a number, allowed: 0 < x < 0.5"},
    {"estimation: {strict: true, preset: vpa, cpu: {basis: high_water}}",
     "estimation.cpu.basis: strict goes with what the VPA recommender can be told by its flags, "
     "and cpu.basis (high_water) is no such thing, allowed with strict: percentile"},
    {"estimation: {memory: {kills: {bump_ratio: 0.5}}}",
     "estimation.memory.kills.bump_ratio: 0.5 is out of range, allowed: 1 <= x <= 10"},
    {"estimation: {memory: {kills: {hold: 2y}}}",
     "estimation.memory.kills.hold: 2y is out of range, allowed: 0s <= x <= 365d"},
    // Keys that do not go together.
    {"estimation: {cpu: {lower_percentile: 0.92}}",
     "estimation.cpu.lower_percentile: lower_percentile (0.92) is above percentile (0.9), allowed: "
     "at most as much"},
    {"estimation: {cpu: {upper_percentile: 0.8, percentile: 0.85}}",
     "estimation.cpu.percentile: upper_percentile (0.8) is below percentile (0.85), allowed: at "
     "least as much"},
    {"estimation: {memory: {ceiling: 1Gi, floor: 2Gi}}",
     "estimation.memory.floor: floor (2Gi) is above ceiling (1Gi), allowed: at most as much"},
    {"estimation: {cpu: {buckets: {first: 2, max: 2}}}",
     "estimation.cpu.buckets.max: max (2) of buckets is not above first (2), allowed: more than "
     "that"},
    {"estimation: {cpu: {buckets: {ratio: 1.001}}}",
     "estimation.cpu.buckets.ratio: first (1m), ratio (1.001) and max (1000) make 6914 buckets, "
     "allowed: at most 1000"},
    {"estimation: {memory: {half_life: 30m}}",
     "estimation.memory.half_life: half_life (30m) is too short for a window of 1d: nothing would "
     "be left of one window's peak in the next, allowed: half_life at least 1h"},
    {"estimation: {cpu: {half_life: 30m, samples: peak_per_window}}",
     "estimation.cpu.samples: half_life (30m) is too short for a window of 1d: nothing would be "
     "left of one window's peak in the next, allowed: half_life at least 1h"},
    {"estimation: {strict: true}",
     "estimation.strict: strict is as the VPA recommender works, and preset is tidemark, allowed "
     "with strict: preset vpa"},
    {"estimation: {strict: true, preset: vpa, level: pod}",
     "estimation.level: strict is as the VPA recommender works, and level is pod, allowed with "
     "strict: level container"},
    {"estimation: {mode: static, preset: vpa, strict: true}",
     "estimation.strict: strict is as the VPA recommender works, and mode is static, allowed with "
     "strict: mode dynamic"},
    {"estimation: {strict: true, preset: vpa, cpu: {expansion: 1.2}}",
     "estimation.cpu.expansion: strict goes with what the VPA recommender can be told by its "
     "flags, and cpu.expansion (1.2) is no such thing, allowed with strict: 1"},
    {"estimation: {strict: true, preset: vpa, memory: {samples: every_minute}}",
     "estimation.memory.samples: strict goes with what the VPA recommender can be told by its "
     "flags, and memory.samples (every_minute) is no such thing, allowed with strict: "
     "peak_per_window"},
    {"estimation: {strict: true, preset: vpa, memory: {kills: {hold: 1d}}}",
     "estimation.memory.kills.hold: strict goes with what the VPA recommender can be told by its "
     "flags, and memory.kills.hold (1d) is no such thing, allowed with strict: 3d"},
    {"estimation: {strict: true, preset: vpa, cpu: {percentile: 0.99}}",
     "estimation.cpu.percentile: upper_percentile (0.95) is below percentile (0.99), allowed: at "
     "least as much"},
    // Profiles.
    {"profiles: {}", "profiles: a map is not a list, allowed: a list of at most 1000 items"},
    {"profiles: [{selector: '{}'}]",
     "profiles[0].name: the key is missing, allowed: what the profile is called"},
    {"profiles: [{name: a}]",
     "profiles[0].selector: the key is missing, allowed: whom the profile is for, as in "
     "{namespace=\"shop\"}; {} is everybody"},
    {"profiles: [{name: default, selector: '{}'}]",
     "profiles[0].name: default is what estimation says of all that no profile takes, allowed: "
     "another name"},
    {"profiles: [{name: 'a b', selector: '{}'}]",
     "profiles[0].name: \"a b\" is no name of a profile, allowed: 1 to 63 letters, digits, - _ and "
     "., a letter or digit first and last"},
    {"profiles: [{name: -a, selector: '{}'}]",
     "profiles[0].name: -a is no name of a profile, allowed: 1 to 63 letters, digits, - _ and ., a "
     "letter or digit first and last"},
    {"profiles: [{name: a, selector: '{}'}, {name: a, selector: '{}'}]",
     "profiles[1].name: a stands in line 1 already, allowed: each once"},
    {"profiles: [{name: a, selector: '{team=\"x\"}'}]",
     "profiles[0].selector: profiles cannot be selected by the label team, allowed: cluster, "
     "namespace, workload_type, workload, container, and label_* as kube_pod_labels has them"},
    {"profiles: [{name: a, selector: '{namespac=\"x\"}'}]",
     "profiles[0].selector: profiles cannot be selected by the label namespac (did you mean "
     "namespace?), allowed: cluster, namespace, workload_type, workload, container, and label_* as "
     "kube_pod_labels has them"},
    {"profiles: [{name: a, selector: 'namespace=\"x\"'}]",
     "profiles[0].selector: selector namespace=\"x\": expected { at position 1"},
    {"profiles: [{name: a, selector: '{}', presets: vpa}]",
     "profiles[0].presets: there is no such key (did you mean preset?), allowed: name, selector, "
     "preset, level, strict, mode, effect, may_change_qos, high_water_risks, cpu, memory, "
     "gpu_utilization, "
     "gpu_memory, ephemeral_storage"},
    {"estimation: {cpu: {floor: 2}}\nprofiles: [{name: a, selector: '{}', cpu: {ceiling: 1}}]",
     "profiles[0].cpu.ceiling: floor (2) is above ceiling (1), allowed: at most as much"},
    {"estimation: {preset: vpa, cpu: {ceiling: 1}}\n"
     "profiles: [{name: a, selector: '{}', strict: true}]",
     "profiles[0].strict: strict goes with what the VPA recommender can be told by its flags, and "
     "cpu.ceiling (1) is no such thing, allowed with strict: none"},
    {"estimation: {preset: vpa, strict: true}\nprofiles: [{name: a, selector: '{}', level: pod}]",
     "profiles[0].level: strict is as the VPA recommender works, and level is pod, allowed with "
     "strict: level container"},
    {"compat: {vpa_metrics: 1}", "compat.vpa_metrics: 1 is not a boolean, allowed: true, false"},
    {"compat: {vpa: true}",
     "compat.vpa: there is no such key (did you mean vpa_metrics?), allowed: vpa_metrics"},
};

}  // namespace

TEST_CASE("Whatever is wrong with profiles is said in one line", "[cmd][profiles]") {
  for (const Wrong& wrong : kWrong) {
    CAPTURE(wrong.yaml);
    const auto config = ParseConfig(wrong.yaml, "f");
    REQUIRE_FALSE(config);
    const std::string& message = config.error().message;
    CHECK(config.error().code == ErrorCode::kInvalidArgument);
    CHECK(message.substr(message.find(": ") + 2) == wrong.message);
  }
}

TEST_CASE("Every key of a profile reaches its setting", "[cmd][profiles]") {
  const Profile profile = Only(R"(
profiles:
  - name: everything.1
    selector: '{namespace="shop", label_team!=""}'
    preset: oversell
    level: namespace
    mode: static_and_dynamic
    effect: applied
    may_change_qos: true
    high_water_risks: [0.0001, 0.2]
    cpu:
      enabled: false
      basis: high_water
      high_water: {risk: 0.002, method: pwm}
      adaptive: {target_exceedance: 0.02, safety_factor: 1.3, keep_week_maximum: false, resize_in_place: false}
      percentile: 0.8
      lower_percentile: 0.3
      upper_percentile: 0.85
      half_life: 6h
      samples: peak_per_window
      window: 2h
      weight: constant
      sample_weight: 0.5
      buckets: {first: 1m, ratio: 1.1, max: 64}
      margin: 0.25
      expansion: 1.5
      confidence_interval: 2d
      pod_minimum: 30m
      floor: 20m
      ceiling: 8
      rounding: 5m
      static_ratio: 0.6
      correction: off
      throttled_from: 0.4
      startup: 2m
      peak_per_run: true
      node_cap: true
    memory:
      kills: {bump_ratio: 1.5, min_bump: 50Mi, hold: 0s}
      leave_out_page_cache: true
      plateau_at_limit: true
      floor: 64Mi
)");
  CHECK(profile.name == "everything.1");
  CHECK(profile.selector.text() == R"({namespace="shop", label_team!=""})");
  CHECK(profile.preset == Preset::kOversell);
  CHECK(profile.level == Level::kNamespace);
  CHECK_FALSE(profile.strict);
  CHECK(profile.mode == PoolMode::kStaticAndDynamic);
  CHECK(profile.effect == Effect::kApplied);
  CHECK(profile.may_change_qos);
  CHECK(profile.high_water_risks == std::vector{0.2, 0.0001});
  const ResourceRule cpu{.enabled = false,
                         .basis = Basis::kHighWater,
                         .high_water = {.risk = 0.002, .method = TailMethod::kPwm},
                         .adaptive = {.target_exceedance_ratio = 0.02,
                                      .safety_factor = 1.3,
                                      .keeps_week_maximum = false,
                                      .resize_in_place = false},
                         .percentile = 0.8,
                         .lower_percentile = 0.3,
                         .upper_percentile = 0.85,
                         .half_life_ms = 6 * 3'600'000,
                         .samples = SampleKind::kPeakPerWindow,
                         .window_ms = 2 * 3'600'000,
                         .weight = WeightRule::kConstant,
                         .sample_weight = 0.5,
                         .buckets = {.first = 0.001, .ratio = 1.1, .max = 64},
                         .margin_ratio = 0.25,
                         .expansion_factor = 1.5,
                         .confidence_interval_ms = 2 * 24 * 3'600'000,
                         .pod_minimum = 0.03,
                         .floor = 0.02,
                         .ceiling = 8,
                         .rounding = 0.005,
                         .static_ratio = 0.6,
                         .correction = Correction::kOff,
                         .kills = {},
                         .throttled_from_ratio = 0.4,
                         .startup_ms = 2 * 60'000,
                         .peak_per_run = true,
                         .leave_out_page_cache = false,
                         .node_cap = true,
                         .plateau_at_limit = false};
  CHECK(profile.rule(Resource::kCpu) == cpu);
  ResourceRule memory = PresetProfile(Preset::kOversell).rule(Resource::kMemory);
  memory.kills = {.bump_ratio = 1.5, .min_bump = 50.0 * 1024 * 1024, .hold_ms = 0};
  memory.floor = 64.0 * 1024 * 1024;
  memory.leave_out_page_cache = true;
  memory.plateau_at_limit = true;
  CHECK(profile.rule(Resource::kMemory) == memory);
}

TEST_CASE("Who asks for a percentile gets it, with its margin", "[cmd][profiles]") {
  const auto cpu_of = [](const std::string& estimation, const std::string& profile = "") {
    return Only("estimation: {cpu: {" + estimation +
                "}}\nprofiles: [{name: a, selector: '{}', cpu: {" + profile + "}}]\n")
        .rule(Resource::kCpu);
  };
  CHECK(cpu_of("").basis == Basis::kAdaptive);
  CHECK(cpu_of("").margin_ratio == 0);
  CHECK(cpu_of("half_life: 12h").basis == Basis::kAdaptive);
  CHECK(cpu_of("percentile: 0.95").basis == Basis::kPercentile);
  CHECK(cpu_of("percentile: 0.95").margin_ratio == 0.15);
  CHECK(cpu_of("percentile: 0.95, margin: 0.3").margin_ratio == 0.3);
  CHECK(cpu_of("percentile: 0.95, basis: adaptive").basis == Basis::kAdaptive);
  CHECK(cpu_of("percentile: 0.95, basis: adaptive").margin_ratio == 0);
  CHECK(cpu_of("basis: high_water").margin_ratio == 0.15);
  CHECK(cpu_of("margin: 0", "basis: percentile").margin_ratio == 0.15);
  // What a profile inherits stays as it is.
  CHECK(cpu_of("percentile: 0.95, margin: 0", "half_life: 12h").margin_ratio == 0);
  CHECK(cpu_of("percentile: 0.95", "percentile: 0.99").margin_ratio == 0.15);
}

TEST_CASE("Profiles inherit from estimation, wherever it stands in the file", "[cmd][profiles]") {
  const std::string estimation =
      "estimation: {preset: oversell, mode: static, effect: applied, cpu: {expansion: 1.2, "
      "ceiling: 4}}\n";
  const std::string profiles =
      "profiles: [{name: a, selector: '{}', effect: shown, cpu: {ceiling: none}}]\n";
  for (const std::string& yaml : {estimation + profiles, profiles + estimation}) {
    CAPTURE(yaml);
    const Profile profile = Only(yaml);
    CHECK(profile.preset == Preset::kOversell);
    CHECK(profile.mode == PoolMode::kStatic);
    CHECK(profile.effect == Effect::kShown);
    CHECK(profile.rule(Resource::kCpu).expansion_factor == 1.2);
    CHECK_FALSE(profile.rule(Resource::kCpu).ceiling);
    CHECK(profile.rule(Resource::kCpu).percentile == 0.95);
    CHECK(Defaults(Good(yaml)).rule(Resource::kCpu).ceiling == 4.0);
  }
}

TEST_CASE("A profile with a preset of its own inherits nothing", "[cmd][profiles]") {
  const Profile profile = Only(
      "estimation: {mode: static, effect: applied, may_change_qos: true, level: workload, cpu: "
      "{expansion: 1.2}}\n"
      "profiles: [{cpu: {percentile: 0.5}, name: a, selector: '{}', preset: vpa, strict: true}]\n");
  Profile vpa = PresetProfile(Preset::kVpa);
  vpa.rule(Resource::kCpu).percentile = 0.5;
  CHECK(profile.resources == vpa.resources);
  CHECK(profile.mode == PoolMode::kDynamic);
  CHECK(profile.effect == vpa.effect);
  CHECK_FALSE(profile.may_change_qos);
  CHECK(profile.level == Level::kContainer);
  CHECK(profile.strict);
}

TEST_CASE("The presets are those of the model", "[cmd][profiles]") {
  for (const Preset preset : {Preset::kTidemark, Preset::kVpa, Preset::kOversell}) {
    const Config config = Good("estimation: {preset: " + std::string(ToString(preset)) + "}");
    CHECK(Defaults(config).resources == PresetProfile(preset).resources);
    CHECK(Defaults(config).preset == preset);
  }
  CHECK(Defaults(Config{}).resources == PresetProfile(Preset::kTidemark).resources);
}

TEST_CASE("Bounds that are not set follow a percentile beyond them", "[cmd][profiles]") {
  const Config config = Good(
      "estimation: {cpu: {percentile: 0.99}, memory: {percentile: 0.3}}\n"
      "profiles: [{name: a, selector: '{}', cpu: {percentile: 0.4}}]\n");
  CHECK(Defaults(config).rule(Resource::kCpu).upper_percentile == 0.99);
  CHECK(Defaults(config).rule(Resource::kCpu).lower_percentile == 0.5);
  CHECK(Defaults(config).rule(Resource::kMemory).lower_percentile == 0.3);
  const ResourceRule& rule = config.engine.profiles->profiles()[0].rule(Resource::kCpu);
  CHECK(rule.lower_percentile == 0.4);
  CHECK(rule.upper_percentile == 0.99);
}

TEST_CASE("Strict takes what VPA has flags for", "[cmd][profiles]") {
  const Profile profile = Only(R"(
profiles:
  - name: strict
    selector: '{}'
    preset: vpa
    strict: true
    effect: applied
    may_change_qos: true
    cpu: {percentile: 0.8, lower_percentile: 0.4, upper_percentile: 0.99, half_life: 12h, margin: 0.2,
          confidence_interval: 12h, pod_minimum: 10m, rounding: 10m, weight: by_request}
    memory: {window: 12h, kills: {bump_ratio: 1.5, min_bump: 200Mi}}
    gpu_memory: {enabled: false, correction: off}
)");
  CHECK(profile.strict);
  CHECK(profile.rule(Resource::kCpu).weight == WeightRule::kByRequest);
}

TEST_CASE("A thousand profiles are read, written out in full and read again", "[cmd][profiles]") {
  std::string yaml = "profiles:\n";
  for (int i = 0; i < 1000; ++i) {
    yaml += "  - {name: p" + std::to_string(i) + ", selector: '{namespace=\"ns-" +
            std::to_string(i) + "\", label_team=~\"a|b\"}'}\n";
  }
  const Config config = Good(yaml);
  REQUIRE(config.engine.profiles->profiles().size() == 1000);
  const std::string dump = DumpConfig(config);
  CHECK(DumpConfig(Good(dump)) == dump);
  const auto more = ParseConfig(yaml + "  - {name: q, selector: '{}'}\n", "f");
  REQUIRE_FALSE(more);
  CHECK(more.error().message ==
        "f:1: profiles: 1001 items are too many, allowed: a list of at most 1000 items");
}

TEST_CASE("Every layout of buckets that is let through can be made", "[cmd][profiles]") {
  const auto buckets = [](std::string_view layout) {
    const Config config = Good("estimation: {cpu: {buckets: " + std::string(layout) + "}}");
    const BucketLayout& b = Defaults(config).rule(Resource::kCpu).buckets;
    const auto made = estimators::HistogramOptions::Exponential(b.max, b.first, b.ratio, 1e-4);
    REQUIRE(made);
    return made->NumBuckets();
  };
  CHECK(buckets("{}") == 223);
  CHECK(buckets("{first: 10m, ratio: 1.05, max: 3290}") == 200);
  CHECK(buckets("{first: 1000, max: 1001, ratio: 2}") == 3);
  CHECK(buckets("{first: 1e-300, max: 2e-300, ratio: 1.001}") == 3);
  CHECK(buckets("{first: 1m, ratio: 1.01, max: 20}") == 534);
  // What is refused has as many as the message says.
  CHECK(estimators::HistogramOptions::Exponential(1000, 0.01, 1.001, 1e-4)->NumBuckets() == 4619);
}

TEST_CASE("Sections in which two configurations differ are named", "[cmd][profiles]") {
  const auto differ = [](std::string_view a, std::string_view b) {
    std::string names;
    for (const std::string& name : DifferingSections(Good(a), Good(b))) names += name + " ";
    return names;
  };
  CHECK(differ("", "estimation: {}\nprofiles: []").empty());
  CHECK(differ("", "estimation: {strict: true, preset: vpa}") == "estimation ");
  CHECK(differ("profiles: [{name: a, selector: '{}'}]", "compat: {vpa_metrics: true}") ==
        "profiles compat ");
  CHECK(differ("remote_write: {bearer_token_file: a}", "remote_write: {bearer_token_file: b}") ==
        "remote_write ");
  CHECK(differ("backfill: {authorization: {credentials: a}}",
               "backfill: {authorization: {credentials: b}}") == "backfill ");
}

}  // namespace tidemark::cmd
