#include "tests/cmd/config_random.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tidemark::cmd {
namespace {

using workloads::Role;
using workloads::Source;

int64_t Between(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

bool Coin(std::mt19937_64& random) { return Between(random, 0, 1) == 1; }

/// A number in (0, high], sometimes a round one.
double Positive(std::mt19937_64& random, double high) {
  if (Coin(random)) return high / static_cast<double>(Between(random, 1, 8));
  return high - std::uniform_real_distribution<double>(0, high)(random);
}

std::string Pick(std::mt19937_64& random, const std::vector<std::string>& texts) {
  return texts[static_cast<size_t>(Between(random, 0, static_cast<int64_t>(texts.size()) - 1))];
}

bool IsUsage(Role role) { return role == Role::kUsageCounter || role == Role::kUsageGauge; }

Source RandomSource(std::mt19937_64& random, size_t number) {
  static const std::vector<std::string> kSelectors = {"{}",           "{ }",
                                                      R"({a="b"})",   R"({a="\"\\\n", b!~'x|y'})",
                                                      "{a=~`\\d+`,}", "{a=\"\xc3\xa9\"}",
                                                      "\t{a='\x01'}"};
  static const std::vector<std::string> kLabels = {
      "", "yes", "null", "a_b", "k8s.pod.name", "x-y/z", "instance"};
  Source source;
  source.metric = Pick(random, {"metric_", "job:usage:", "true", "null", "http.server-", "y/"}) +
                  std::to_string(number);
  source.role = static_cast<Role>(Between(random, 0, static_cast<int64_t>(Role::kPodLabels)));
  if (source.role == Role::kNone) return source;
  source.selector = Selector::Parse(Pick(random, kSelectors)).value();
  source.labels = {.cluster = Pick(random, kLabels),
                   .name_space = Pick(random, kLabels),
                   .pod = Pick(random, kLabels),
                   .container = Pick(random, kLabels),
                   .workload = Pick(random, kLabels)};
  source.workload_type = Pick(random, {"", "process", "no", "stateful_set-2"});
  source.scale = Positive(random, Coin(random) ? 1e18 : 1e-3);
  const bool usage = IsUsage(source.role);
  if (usage || source.role == Role::kReplicas) {
    source.labels.workload = "workload";
    source.workload_type = "process";
  }
  if (source.labels.workload.empty()) source.workload_type.clear();
  if (usage) {
    source.resource =
        kBuiltInResources[static_cast<size_t>(Between(random, 0, kBuiltInResourceCount - 1))];
    for (int64_t i = Between(random, 0, 3); i > 0; --i)
      source.part_labels.push_back("id" + std::to_string(i));
  }
  return source;
}

auto Tied(const workloads::IdentityLabels& l) {
  return std::tie(l.cluster, l.name_space, l.pod, l.container, l.workload);
}
bool SameSource(const Source& a, const Source& b) {
  const auto tied = [](const Source& s) {
    return std::tie(s.metric, s.role, s.resource, s.selector.text(), s.workload_type, s.part_labels,
                    s.scale);
  };
  return tied(a) == tied(b) && Tied(a.labels) == Tied(b.labels);
}

/// An amount of up to `high`, sometimes one that a person would write.
double RandomAmount(std::mt19937_64& random, bool bytes, double high) {
  return Coin(random) ? Positive(random, high)
                      : static_cast<double>(Between(random, 0, 4000)) / (bytes ? 0x1p-20 : 1000);
}

ResourceRule RandomRule(std::mt19937_64& random, Resource resource) {
  constexpr int64_t kDay = 24 * 3600 * 1000LL;
  const bool bytes = UnitName(resource) == "byte";
  const double most = bytes ? 0x1p40 : 1000;
  const double finest = bytes ? 1 : 0.001;
  ResourceRule rule;
  rule.enabled = Coin(random);
  rule.basis = static_cast<Basis>(Between(random, 0, 2));
  rule.adaptive = {.target_exceedance_ratio = 0.0001 + Positive(random, 0.2),
                   .safety_factor = 1 + Positive(random, 9),
                   .keeps_week_maximum = Coin(random),
                   .resize_in_place = Coin(random)};
  rule.peak_per_run = Coin(random);
  if (resource == Resource::kCpu) {
    rule.throttled_from_ratio = Positive(random, 1);
    rule.startup_ms = Between(random, 0, 3600 * 1000);
  }
  if (resource == Resource::kMemory) {
    rule.leave_out_page_cache = Coin(random);
    rule.plateau_at_limit = Coin(random);
  }
  if (resource == Resource::kCpu || resource == Resource::kMemory) rule.node_cap = Coin(random);
  rule.high_water.risk = 0.5 - Positive(random, 0.49);
  rule.high_water.method = static_cast<TailMethod>(Between(random, 0, 3));
  rule.percentile = Positive(random, 1);
  rule.lower_percentile = Positive(random, rule.percentile);
  rule.upper_percentile = Coin(random) ? 1 : rule.percentile;
  rule.window_ms = Between(random, 60'000, 8 * kDay);
  rule.half_life_ms = Between(random, std::max<int64_t>(60'000, rule.window_ms / 24), 365 * kDay);
  rule.samples = Coin(random) ? SampleKind::kEveryMinute : SampleKind::kPeakPerWindow;
  rule.weight = Coin(random) ? WeightRule::kConstant : WeightRule::kByRequest;
  rule.sample_weight = Positive(random, 1000);
  rule.buckets.ratio = 2 - Positive(random, 0.95);
  rule.buckets.first = finest + Positive(random, most / 4);
  rule.buckets.max = rule.buckets.first * 2;
  rule.margin_ratio = Coin(random) ? 0 : Positive(random, 10);
  rule.expansion_factor = 0.1 + Positive(random, 9.8);
  rule.confidence_interval_ms = Between(random, 60'000, 365 * kDay);
  rule.pod_minimum = RandomAmount(random, bytes, most);
  rule.floor = RandomAmount(random, bytes, most);
  if (Coin(random)) rule.ceiling = std::max(rule.floor, finest + Positive(random, most / 2));
  rule.rounding = finest + RandomAmount(random, bytes, most / 2);
  rule.static_ratio = Positive(random, 1);
  rule.correction = static_cast<Correction>(Between(random, 0, 2));
  if (resource == Resource::kMemory) {
    rule.kills = {.bump_ratio = 1 + Positive(random, 9),
                  .min_bump = RandomAmount(random, true, most),
                  .hold_ms = Between(random, 0, 365 * kDay)};
  }
  return rule;
}

Profile RandomProfile(std::mt19937_64& random) {
  Profile profile;
  if (Between(random, 0, 4) == 0) {
    profile = PresetProfile(Preset::kVpa);
    profile.strict = true;
    for (const Resource resource : kBuiltInResources) {
      ResourceRule& rule = profile.rule(resource);
      rule.percentile = Positive(random, 1);
      rule.lower_percentile = Positive(random, rule.percentile);
      rule.upper_percentile = Coin(random) ? 1 : rule.percentile;
      rule.margin_ratio = Positive(random, 1);
    }
    return profile;
  }
  profile = PresetProfile(static_cast<Preset>(Between(random, 0, 2)));
  profile.level = static_cast<Level>(Between(random, 0, 3));
  profile.mode = static_cast<PoolMode>(Between(random, 0, 3));
  profile.effect = static_cast<Effect>(Between(random, 0, 1));
  profile.may_change_qos = Between(random, 0, 1) == 1;
  for (const Resource resource : kBuiltInResources)
    profile.rule(resource) = RandomRule(random, resource);
  return profile;
}

ProfileSetPtr RandomProfiles(std::mt19937_64& random) {
  static const std::vector<std::string> kSelectors = {"{}",
                                                      "{ }",
                                                      R"({namespace="a\"b", label_team!~'x|y'})",
                                                      "{cluster=~`\\d+`,}",
                                                      "{workload=\"\xc3\xa9\",container!=\"\"}",
                                                      "\t{workload_type='\x01'}"};
  std::vector<Profile> profiles;
  for (int64_t i = Between(random, 0, 4); i > 0; --i) {
    Profile& profile = profiles.emplace_back(RandomProfile(random));
    profile.name = Pick(random, {"null-", "pool_", "1.", "True", "y"}) + std::to_string(i);
    profile.selector = Selector::Parse(Pick(random, kSelectors)).value();
  }
  return std::make_shared<const ProfileSet>(std::move(profiles), RandomProfile(random));
}

bool SameProfile(const Profile& a, const Profile& b) {
  const auto tied = [](const Profile& p) {
    return std::tie(p.name, p.preset, p.selector.text(), p.level, p.strict, p.mode, p.effect,
                    p.may_change_qos, p.resources);
  };
  return tied(a) == tied(b);
}

bool SameProfiles(const ProfileSet& a, const ProfileSet& b) {
  return SameProfile(a.fallback(), b.fallback()) &&
         std::equal(a.profiles().begin(), a.profiles().end(), b.profiles().begin(),
                    b.profiles().end(), SameProfile);
}

std::shared_ptr<const ForecastSettings> RandomForecast(std::mt19937_64& random) {
  auto settings = std::make_shared<ForecastSettings>();
  settings->horizons_minutes.clear();
  for (int64_t i = Between(random, 1, 4); i > 0; --i) {
    const int32_t last = settings->horizons_minutes.empty() ? 0 : settings->horizons_minutes.back();
    settings->horizons_minutes.push_back(static_cast<int32_t>(Between(random, last + 1, 60 - i)));
  }
  settings->interval_ratio = 0.999 - Positive(random, 0.498);
  settings->network_margin_ratio = Coin(random) ? 0 : Positive(random, 0.9);
  settings->high_water_risk = 0.49 - Positive(random, 0.48);
  settings->training_budget_ratio = Coin(random) ? 0 : Positive(random, 1);
  settings->max_workloads = static_cast<int32_t>(Between(random, 0, 1'000'000));
  for (int64_t i = Between(random, 0, 3); i > 0; --i) {
    ForecastRule& rule = settings->rules.emplace_back();
    rule.selector = Selector::Parse(Pick(random, {"{}", "{ }", "{workload=~`\\d+`,}",
                                                  R"({namespace="a\"b", cluster!~'x|y'})",
                                                  "\t{workload='\x01'}"}))
                        .value();
    rule.steps = static_cast<DemandSteps>(Between(random, 0, 2));
    rule.resource =
        kBuiltInResources[static_cast<size_t>(Between(random, 0, kBuiltInResourceCount - 1))];
    rule.models = {ForecastModel::kLastValue};
    for (size_t model = 1; model < kForecastModelCount; ++model) {
      if (Coin(random)) rule.models.push_back(static_cast<ForecastModel>(model));
    }
    if (Coin(random)) rule.always = static_cast<ForecastModel>(Between(random, 0, 9));
    rule.startup_ms = Between(random, 0, 3600 * 1000);
  }
  return settings;
}

bool SameForecast(const ForecastSettings& a, const ForecastSettings& b) {
  const auto tied = [](const ForecastSettings& s) {
    return std::tie(s.horizons_minutes, s.interval_ratio, s.network_margin_ratio, s.high_water_risk,
                    s.training_budget_ratio, s.max_workloads);
  };
  const auto rule = [](const ForecastRule& r) {
    return std::tie(r.selector.text(), r.steps, r.resource, r.models, r.always, r.startup_ms);
  };
  return tied(a) == tied(b) &&
         std::equal(
             a.rules.begin(), a.rules.end(), b.rules.begin(), b.rules.end(),
             [&](const ForecastRule& x, const ForecastRule& y) { return rule(x) == rule(y); });
}

ScalingSettingsPtr RandomScaling(std::mt19937_64& random) {
  auto settings = std::make_shared<ScalingSettings>();
  for (int64_t i = Between(random, 0, 3); i > 0; --i) {
    ScalingRule& rule = settings->rules.emplace_back();
    rule.selector = Selector::Parse(Pick(random, {"{}", "{ }", "{workload=~`\\d+`,}",
                                                  R"({namespace="a\"b", cluster!~'x|y'})",
                                                  "\t{workload='\x01'}"}))
                        .value();
    rule.enabled = Coin(random);
    PolicySettings& policy = rule.policy;
    policy.policy = static_cast<ScalingPolicy>(Between(random, 0, kScalingPolicyCount - 1));
    policy.target_utilization_ratio = Positive(random, 100);
    policy.utilization_high_ratio = Positive(random, 1);
    policy.utilization_low_ratio = Positive(random, policy.utilization_high_ratio);
    policy.tolerance_ratio = Coin(random) ? 0 : Positive(random, 0.99);
    policy.high_water_risk = Positive(random, 0.49);
    policy.slo_utilization_ratio = Positive(random, 1);
    policy.slo_time_ratio = Positive(random, 0.49);
    policy.window_minutes = static_cast<int32_t>(Between(random, 1, 60));
    if (Coin(random)) rule.min_replicas = static_cast<int32_t>(Between(random, 1, 100));
    if (Coin(random)) rule.max_replicas = static_cast<int32_t>(Between(random, 100, kMaxReplicas));
    if (Coin(random)) {
      rule.base = Positive(random, 1e6);
    } else {
      constexpr std::array<UtilizationBase, 3> kBases = {
          UtilizationBase::kRequest, UtilizationBase::kLimit, UtilizationBase::kOriginal};
      rule.base_kind = kBases[random() % kBases.size()];
    }
    rule.escape_dead_band = Coin(random);
    if (Coin(random)) rule.startup_ms = Between(random, 0, kMaxStartupMs);
  }
  return settings;
}

bool SameScaling(const ScalingSettings& a, const ScalingSettings& b) {
  const auto rule = [](const ScalingRule& r) {
    return std::tie(r.selector.text(), r.enabled, r.policy, r.min_replicas, r.max_replicas, r.base,
                    r.base_kind, r.escape_dead_band, r.startup_ms);
  };
  return std::equal(a.rules.begin(), a.rules.end(), b.rules.begin(), b.rules.end(),
                    [&](const ScalingRule& x, const ScalingRule& y) { return rule(x) == rule(y); });
}

RightsizingSettingsPtr RandomRightsizing(std::mt19937_64& random) {
  auto settings = std::make_shared<RightsizingSettings>();
  const auto mode = [&random] { return static_cast<RightsizingMode>(Between(random, 0, 2)); };
  settings->mode = mode();
  for (int64_t i = Between(random, 0, 3); i > 0; --i) {
    RightsizingRule& rule = settings->rules.emplace_back();
    rule.selector =
        Selector::Parse(Pick(random, {"{}", "{workload=~`\\d+`,}", "\t{workload='\x01'}"})).value();
    rule.mode = mode();
  }
  for (int64_t i = Between(random, 0, 3); i > 0; --i) {
    settings->excluded_containers.insert(settings->excluded_containers.begin(),
                                         "c-" + std::to_string(i));
  }
  settings->least_change_ratio = Coin(random) ? 0 : Positive(random, 0.99);
  return settings;
}

bool SameRightsizing(const RightsizingSettings& a, const RightsizingSettings& b) {
  const auto rule = [](const RightsizingRule& r) { return std::tie(r.selector.text(), r.mode); };
  return a.mode == b.mode && a.excluded_containers == b.excluded_containers &&
         a.least_change_ratio == b.least_change_ratio &&
         std::equal(a.rules.begin(), a.rules.end(), b.rules.begin(), b.rules.end(),
                    [&](const RightsizingRule& x, const RightsizingRule& y) {
                      return rule(x) == rule(y);
                    });
}

/// Without secrets: what is dumped does not show them.
backfill::Options RandomBackfill(std::mt19937_64& random) {
  backfill::Options options;
  if (Coin(random))
    options.http.url = Pick(random, {"http://a:1", "https://[::1]/b", "http://c/d/"});
  options.range_ms = Between(random, 3600 * 1000, backfill::kMaxRangeMs);
  options.step_ms = Coin(random) ? 0 : Between(random, 15'000, backfill::kMaxStepMs);
  options.concurrency = static_cast<uint64_t>(Between(random, 1, 4));
  options.http.timeout = std::chrono::milliseconds(Between(random, 1000, 3600 * 1000));
  options.http.connect_timeout = std::chrono::milliseconds(Between(random, 1000, 3600 * 1000));
  for (int64_t i = Between(random, 0, 3); i > 0; --i) {
    options.external_labels.emplace_back("l: \"" + std::to_string(i), "v#'\\");
  }
  if (Coin(random)) {
    options.http.basic_auth = {.username = "u\"ser", .password = "", .password_file = "/a b"};
  } else {
    options.http.authorization.credentials_file = Pick(random, {"", "/token: x"});
  }
  client::TlsConfig& tls = options.http.tls_config;
  if (Coin(random)) tls.ca = "-----BEGIN\nx\n";
  if (Coin(random)) tls.cert_file = "/c", tls.key_file = "/k";
  tls.server_name = Pick(random, {"", "a.b"});
  tls.insecure_skip_verify = Coin(random);
  options.http.proxy_url = Pick(random, {"", "http://proxy:3128"});
  return options;
}

bool SameBackfill(const backfill::Options& a, const backfill::Options& b) {
  const auto times = [](const backfill::Options& o) {
    return std::tie(o.range_ms, o.step_ms, o.concurrency, o.external_labels, o.http.timeout,
                    o.http.connect_timeout, o.http.http_headers);
  };
  const auto texts = [](const client::HttpClientOptions& o) {
    const client::TlsConfig& t = o.tls_config;
    return std::tie(o.url, o.basic_auth.username, o.basic_auth.password, o.basic_auth.password_file,
                    o.authorization.credentials, o.authorization.credentials_file, t.ca_file, t.ca,
                    t.cert_file, t.cert, t.key_file, t.key, t.server_name, t.insecure_skip_verify,
                    o.proxy_url);
  };
  return times(a) == times(b) && texts(a.http) == texts(b.http);
}

}  // namespace

Config RandomConfig(std::mt19937_64& random) {
  Config config;
  const auto sources = static_cast<size_t>(Between(random, 0, 6));
  for (size_t i = 0; i < sources; ++i) config.sources.push_back(RandomSource(random, i));
  config.engine.profiles = RandomProfiles(random);
  config.engine.forecast = RandomForecast(random);
  config.engine.scaling = RandomScaling(random);
  config.rightsizing = RandomRightsizing(random);
  config.freshness.serve_ms = Between(random, 1000, kubernetes::kMostHeldMs);
  config.freshness.hold_ms = Between(random, config.freshness.serve_ms, kubernetes::kMostHeldMs);
  config.vpa_metrics = Coin(random);
  if (Coin(random)) config.prices.currency = "EUR:#1";
  if (Coin(random)) config.prices.currency = "\xE2\x82\xAC";
  if (Coin(random)) config.prices.cpu_core_hour = static_cast<double>(Between(random, 0, 1000)) / 7;
  if (Coin(random))
    config.prices.memory_gib_hour = static_cast<double>(Between(random, 0, 9)) / 700;
  config.engine.max_series = Between(random, 1, 1'000'000'000);
  remote_write::Limits& limits = config.remote_write;
  limits.max_body_bytes = static_cast<uint64_t>(Between(random, 1 << 10, 1 << 30));
  limits.max_unpacked_bytes =
      static_cast<uint64_t>(Between(random, static_cast<int64_t>(limits.max_body_bytes), 1 << 30));
  config.max_inflight_bytes = static_cast<uint64_t>(
      Between(random, static_cast<int64_t>(limits.max_body_bytes + limits.max_unpacked_bytes),
              int64_t{1} << 40));
  limits.max_labels = static_cast<size_t>(Between(random, 1, 10'000));
  limits.max_label_name_bytes = static_cast<size_t>(Between(random, 8, 65'536));
  limits.max_label_value_bytes = static_cast<size_t>(Between(random, 1, 1 << 20));
  limits.max_future_ms = Between(random, 0, 24 * 3600 * 1000);
  config.engine.refuse_late = Coin(random);
  config.ha.failover_timeout_ms = Between(random, 1000, 24 * 3600 * 1000);
  config.ha.max_clusters = static_cast<size_t>(Between(random, 1, 100'000));
  config.ha.max_replicas = static_cast<size_t>(Between(random, 2, 1000));
  config.ha.cluster_labels.clear();
  config.ha.replica_labels.clear();
  for (int64_t i = Between(random, 0, 3); i > 0; --i) {
    config.ha.cluster_labels.push_back("c: \"" + std::to_string(i));
    config.ha.replica_labels.push_back("__r" + std::to_string(i) + "__");
  }
  if (Coin(random)) {
    config.bearer_token_file = "/";
    for (int64_t i = Between(random, 0, 20); i > 0; --i) {
      config.bearer_token_file.push_back(static_cast<char>(Between(random, 0x20, 0x7e)));
    }
  }
  config.backfill = RandomBackfill(random);
  return config;
}

bool SameConfig(const Config& a, const Config& b) {
  const auto engine = [](const engine::Options& o) {
    return std::tie(o.shards, o.queue_batches, o.max_series, o.eval_interval_ms, o.refuse_late);
  };
  const auto limits = [](const remote_write::Limits& l) {
    return std::tie(l.max_body_bytes, l.max_unpacked_bytes, l.max_labels, l.max_label_name_bytes,
                    l.max_label_value_bytes, l.max_future_ms);
  };
  const auto ha = [](const remote_write::HaOptions& h) {
    return std::tie(h.cluster_labels, h.replica_labels, h.failover_timeout_ms, h.max_clusters,
                    h.max_replicas);
  };
  return engine(a.engine) == engine(b.engine) &&
         SameProfiles(*a.engine.profiles, *b.engine.profiles) &&
         SameForecast(*a.engine.forecast, *b.engine.forecast) &&
         SameScaling(*a.engine.scaling, *b.engine.scaling) &&
         SameRightsizing(*a.rightsizing, *b.rightsizing) && a.freshness == b.freshness &&
         a.vpa_metrics == b.vpa_metrics && a.prices == b.prices && ha(a.ha) == ha(b.ha) &&
         SameBackfill(a.backfill, b.backfill) && a.max_inflight_bytes == b.max_inflight_bytes &&
         limits(a.remote_write) == limits(b.remote_write) &&
         a.bearer_token_file == b.bearer_token_file &&
         std::equal(a.sources.begin(), a.sources.end(), b.sources.begin(), b.sources.end(),
                    SameSource);
}

}  // namespace tidemark::cmd
