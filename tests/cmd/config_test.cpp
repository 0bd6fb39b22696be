// Good configurations, defaults, files, and the dump.

#include "cmd/config.h"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include "cmd/config_fields.h"
#include "tests/catch.h"
#include "tests/cmd/config_random.h"
#include "tests/cmd/temporary_file.h"
#include "tests/seed.h"

namespace tidemark::cmd {
namespace {

using workloads::Role;

Config Good(std::string_view yaml) {
  auto config = ParseConfig(yaml, "tidemark.yml");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return *config;
}

std::string ErrorOf(std::string_view yaml) {
  const auto config = ParseConfig(yaml, "tidemark.yml");
  REQUIRE_FALSE(config);
  return config.error().message;
}

}  // namespace

TEST_CASE("A file without content is the default configuration", "[cmd][config]") {
  for (const std::string_view yaml :
       {"", "\n", "# nothing\n", "---\n", "---\n...\n", "null\n", "{}\n", "\xef\xbb\xbf",
        "sources:\nestimation:\nremote_write:\nlimits:\n", "estimation:\n  cpu:\n",
        "%YAML 1.2\n---\nsources: []\n", "limits: {}\r\n"}) {
    CAPTURE(yaml);
    CHECK(SameConfig(Good(yaml), Config{}));
  }
}

TEST_CASE("Every key of the configuration reaches its setting", "[cmd][config]") {
  const Config config = Good(R"(
estimation:
  cpu: {percentile: 0.95, margin: 0.2, half_life: 12h, pod_minimum: 25m, sample_weight: 0.5}
  memory: {percentile: 1, margin: 0, half_life: 7d, pod_minimum: 250Mi, sample_weight: 3}
  gpu_utilization: {percentile: 0.5, margin: 1, half_life: 1h30m, pod_minimum: 0.1, sample_weight: 2}
  gpu_memory: {percentile: 9e-1, margin: +1.5, half_life: 1w, pod_minimum: 1Gi}
remote_write:
  max_body_size: 8MB
  max_unpacked_size: 64MiB
  max_labels: 40
  max_label_name_length: 200
  max_label_value_length: 2000
  max_future: 90s
  bearer_token_file: tokens
  late: refuse
  ha:
    cluster_labels: [cluster, prometheus]
    replica_labels: [prometheus_replica, "__replica__"]
    failover_timeout: 45s
    max_clusters: 10
    max_replicas: 3
limits:
  max_series: 1000
  max_inflight_size: 1GB
storage:
  checkpoint_interval: 90s
  sync_interval: 250ms
  min_free: 0B
)");
  CHECK(config.engine.checkpoint_interval_ms == 90'000);
  CHECK(config.storage.sync_interval_ms == 250);
  CHECK(config.storage.min_free_bytes == 0);
  const Profile& fallback = config.engine.profiles->fallback();
  const ResourceRule& cpu = fallback.rule(Resource::kCpu);
  const ResourceRule& memory = fallback.rule(Resource::kMemory);
  const ResourceRule& gpu_utilization = fallback.rule(Resource::kGpuUtilization);
  const ResourceRule& gpu_memory = fallback.rule(Resource::kGpuMemory);
  CHECK(cpu.percentile == 0.95);
  CHECK(cpu.margin_ratio == 0.2);
  CHECK(cpu.half_life_ms == 12 * 3'600'000);
  CHECK(cpu.pod_minimum == 0.025);
  CHECK(cpu.sample_weight == 0.5);
  CHECK(memory.percentile == 1);
  CHECK(memory.margin_ratio == 0);
  CHECK(memory.half_life_ms == 7 * 24 * 3'600'000);
  CHECK(memory.pod_minimum == 250.0 * 1024 * 1024);
  CHECK(memory.sample_weight == 3);
  CHECK(gpu_utilization.percentile == 0.5);
  CHECK(gpu_utilization.half_life_ms == 5'400'000);
  CHECK(gpu_utilization.pod_minimum == 0.1);
  CHECK(gpu_utilization.sample_weight == 2);
  CHECK(gpu_memory.percentile == 0.9);
  CHECK(gpu_memory.margin_ratio == 1.5);
  CHECK(gpu_memory.half_life_ms == 7 * 24 * 3'600'000);
  CHECK(gpu_memory.pod_minimum == 1024.0 * 1024 * 1024);
  CHECK(config.remote_write.max_body_bytes == 8u << 20);
  CHECK(config.remote_write.max_unpacked_bytes == 64u << 20);
  CHECK(config.remote_write.max_labels == 40);
  CHECK(config.remote_write.max_label_name_bytes == 200);
  CHECK(config.remote_write.max_label_value_bytes == 2000);
  CHECK(config.remote_write.max_future_ms == 90'000);
  CHECK(config.bearer_token_file == "tokens");
  CHECK(config.engine.refuse_late);
  CHECK(config.ha.cluster_labels == std::vector<std::string>{"cluster", "prometheus"});
  CHECK(config.ha.replica_labels == std::vector<std::string>{"prometheus_replica", "__replica__"});
  CHECK(config.ha.failover_timeout_ms == 45'000);
  CHECK(config.ha.max_clusters == 10);
  CHECK(config.ha.max_replicas == 3);
  CHECK_FALSE(Good("remote_write: {late: ignore}").engine.refuse_late);
  CHECK(Good("remote_write: {ha: {replica_labels: []}}").ha.replica_labels.empty());
  CHECK(config.engine.max_series == 1000);
  CHECK(config.max_inflight_bytes == 1024u << 20);
}

TEST_CASE("A path in the file is taken from the file's directory", "[cmd][config]") {
  const auto path = [](std::string_view written, const std::string& file) {
    const auto config =
        ParseConfig("remote_write: {bearer_token_file: '" + std::string(written) + "'}", file);
    REQUIRE(config);
    return config->bearer_token_file;
  };
  CHECK(path("tokens", "tidemark.yml") == "tokens");
  CHECK(path("a/tokens", "conf/tidemark.yml") == "conf/a/tokens");
  CHECK(path("tokens", "/etc/tidemark/tidemark.yml") == "/etc/tidemark/tokens");
  CHECK(path("/run/tokens", "/etc/tidemark/tidemark.yml") == "/run/tokens");
  CHECK(path("", "/etc/tidemark/tidemark.yml").empty());
}

TEST_CASE("A source is read with all its keys", "[cmd][config]") {
  const Config config = Good(R"(
sources:
  - metric: DCGM_FI_DEV_GPU_UTIL
    role: usage_gauge
    resource: gpu_utilization
    selector: '{modelName=~"A100.*"}'
    labels: {cluster: k8s_cluster, namespace: ns, pod: pod_id, container: ctr}
    part_labels: [gpu, UUID]
    scale: 0.01
)");
  REQUIRE(config.sources.size() == 1);
  const workloads::Source& source = config.sources[0];
  CHECK(source.metric == "DCGM_FI_DEV_GPU_UTIL");
  CHECK(source.role == Role::kUsageGauge);
  CHECK(source.resource == Resource::kGpuUtilization);
  CHECK(source.selector.text() == R"({modelName=~"A100.*"})");
  CHECK(source.labels.cluster == "k8s_cluster");
  CHECK(source.labels.name_space == "ns");
  CHECK(source.labels.pod == "pod_id");
  CHECK(source.labels.container == "ctr");
  CHECK(source.labels.workload.empty());
  CHECK(source.workload_type.empty());
  CHECK(source.part_labels == std::vector<std::string>{"gpu", "UUID"});
  CHECK(source.scale == 0.01);
}

TEST_CASE("Sources name resources of their own, which profiles know", "[cmd][config]") {
  constexpr std::string_view kFile = R"(
profiles:
  - {name: hot, selector: '{namespace="a"}', network_receive: {floor: 1M, ceiling: 5G}}
  - {name: vpa, selector: '{}', preset: vpa, connections: {enabled: false}}
estimation:
  network_receive: {percentile: 0.99, margin: 0.3, rounding: 1k}
sources:
  - metric: container_network_receive_bytes_total
    role: usage_counter
    resource: network_receive
    unit: byte_per_second
    labels: {container: ""}
    part_labels: [id, interface]
  - {metric: pg_stat_activity_count, role: usage_gauge, resource: connections, unit: connection}
  - {metric: mysql_connections, role: usage_gauge, resource: connections, scale: 2}
  - {metric: disk, role: usage_gauge, resource: ephemeral_storage}
)";
  const Config config = Good(kFile);
  const ProfileSet& profiles = *config.engine.profiles;
  CHECK(profiles.resources().custom() ==
        std::vector<CustomResource>{{"network_receive", "byte_per_second"},
                                    {"connections", "connection"}});
  const Resource network = profiles.resources().Parse("network_receive").value();
  const Resource connections = profiles.resources().Parse("connections").value();
  CHECK(config.sources[0].resource == network);
  CHECK(config.sources[0].labels.container.empty());
  CHECK(config.sources[0].labels.pod == "pod");
  CHECK(config.sources[1].resource == connections);
  CHECK(config.sources[2].resource == connections);
  CHECK(config.sources[3].resource == Resource::kEphemeralStorage);
  CHECK(profiles.fallback().rule(network).percentile == 0.99);
  CHECK(profiles.fallback().rule(network).upper_percentile == 0.99);
  CHECK(profiles.fallback().rule(network).correction == Correction::kOff);
  CHECK(profiles.profiles()[0].rule(network).floor == 1e6);
  CHECK(profiles.profiles()[0].rule(network).ceiling == 5e9);
  CHECK(profiles.profiles()[0].rule(network).margin_ratio == 0.3);
  CHECK(profiles.profiles()[1].rule(network).percentile == 0.9);
  CHECK_FALSE(profiles.profiles()[1].rule(connections).enabled);
  for (const Profile& profile : profiles.profiles()) {
    CHECK(profile.names->NameOf(network) == "network_receive");
  }

  const std::string dump = DumpConfig(config);
  CHECK(dump.find("    unit: byte_per_second\n") != std::string::npos);
  CHECK(DumpConfig(Good(dump)) == dump);
  CHECK(DifferingSections(config, Good(dump)).empty());
}

TEST_CASE("The identity labels of a source follow its role", "[cmd][config]") {
  const Config config = Good(R"(
sources:
  - {metric: a, role: request}
  - {metric: b, role: pod_owner}
  - {metric: c, role: replicaset_owner}
  - {metric: d, role: replicas, labels: {workload: rollout}, workload_type: rollout}
  - {metric: e, role: usage_counter, resource: cpu, labels: {namespace: instance, workload: groupname}, workload_type: process}
  - {metric: f, role: usage_counter, resource: cpu, labels: {cluster: ""}}
)");
  const auto labels = [&](size_t i) {
    const workloads::IdentityLabels& names = config.sources.at(i).labels;
    return names.cluster + "|" + names.name_space + "|" + names.pod + "|" + names.container + "|" +
           names.workload;
  };
  CHECK(labels(0) == "cluster|namespace|pod|container|");
  CHECK(labels(1) == "cluster|namespace|pod||");
  CHECK(labels(2) == "cluster|namespace|||replicaset");
  CHECK(labels(3) == "cluster|namespace|||rollout");
  CHECK(labels(4) == "cluster|instance|||groupname");
  CHECK(labels(5) == "|namespace|pod|container|");
}

TEST_CASE("A metric can be taken away and one metric can have several selectors", "[cmd][config]") {
  const Config config = Good(R"(
sources:
  - {metric: container_memory_cache, role: none}
  - {metric: m, role: usage_gauge, resource: memory, selector: '{kind="a"}'}
  - {metric: m, role: usage_gauge, resource: memory, selector: '{kind="b"}', scale: 1024}
)");
  REQUIRE(config.sources.size() == 3);
  CHECK(config.sources[0].role == Role::kNone);
  CHECK(config.sources[2].scale == 1024);
}

TEST_CASE("Words that YAML 1.1 takes for booleans or nothing are text where text is wanted",
          "[cmd][config]") {
  const Config config = Good(
      "sources:\n  - {metric: yes, role: request, labels: {pod: no, container: on, cluster: "
      "\"null\"}}\n");
  CHECK(config.sources[0].metric == "yes");
  CHECK(config.sources[0].labels.pod == "no");
  CHECK(config.sources[0].labels.container == "on");
  CHECK(config.sources[0].labels.cluster == "null");
}

TEST_CASE("The default configuration is dumped in full", "[cmd][config]") {
  CHECK(DumpConfig(Config{}) == R"(sources: []
estimation:
  preset: tidemark
  level: container
  strict: false
  mode: dynamic
  effect: shown
  may_change_qos: false
  high_water_risks: [0.01, 0.001]
  cpu:
    enabled: true
    basis: adaptive
    high_water:
      risk: 0.001
      method: auto
    adaptive:
      target_exceedance: 0.04
      safety_factor: 1.1
      keep_week_maximum: true
      resize_in_place: true
    percentile: 0.9
    lower_percentile: 0.5
    upper_percentile: 0.95
    half_life: 1d
    samples: every_minute
    window: 1d
    weight: constant
    sample_weight: 0.1
    buckets:
      first: 1m
      ratio: 1.05
      max: 1000
    margin: 0
    expansion: 1
    confidence_interval: 1d
    pod_minimum: 0
    floor: 2m
    ceiling: none
    rounding: 1m
    static_ratio: 1
    correction: replace
    throttled_from: 0.25
    startup: 5m
    peak_per_run: true
    node_cap: true
  memory:
    enabled: true
    basis: adaptive
    high_water:
      risk: 0.001
      method: auto
    adaptive:
      target_exceedance: 0.04
      safety_factor: 1.1
      keep_week_maximum: true
      resize_in_place: true
    percentile: 0.9
    lower_percentile: 0.5
    upper_percentile: 0.95
    half_life: 1d
    samples: peak_per_window
    window: 1d
    weight: constant
    sample_weight: 1
    buckets:
      first: 1Mi
      ratio: 1.05
      max: 976562500Ki
    margin: 0
    expansion: 1
    confidence_interval: 1d
    pod_minimum: 0
    floor: 16Mi
    ceiling: none
    rounding: 1
    static_ratio: 1
    correction: replace
    peak_per_run: true
    leave_out_page_cache: false
    node_cap: true
    plateau_at_limit: true
    kills:
      bump_ratio: 1.2
      min_bump: 100Mi
      hold: 3d
  gpu_utilization:
    enabled: true
    basis: adaptive
    high_water:
      risk: 0.001
      method: auto
    adaptive:
      target_exceedance: 0.04
      safety_factor: 1.1
      keep_week_maximum: true
      resize_in_place: true
    percentile: 0.9
    lower_percentile: 0.5
    upper_percentile: 0.95
    half_life: 1d
    samples: every_minute
    window: 1d
    weight: constant
    sample_weight: 0.1
    buckets:
      first: 1m
      ratio: 1.05
      max: 1000
    margin: 0
    expansion: 1
    confidence_interval: 1d
    pod_minimum: 0
    floor: 0
    ceiling: none
    rounding: 1m
    static_ratio: 1
    correction: replace
    peak_per_run: true
  gpu_memory:
    enabled: true
    basis: adaptive
    high_water:
      risk: 0.001
      method: auto
    adaptive:
      target_exceedance: 0.04
      safety_factor: 1.1
      keep_week_maximum: true
      resize_in_place: true
    percentile: 0.9
    lower_percentile: 0.5
    upper_percentile: 0.95
    half_life: 1d
    samples: peak_per_window
    window: 1d
    weight: constant
    sample_weight: 1
    buckets:
      first: 1Mi
      ratio: 1.05
      max: 976562500Ki
    margin: 0
    expansion: 1
    confidence_interval: 1d
    pod_minimum: 0
    floor: 0
    ceiling: none
    rounding: 1
    static_ratio: 1
    correction: replace
    peak_per_run: true
  ephemeral_storage:
    enabled: true
    basis: adaptive
    high_water:
      risk: 0.001
      method: auto
    adaptive:
      target_exceedance: 0.04
      safety_factor: 1.1
      keep_week_maximum: true
      resize_in_place: true
    percentile: 0.9
    lower_percentile: 0.5
    upper_percentile: 0.95
    half_life: 1d
    samples: peak_per_window
    window: 1d
    weight: constant
    sample_weight: 1
    buckets:
      first: 100000
      ratio: 1.05
      max: 9765625000Ki
    margin: 0
    expansion: 1
    confidence_interval: 1d
    pod_minimum: 0
    floor: 0
    ceiling: none
    rounding: 1
    static_ratio: 1
    correction: replace
    peak_per_run: true
profiles: []
forecast:
  horizons: [1m, 3m, 10m]
  interval_ratio: 0.9
  network_margin_ratio: 0.03
  high_water_risk: 0.001
  training_budget_ratio: 0.25
  max_workloads: 10000
  workloads: []
scaling:
  workloads: []
rightsizing:
  mode: off
  rules: []
  excluded_containers: []
  least_change: 0.1
kubernetes:
  freshness:
    serve: 2m30s
    hold: 5m
compat:
  vpa_metrics: false
prices:
  currency: "USD"
  cpu_core_hour: 0
  memory_gib_hour: 0
remote_write:
  max_body_size: 16MB
  max_unpacked_size: 32MB
  max_labels: 128
  max_label_name_length: 1024
  max_label_value_length: 4096
  max_future: 10m
  bearer_token_file: ""
  late: ignore
  ha:
    cluster_labels: ["cluster"]
    replica_labels: ["__replica__"]
    failover_timeout: 30s
    max_clusters: 1000
    max_replicas: 16
limits:
  max_series: 5000000
  max_inflight_size: 256MB
storage:
  checkpoint_interval: 5m
  sync_interval: 1s
  min_free: 64MB
backfill:
  url: ""
  range: 8d
  step: auto
  concurrency: 1
  timeout: 2m
  connect_timeout: 10s
  external_labels: {}
  basic_auth:
    username: ""
    password: ""
    password_file: ""
  authorization:
    type: Bearer
    credentials: ""
    credentials_file: ""
  tls_config:
    ca_file: ""
    ca: ""
    cert_file: ""
    cert: ""
    key_file: ""
    key: ""
    server_name: ""
    insecure_skip_verify: false
  http_headers: {}
  proxy_url: ""
)");
}

TEST_CASE("What is dumped is read again as the same configuration", "[cmd][config]") {
  const auto seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const Config config = RandomConfig(random);
    const std::string dump = DumpConfig(config);
    CAPTURE(dump);
    CHECK(DumpConfig(Good(dump)) == dump);
    REQUIRE(SameConfig(Good(dump), config));
  }
}

TEST_CASE("Quoted text is read back byte for byte", "[cmd][config]") {
  const std::string text =
      "a \"b\" \\ \t\n\r\x01\x7f # : {[' \xc3\xa9\xe2\x80\xa8 \xf0\x9f\x8c\x8a \xc2\x85";
  const auto yaml = ParseYaml(YamlQuoted(text), "x");
  REQUIRE(yaml);
  CHECK(yaml->ReadText().value() == text);
}

TEST_CASE("Input that is no text is refused with the line of the byte", "[cmd][config]") {
  using std::string_literals::operator""s;
  CHECK(ErrorOf("a\0b: 1\n"s) ==
        "tidemark.yml:1: the byte 0x00 is not text, allowed: UTF-8 without control characters");
  CHECK(ErrorOf("\n# caf\xe9\n") ==
        "tidemark.yml:2: the byte 0xe9 is not text, allowed: UTF-8 without control characters");
  CHECK(ErrorOf("\xff\xfel\0i\0"s) ==
        "tidemark.yml:1: the byte 0xff is not text, allowed: UTF-8 without control characters");
}

TEST_CASE("Size, depth and number of values are bounded", "[cmd][config]") {
  CHECK(ErrorOf(std::string(kMaxYamlBytes + 1, '#')) ==
        "tidemark.yml: the file is too large, allowed: at most 4194304 bytes");
  CHECK(SameConfig(Good(std::string(kMaxYamlBytes, '#')), Config{}));
  for (const char c : {'[', '{'}) {
    CHECK(ErrorOf(std::string(kMaxYamlBytes, c)) ==
          "tidemark.yml:1: values are nested too deeply, allowed: at most 16 levels");
  }
  std::string many = "sources: [";
  for (size_t i = 0; i < kMaxYamlValues; ++i) many += "a,";
  CHECK(ErrorOf(many + "]") ==
        "tidemark.yml:1: there are too many values, allowed: at most 200000");
  std::string sources = "sources:\n";
  for (int i = 0; i < 1001; ++i)
    sources += "  - {metric: m" + std::to_string(i) + ", role: none}\n";
  CHECK(ErrorOf(sources) ==
        "tidemark.yml:1: sources: 1001 items are too many, allowed: a list of at most 1000 items");
  CHECK(ErrorOf("sources: [{metric: m, role: limit, selector: '{a=\"" + std::string(5000, 'x') +
                "\"}'}]") ==
        "tidemark.yml:1: sources[0].selector: the selector is 5006 bytes long, allowed: at most "
        "4096");
}

TEST_CASE("An error is one short line even when the input has line breaks or is long",
          "[cmd][config]") {
  for (const std::string& yaml :
       {std::string("sources: [{metric: m, role: limit, selector: \"{a\\n\\r=\\x01\"}]"),
        std::string("? \"a\\nb\"\n: 1\n"), std::string("a: \"\\\r\""),
        "? " + std::string(1000, 'k') + "\n: 1\n",
        "limits: {max_series: " + std::string(10'000, 'v') + "}\n"}) {
    const std::string error = ErrorOf(yaml);
    CAPTURE(error);
    CHECK(std::none_of(error.begin(), error.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20; }));
    CHECK(error.size() < 250);
  }
}

TEST_CASE("A configuration file is read from disk and named in errors", "[cmd][config]") {
  const TemporaryFile good("limits: {max_series: 7}\n");
  REQUIRE(LoadConfig(good.path()));
  CHECK(LoadConfig(good.path())->engine.max_series == 7);
  const TemporaryFile bad("limits: {max_series: x}\n");
  CHECK(LoadConfig(bad.path()).error().message ==
        bad.path() +
            ":1: limits.max_series: x is not a whole number, allowed: 1 <= x <= 1000000000");
  const TemporaryFile large(std::string(3 * kMaxYamlBytes, '#'));
  CHECK(LoadConfig(large.path()).error().message ==
        large.path() + ": the file is too large, allowed: at most 4194304 bytes");
}

TEST_CASE("A file that cannot be read is an input error of the system", "[cmd][config]") {
  const auto missing = LoadConfig("/nonexistent/tidemark.yml");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::kIo);
  CHECK(missing.error().message ==
        "/nonexistent/tidemark.yml: the file cannot be read: No such file or directory");
  const auto directory = LoadConfig("/");
  REQUIRE_FALSE(directory);
  CHECK(directory.error().message == "/: the file cannot be read: Is a directory");
}

}  // namespace tidemark::cmd
