// Everything that can be wrong in a configuration, and what is said about it.

#include <string>
#include <string_view>

#include "cmd/config.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kRoles =
    "none, usage_counter, usage_gauge, request, limit, pod_owner, replicaset_owner, job_owner, "
    "replicas, pod_phase, page_cache, throttled_periods, cfs_periods, restarts, terminated_reason, "
    "terminated_time, oom_events, original_request, pod_ready, pod_start_time, pod_ready_time, "
    "autoscaler_info, autoscaler_min, autoscaler_max, autoscaler_target, node_allocatable, "
    "pod_labels, limit_range";
constexpr std::string_view kDurations =
    "whole numbers with the units y, w, d, h, m, s, ms in this order, as in 90s, 1h30m or 7d";
constexpr std::string_view kSizes =
    "a number with one of the units B, KB, MB, GB, TB (or KiB, MiB, GiB, TiB, the same), as in "
    "64MB";
constexpr std::string_view kQuantities =
    "a number, with an exponent or one of the units n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, "
    "Ei, as in 250m or 128Mi";
constexpr std::string_view kRemoteWriteKeys =
    "max_body_size, max_unpacked_size, max_labels, max_label_name_length, max_label_value_length, "
    "max_future, bearer_token_file, late, ha";
constexpr std::string_view kTopKeys =
    "sources, estimation, profiles, forecast, scaling, rightsizing, kubernetes, compat, prices, "
    "remote_write, limits, "
    "storage, backfill";
constexpr std::string_view kEstimationKeys =
    "preset, level, strict, mode, effect, may_change_qos, high_water_risks, cpu, memory, "
    "gpu_utilization, "
    "gpu_memory, ephemeral_storage";
constexpr std::string_view kCpuKeys =
    "enabled, basis, percentile, lower_percentile, upper_percentile, half_life, samples, window, "
    "weight, "
    "sample_weight, margin, expansion, confidence_interval, pod_minimum, floor, ceiling, rounding, "
    "static_ratio, correction, throttled_from, startup, peak_per_run, node_cap, high_water, "
    "adaptive, buckets";
constexpr std::string_view kMetricNames =
    "letters, digits and _ : . / -, not beginning with a digit; labels belong into selector";

struct BadConfig {
  std::string_view yaml;
  std::string_view message;  // without the file's name in front
  std::string_view allowed;  // the end of the message, where several share it
};

const BadConfig kBadConfigs[] = {
    {"foo: 1\n", "1: foo: there is no such key, allowed: ", kTopKeys},
    {"estimaton:\n  cpu: {}\n",
     "1: estimaton: there is no such key (did you mean estimation?), allowed: ", kTopKeys},
    {"- a\n- b\n", "1: a list is not a map, allowed: the keys ", kTopKeys},
    {"prices: {currency: US D}\n",
     "1: prices.currency: \"US D\" is no currency, allowed: a short word such as USD", ""},
    {"prices: {cpu_core_hour: -0.1}\n",
     "1: prices.cpu_core_hour: -0.1 is out of range, allowed: 0 <= x <= 1000000", ""},
    {"prices: {memory_gib_hour: 1e9}\n",
     "1: prices.memory_gib_hour: 1e9 is out of range, allowed: 0 <= x <= 1000000", ""},
    {"prices: {cpu: 1}\n",
     "1: prices.cpu: there is no such key (did you mean cpu_core_hour?), allowed: currency, "
     "cpu_core_hour, memory_gib_hour",
     ""},
    {"hello\n", "1: hello is not a map, allowed: the keys ", kTopKeys},
    {"sources: []\nsources: []\n", "2: sources: the key stands twice, allowed: once", ""},
    {"limits: {max_series: 1}\n---\nlimits: {max_series: 2}\n",
     "2: a second document begins, allowed: one document in a file", ""},
    {"limits: &a {max_series: 1}\n",
     "1: anchors, aliases and merge keys are not supported, allowed: the value written out", ""},
    {"limits: *a\n", "1: this is not YAML: the referenced anchor is not defined", ""},
    {"estimation:\n  cpu: &x {percentile: 0.5}\n  memory: *x\n",
     "2: anchors, aliases and merge keys are not supported, allowed: the value written out", ""},
    {"limits:\n  <<: {max_series: 1}\n",
     "2: anchors, aliases and merge keys are not supported, allowed: the value written out", ""},
    {"limits: !!map {max_series: 1}\n",
     "1: the tag \"tag:yaml.org,2002:map\" is not supported, allowed: values without tags", ""},
    {"limits:\n  max_series: !!int 5\n",
     "2: the tag \"tag:yaml.org,2002:int\" is not supported, allowed: values without tags", ""},
    {"? [a, b]\n: 1\n", "1: a list or map stands as a key, allowed: a name", ""},
    {"~: 1\n", "1: a key is empty, allowed: a name", ""},
    {"limits: {max_series: 1\n", "2: this is not YAML: end of map flow not found", ""},
    {"limits:\n\tmax_series: 1\n", "2: this is not YAML: illegal map value", ""},
    {"limits:\n  max_series: 1\n max_labels: 2\n", "3: this is not YAML: end of map not found", ""},
    {"limits: \"open\n", "2: this is not YAML: a quoted text is not closed", ""},
    {"%YAML 2.0\n---\nlimits: {}\n", "1: this is not YAML: YAML major version too large", ""},
    {"storage: 5\n",
     "1: storage: 5 is not a map, allowed: the keys checkpoint_interval, sync_interval, min_free",
     ""},
    {"storage: {checkpoint_interval: 100ms}\n",
     "1: storage.checkpoint_interval: 100ms is out of range, allowed: 1s <= x <= 6h", ""},
    {"storage: {sync_interval: 2m}\n",
     "1: storage.sync_interval: 2m is out of range, allowed: 10ms <= x <= 1m", ""},
    {"storage: {min_free: lots}\n",
     "1: storage.min_free: lots is not a size: it does not begin with a number, allowed: a number "
     "with one of the units B, KB, MB, GB, TB (or KiB, MiB, GiB, TiB, the same), as in 64MB",
     ""},
    {"limits: 5\n", "1: limits: 5 is not a map, allowed: the keys max_series, max_inflight_size",
     ""},
    {"limits: [max_series]\n",
     "1: limits: a list is not a map, allowed: the keys max_series, max_inflight_size", ""},
    {"limits:\n  max_series: 0\n",
     "2: limits.max_series: 0 is out of range, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: -5\n",
     "2: limits.max_series: -5 is out of range, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: 2000000000\n",
     "2: limits.max_series: 2000000000 is out of range, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: 99999999999999999999\n",
     "2: limits.max_series: 99999999999999999999 is out of range, allowed: 1 <= x <= 1000000000",
     ""},
    {"limits:\n  max_series: yes\n",
     "2: limits.max_series: yes is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: 0755\n",
     "2: limits.max_series: 0755 is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: 0x10\n",
     "2: limits.max_series: 0x10 is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: 1_000\n",
     "2: limits.max_series: 1_000 is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: 1e6\n",
     "2: limits.max_series: 1e6 is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series: \"1000\"\n",
     "2: limits.max_series: \"1000\" is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_series:\n",
     "2: limits.max_series: an empty value is not a whole number, allowed: 1 <= x <= 1000000000",
     ""},
    {"limits:\n  max_series: [1]\n",
     "2: limits.max_series: a list is not a whole number, allowed: 1 <= x <= 1000000000", ""},
    {"limits:\n  max_serie: 10\n",
     "2: limits.max_serie: there is no such key (did you mean max_series?), allowed: max_series, "
     "max_inflight_size",
     ""},
    {"estimation:\n  cpu:\n    percentile: 1.5\n",
     "3: estimation.cpu.percentile: 1.5 is out of range, allowed: 0 < x <= 1", ""},
    {"estimation:\n  cpu:\n    percentile: 0\n",
     "3: estimation.cpu.percentile: 0 is out of range, allowed: 0 < x <= 1", ""},
    {"estimation:\n  cpu:\n    percentile: 90%\n",
     "3: estimation.cpu.percentile: 90% is not a number, allowed: 0 < x <= 1", ""},
    {"estimation:\n  cpu:\n    percentile: .nan\n",
     "3: estimation.cpu.percentile: .nan is not a number, allowed: 0 < x <= 1", ""},
    {"estimation:\n  cpu:\n    percentile: .9\n",
     "3: estimation.cpu.percentile: .9 is not a number, allowed: 0 < x <= 1", ""},
    {"estimation:\n  cpu:\n    percentile: 1e-400\n",
     "3: estimation.cpu.percentile: 1e-400 is out of range, allowed: 0 < x <= 1", ""},
    {"estimation:\n  cpu:\n    percentle: 0.9\n",
     "3: estimation.cpu.percentle: there is no such key (did you mean percentile?), allowed: ",
     kCpuKeys},
    {"estimation:\n  cpu:\n    percentile: 0.9\n    percentile: 0.5\n",
     "4: estimation.cpu.percentile: the key stands twice, allowed: once", ""},
    {"estimation:\n  cpu:\n    margin: -0.1\n",
     "3: estimation.cpu.margin: -0.1 is out of range, allowed: 0 <= x <= 10", ""},
    {"estimation:\n  cpu:\n    margin: 15\n",
     "3: estimation.cpu.margin: 15 is out of range, allowed: 0 <= x <= 10", ""},
    {"estimation:\n  cpu:\n    half_life: 24\n",
     "3: estimation.cpu.half_life: 24 is not a duration: a unit is missing, allowed: ", kDurations},
    {"estimation:\n  cpu:\n    half_life: 1s\n",
     "3: estimation.cpu.half_life: 1s is out of range, allowed: 1m <= x <= 365d", ""},
    {"estimation:\n  cpu:\n    half_life: 2y\n",
     "3: estimation.cpu.half_life: 2y is out of range, allowed: 1m <= x <= 365d", ""},
    {"estimation:\n  cpu:\n    half_life: 1m1h\n",
     "3: estimation.cpu.half_life: 1m1h is not a duration: h is out of order, allowed: ",
     kDurations},
    {"estimation:\n  cpu:\n    half_life: 1 day\n",
     "3: estimation.cpu.half_life: \"1 day\" is not a duration: it has a wrong character, "
     "allowed: ",
     kDurations},
    {"estimation:\n  cpu:\n    pod_minimum: 25x\n",
     "3: estimation.cpu.pod_minimum: 25x is not a quantity: there is no unit x, allowed: ",
     kQuantities},
    {"estimation:\n  cpu:\n    pod_minimum: -1\n",
     "3: estimation.cpu.pod_minimum: -1 is out of range, allowed: 0 <= x <= 1000", ""},
    {"estimation:\n  memory:\n    pod_minimum: 2Ti\n",
     "3: estimation.memory.pod_minimum: 2Ti is out of range, allowed: 0 <= x <= 1Ti", ""},
    {"estimation:\n  memory:\n    sample_weight: -1\n",
     "3: estimation.memory.sample_weight: -1 is out of range, allowed: 0 < x <= 1000", ""},
    {"estimation:\n  cpu:\n    sample_weight: 0\n",
     "3: estimation.cpu.sample_weight: 0 is out of range, allowed: 0 < x <= 1000", ""},
    {"estimation:\n  gpu: {}\n",
     "2: estimation.gpu: there is no such key (did you mean gpu_utilization?), allowed: ",
     kEstimationKeys},
    {"estimation:\n  disk: {}\n",
     "2: estimation.disk: there is no such key, allowed: ", kEstimationKeys},
    {"estimation: [cpu]\n", "1: estimation: a list is not a map, allowed: the keys ",
     kEstimationKeys},
    {"remote_write:\n  max_body_size: 16\n",
     "2: remote_write.max_body_size: 16 is not a size: a unit is missing, allowed: ", kSizes},
    {"remote_write:\n  max_body_size: 16 MB\n",
     "2: remote_write.max_body_size: \"16 MB\" is not a size: there is no unit \" MB\", allowed: ",
     kSizes},
    {"remote_write:\n  max_body_size: 16mb\n",
     "2: remote_write.max_body_size: 16mb is not a size: there is no unit mb, allowed: ", kSizes},
    {"remote_write:\n  max_body_size: 2GB\n",
     "2: remote_write.max_body_size: 2GB is out of range, allowed: 1KB <= x <= 1GB", ""},
    {"remote_write:\n  max_unpacked_size: 100B\n",
     "2: remote_write.max_unpacked_size: 100B is out of range, allowed: 1KB <= x <= 1GB", ""},
    {"remote_write:\n  max_body_size: 64MB\n",
     "2: remote_write.max_body_size: max_unpacked_size (32MB) is less than max_body_size (64MB), "
     "allowed: at least as much",
     ""},
    {"remote_write:\n  max_unpacked_size: 8MB\n  max_body_size: 16MB\n",
     "3: remote_write.max_body_size: max_unpacked_size (8MB) is less than max_body_size (16MB), "
     "allowed: at least as much",
     ""},
    {"limits: {max_inflight_size: 47MB}\n",
     "1: limits.max_inflight_size: max_inflight_size (47MB) is less than max_body_size (16MB) and "
     "max_unpacked_size (32MB) together, allowed: at least as much",
     ""},
    {"limits: {max_inflight_size: 1GB}\nremote_write:\n  max_unpacked_size: 1GB\n",
     "3: remote_write.max_unpacked_size: max_inflight_size (1GB) is less than max_body_size (16MB) "
     "and max_unpacked_size (1GB) together, allowed: at least as much",
     ""},
    {"limits: {max_inflight_size: 2000GB}\n",
     "1: limits.max_inflight_size: 2000GB is out of range, allowed: 1KB <= x <= 1TB", ""},
    {"remote_write:\n  max_labels: 0\n",
     "2: remote_write.max_labels: 0 is out of range, allowed: 1 <= x <= 10000", ""},
    {"remote_write:\n  max_label_name_length: 4\n",
     "2: remote_write.max_label_name_length: 4 is out of range, allowed: 8 <= x <= 65536", ""},
    {"remote_write:\n  max_label_value_length: 1KB\n",
     "2: remote_write.max_label_value_length: 1KB is not a whole number, allowed: 1 <= x <= "
     "1048576",
     ""},
    {"remote_write:\n  max_future: -5m\n",
     "2: remote_write.max_future: -5m is not a duration: a number is missing, allowed: ",
     kDurations},
    {"remote_write:\n  bearer_token_file: [a]\n",
     "2: remote_write.bearer_token_file: a list is not text, allowed: one word or quoted text", ""},
    {"remote_write:\n  bearer_token_file: \"a\\tb\"\n",
     "2: remote_write.bearer_token_file: this is no path, allowed: one without control characters",
     ""},
    {"remote_write:\n  max_future: 2d\n",
     "2: remote_write.max_future: 2d is out of range, allowed: 0s <= x <= 1d", ""},
    {"remote_write:\n  max_bodysize: 1MB\n",
     "2: remote_write.max_bodysize: there is no such key (did you mean max_body_size?), allowed: ",
     kRemoteWriteKeys},
    {"remote_write:\n  late: drop\n",
     "2: remote_write.late: there is no policy drop, allowed: ignore, refuse", ""},
    {"remote_write:\n  late: [ignore]\n",
     "2: remote_write.late: a list is not text, allowed: one word or quoted text", ""},
    {"remote_write:\n  ha: on\n", "2: remote_write.ha: on is not a map, allowed: the keys ",
     "cluster_labels, replica_labels, failover_timeout, max_clusters, max_replicas"},
    {"remote_write:\n  ha:\n    replica_labels: __replica__\n",
     "3: remote_write.ha.replica_labels: __replica__ is not a list, allowed: a list of at most 16 "
     "items",
     ""},
    {"remote_write:\n  ha:\n    replica_labels: [a, a]\n",
     "3: remote_write.ha.replica_labels[1]: a stands here twice, allowed: each label once", ""},
    {"remote_write:\n  ha:\n    replica_labels: [\"\"]\n",
     "3: remote_write.ha.replica_labels[0]: it is empty, allowed: the name of a label", ""},
    {"remote_write:\n  ha:\n    cluster_labels: [__name__]\n",
     "3: remote_write.ha.cluster_labels[0]: every series has it, allowed: the name of another "
     "label",
     ""},
    {"remote_write:\n  ha:\n    replica_labels: [cluster]\n",
     "3: remote_write.ha.replica_labels: cluster is among both cluster_labels and replica_labels, "
     "allowed: in one of them",
     ""},
    {"remote_write:\n  ha:\n    failover_timeout: 0s\n",
     "3: remote_write.ha.failover_timeout: 0s is out of range, allowed: 1s <= x <= 1d", ""},
    {"remote_write:\n  ha:\n    max_clusters: 0\n",
     "3: remote_write.ha.max_clusters: 0 is out of range, allowed: 1 <= x <= 100000", ""},
    {"remote_write:\n  ha:\n    max_replicas: 1\n",
     "3: remote_write.ha.max_replicas: 1 is out of range, allowed: 2 <= x <= 1000", ""},
    {"remote_write:\n  ha:\n    replica_label: a\n",
     "3: remote_write.ha.replica_label: there is no such key (did you mean replica_labels?), "
     "allowed: ",
     "cluster_labels, replica_labels, failover_timeout, max_clusters, max_replicas"},
    {"sources: {}\n", "1: sources: a map is not a list, allowed: a list of at most 1000 items", ""},
    {"sources: none\n", "1: sources: none is not a list, allowed: a list of at most 1000 items",
     ""},
    {"sources:\n  - metric: foo\n", "2: sources[0].role: the key is missing, allowed: one of ",
     kRoles},
    {"sources:\n  - role: request\n",
     "2: sources[0].metric: the key is missing, allowed: the name of a metric", ""},
    {"sources:\n  - foo\n",
     "2: sources[0]: foo is not a map, allowed: the keys metric, role, resource, unit, selector, "
     "labels, workload_type, part_labels, scale",
     ""},
    {"sources:\n  -\n", "3: sources[0].metric: the key is missing, allowed: the name of a metric",
     ""},
    {"sources:\n  - metric: foo{bar=\"x\"}\n    role: request\n",
     "2: sources[0].metric: \"foo{bar=\\\"x\\\"}\" is not a metric name, allowed: ", kMetricNames},
    {"sources:\n  - metric: \"\"\n    role: request\n",
     "2: sources[0].metric: \"\" is not a metric name, allowed: ", kMetricNames},
    {"sources:\n  - metric: 9lives\n    role: request\n",
     "2: sources[0].metric: 9lives is not a metric name, allowed: ", kMetricNames},
    {"sources:\n  - metric: foo\n    role: usage_count\n",
     "3: sources[0].role: there is no role usage_count (did you mean usage_counter?), allowed: ",
     kRoles},
    {"sources:\n  - metric: foo\n    role: yes\n",
     "3: sources[0].role: there is no role yes, allowed: ", kRoles},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n",
     "2: sources[0].resource: the key is missing, allowed with the role usage_gauge: one of cpu, "
     "memory, gpu_utilization, gpu_memory, ephemeral_storage, or a name of your own beside its "
     "unit",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: mem\n",
     "4: sources[0].resource: there is no resource mem (did you mean memory?), allowed: cpu, "
     "memory, gpu_utilization, gpu_memory, ephemeral_storage, or a name of your own beside its "
     "unit",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: memory\n    unit: byte\n",
     "2: sources[0].unit: it has no meaning with the resource memory, of which the unit is byte, "
     "allowed: with a resource of your own",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: Net\n    unit: byte\n",
     "4: sources[0].resource: Net is not a name for a resource, allowed: 1 to 63 lower-case "
     "letters, "
     "digits and _, a letter first, as in network_receive",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: \"a\\nb\"\n    unit: byte\n",
     "4: sources[0].resource: \"a\\nb\" is not a name for a resource, allowed: 1 to 63 lower-case "
     "letters, digits and _, a letter first, as in network_receive",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: mode\n    unit: byte\n",
     "4: sources[0].resource: mode has a meaning of its own in profiles, allowed: another name",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: net\n    unit: byte/s\n",
     "5: sources[0].unit: byte/s is not a unit, allowed: 1 to 63 lower-case letters and _, a "
     "letter first, as in byte_per_second",
     ""},
    {"sources:\n  - metric: foo\n    role: request\n    unit: byte\n",
     "2: sources[0].unit: it has no meaning with the role request, allowed: only with the roles "
     "usage_counter and usage_gauge",
     ""},
    {"sources:\n  - {metric: a, role: usage_gauge, resource: net, unit: byte}\n"
     "  - {metric: b, role: usage_gauge, resource: net, unit: bit}\n",
     "3: sources[1].unit: net is in byte by line 2, allowed: one unit", ""},
    {"sources:\n  - {metric: a, role: usage_gauge, resource: net, unit: byte}\n"
     "  - {metric: b, role: usage_counter, resource: net}\n",
     "3: sources[1].role: net is a usage_gauge by line 2, allowed: one role", ""},
    {"sources:\n  - {metric: a, role: usage_gauge, resource: net, unit: byte}\n"
     "  - {metric: b, role: usage_gauge, resource: ney}\n",
     "3: sources[1].resource: there is no resource ney (did you mean net?), allowed: cpu, memory, "
     "gpu_utilization, gpu_memory, ephemeral_storage, net, or a name of your own beside its unit",
     ""},
    {"sources:\n"
     "  - {metric: a, role: usage_gauge, resource: r1, unit: u}\n"
     "  - {metric: b, role: usage_gauge, resource: r2, unit: u}\n"
     "  - {metric: c, role: usage_gauge, resource: r3, unit: u}\n"
     "  - {metric: d, role: usage_gauge, resource: r4, unit: u}\n"
     "  - {metric: e, role: usage_gauge, resource: r5, unit: u}\n"
     "  - {metric: f, role: usage_gauge, resource: r6, unit: u}\n"
     "  - {metric: g, role: usage_gauge, resource: r7, unit: u}\n"
     "  - {metric: h, role: usage_gauge, resource: r8, unit: u}\n"
     "  - {metric: i, role: usage_gauge, resource: r9, unit: u}\n",
     "10: sources[8].resource: r9 is one resource too many, allowed: 8 of your own", ""},
    {"estimation:\n  network_receive: {percentile: 0.5}\n",
     "2: estimation.network_receive: there is no such key, allowed: ", kEstimationKeys},
    {"sources:\n  - metric: foo\n    role: request\n    resource: cpu\n",
     "2: sources[0].resource: it has no meaning with the role request, allowed: only with the "
     "roles usage_counter and usage_gauge",
     ""},
    {"sources:\n  - metric: foo\n    role: request\n    part_labels: [id]\n",
     "2: sources[0].part_labels: it has no meaning with the role request, allowed: only with the "
     "roles usage_counter and usage_gauge",
     ""},
    {"sources:\n  - metric: foo\n    role: none\n    scale: 2\n",
     "2: sources[0].scale: it has no meaning with the role none, allowed: metric and role only",
     ""},
    {"sources:\n  - metric: foo\n    role: none\n    labels: {pod: p}\n",
     "2: sources[0].labels.pod: it has no meaning with the role none, allowed: metric and role "
     "only",
     ""},
    {"sources:\n  - metric: foo\n    role: request\n    selector: job=\"x\"\n",
     "4: sources[0].selector: selector job=\"x\": expected { at position 1", ""},
    {"sources:\n  - metric: foo\n    role: request\n    selector: '{job=~\"(\"}'\n",
     "4: sources[0].selector: selector {job=~\"(\"}: regular expression of job: missing ): (", ""},
    {"sources:\n  - metric: foo\n    role: request\n    selector: {job: x}\n",
     "4: sources[0].selector: a map is not text, allowed: one word or quoted text", ""},
    {"sources:\n  - metric: foo\n    role: request\n    scale: 0\n",
     "4: sources[0].scale: 0 is out of range, allowed: 0 < x <= 1e+18", ""},
    {"sources:\n  - metric: foo\n    role: request\n    scale: .inf\n",
     "4: sources[0].scale: .inf is not a number, allowed: 0 < x <= 1e+18", ""},
    {"sources:\n  - metric: foo\n    role: request\n    labels: {pod: \"a b\"}\n",
     "4: sources[0].labels.pod: \"a b\" is not a label name, allowed: letters, digits and _ . / -, "
     "not beginning with a digit",
     ""},
    {"sources:\n  - metric: foo\n    role: request\n    labels: {pods: x}\n",
     "4: sources[0].labels.pods: there is no such key (did you mean pod?), allowed: cluster, "
     "namespace, pod, container, workload",
     ""},
    {"sources:\n  - metric: foo\n    role: request\n    labels: {pod: }\n",
     "4: sources[0].labels.pod: an empty value is not text, allowed: one word or quoted text", ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: memory\n    labels: {pod: "
     "\"\"}\n",
     "2: sources[0].labels: nothing says whose usage it is, allowed: pod and container, or "
     "workload",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: memory\n    labels: "
     "{workload: groupname}\n",
     "2: sources[0].workload_type: the key is missing, allowed with labels.workload: a type such "
     "as process",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: memory\n    workload_type: "
     "process\n",
     "2: sources[0].workload_type: it needs labels.workload, allowed: both or none", ""},
    {"sources:\n  - metric: foo\n    role: replicas\n    workload_type: deployment\n",
     "2: sources[0].labels.workload: the key is missing, allowed with the role replicas: the label "
     "that names the workload",
     ""},
    {"sources:\n  - metric: foo\n    role: replicas\n    labels: {workload: deployment}\n",
     "2: sources[0].workload_type: the key is missing, allowed with the role replicas: a type such "
     "as deployment",
     ""},
    {"sources:\n  - metric: foo\n    role: request\n    workload_type: Deployment\n",
     "4: sources[0].workload_type: Deployment is not a workload type, allowed: 1 to 63 lower-case "
     "letters, digits, - and _, as in statefulset",
     ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: memory\n    part_labels: "
     "id\n",
     "5: sources[0].part_labels: id is not a list, allowed: a list of at most 16 items", ""},
    {"sources:\n  - metric: foo\n    role: usage_gauge\n    resource: memory\n    part_labels: "
     "[id, 1d]\n",
     "5: sources[0].part_labels[1]: 1d is not a label name, allowed: letters, digits and _ . / -, "
     "not beginning with a digit",
     ""},
    {"sources:\n  - {metric: foo, role: request}\n  - {metric: bar, role: limit}\n  - {metric: "
     "foo, role: limit}\n",
     "4: sources[2]: foo with this selector stands in line 2 already, allowed: once", ""},
    {"a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}}}}}}}}}\n",
     "1: values are nested too deeply, allowed: at most 16 levels", ""},
    {"\"line\\nbreak\": 1\n", "1: \"line\\nbreak\": there is no such key, allowed: ", kTopKeys},
    {"sources:\n  - metric: a\n    labels:\n      pod: b\n      pod: b\n",
     "5: sources[0].labels.pod: the key stands twice, allowed: once", ""},
    {"estimation:\n  mem: {}\n",
     "2: estimation.mem: there is no such key (did you mean memory?), allowed: ", kEstimationKeys},
    {"sources:\n  - metric: foo\n    role: request\n    labels: {cluster: 'a\n\n",
     "6: this is not YAML: a quoted text is not closed", ""},
    {"estimation:\n  cpu:\n    pod_minimum: 1e999\n",
     "3: estimation.cpu.pod_minimum: 1e999 is not a quantity: its exponent is too large or too "
     "small, allowed: ",
     kQuantities},
    {"remote_write:\n  max_body_size: 1.5555555MB\n",
     "2: remote_write.max_body_size: 1.5555555MB is not a size: 1 to 6 digits belong after the "
     "point, allowed: ",
     kSizes},
    {"remote_write:\n  max_body_size: 0.3KB\n",
     "2: remote_write.max_body_size: 0.3KB is not a size: it is not a whole number of bytes, "
     "allowed: ",
     kSizes},
};

}  // namespace

TEST_CASE(
    "A wrong configuration is refused with one line that names file, line, key and what is allowed",
    "[cmd][config]") {
  for (const BadConfig& bad : kBadConfigs) {
    CAPTURE(bad.yaml);
    const auto config = ParseConfig(bad.yaml, "tidemark.yml");
    REQUIRE_FALSE(config);
    CHECK(config.error().code == ErrorCode::kInvalidArgument);
    CHECK(config.error().message ==
          "tidemark.yml:" + std::string(bad.message) + std::string(bad.allowed));
  }
}

}  // namespace tidemark::cmd
