#include "exporter/daemon_metrics.h"

#include <prometheus/metric_family.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::exporter {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

/// A family under construction.
class Family {
 public:
  Family(prometheus::MetricType type, std::string name, std::string help) {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = type;
  }

  Family& Add(double value, Labels labels = {}) {
    prometheus::ClientMetric& metric = family_.metric.emplace_back();
    metric.label = std::move(labels);
    (family_.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) =
        value;
    return *this;
  }
  Family& Add(const Counter& value, Labels labels = {}) {
    return Add(static_cast<double>(value.load(std::memory_order_relaxed)), std::move(labels));
  }
  Family& Add(const std::atomic<int64_t>& value, Labels labels = {}) {
    return Add(static_cast<double>(value.load(std::memory_order_relaxed)), std::move(labels));
  }
  /// Seconds from milliseconds; nothing while 0.
  Family& AddTime(const TimestampGauge& time_ms) {
    const int64_t value = time_ms.load(std::memory_order_relaxed);
    return value == 0 ? *this : Add(static_cast<double>(value) / 1000);
  }
  Family& AddIfKnown(std::optional<double> value) { return value ? Add(*value) : *this; }

  prometheus::MetricFamily Take() { return std::move(family_); }

 private:
  prometheus::MetricFamily family_;
};

/// Collects families in the order of the page.
class Families {
 public:
  void Add(Family& family) {
    prometheus::MetricFamily taken = family.Take();
    if (!taken.metric.empty()) all_.push_back(std::move(taken));
  }
  template <class T>
  void AddCounter(std::string name, std::string help, const T& value) {
    Add(Family(prometheus::MetricType::Counter, std::move(name), std::move(help)).Add(value));
  }
  template <class T>
  void AddGauge(std::string name, std::string help, const T& value) {
    Add(Family(prometheus::MetricType::Gauge, std::move(name), std::move(help)).Add(value));
  }
  void AddTime(std::string name, std::string help, const TimestampGauge& time_ms) {
    Add(Family(prometheus::MetricType::Gauge, std::move(name), std::move(help)).AddTime(time_ms));
  }
  /// One counter per reason of `Reason`.
  template <class Reason, size_t N>
  void AddReasons(std::string name, std::string help, const std::array<Counter, N>& counts) {
    Family family(prometheus::MetricType::Counter, std::move(name), std::move(help));
    for (size_t i = 0; i < N; ++i) {
      family.Add(counts[i], {{"reason", std::string(ToString(static_cast<Reason>(i)))}});
    }
    Add(family);
  }

  const std::vector<prometheus::MetricFamily>& all() const { return all_; }

 private:
  std::vector<prometheus::MetricFamily> all_;
};

void CollectRemoteWrite(const RemoteWriteCounters& counters, const EngineCounters& engine,
                        Families& families) {
  Family requests(prometheus::MetricType::Counter, "tidemark_remote_write_requests_total",
                  "Remote-write requests by protocol version and status code of the answer.");
  constexpr std::array<const char*, 2> kVersions = {"1.0", "2.0"};
  for (size_t version = 0; version < kVersions.size(); ++version) {
    for (size_t code = 0; code < RemoteWriteCounters::kCodes.size(); ++code) {
      requests.Add(counters.requests[version][code],
                   {{"version", kVersions[version]},
                    {"code", std::to_string(RemoteWriteCounters::kCodes[code])}});
    }
  }
  families.Add(requests);
  families.AddCounter("tidemark_remote_write_series_entries_total",
                      "Entries of series in requests that could be decoded.",
                      counters.series_entries);
  families.AddCounter("tidemark_remote_write_samples_accepted_total", "Samples taken in.",
                      counters.samples_accepted);
  families.AddReasons<IgnoreReason>("tidemark_remote_write_samples_ignored_total",
                                    "Good samples that were not used, by reason.",
                                    counters.samples_ignored);
  families.AddReasons<RejectReason>("tidemark_remote_write_samples_rejected_total",
                                    "Samples refused for good, by reason.",
                                    counters.samples_rejected);
  families.AddReasons<RejectReason>(
      "tidemark_remote_write_series_rejected_total",
      "Entries of series refused for good, also those without samples, by reason.",
      counters.series_rejected);
  families.AddCounter("tidemark_remote_write_series_without_replica_label_total",
                      "Entries of series that no replica label marks as an HA pair's; 0 while "
                      "copies of pairs are not told apart.",
                      counters.series_without_replica);
  families.AddCounter("tidemark_remote_write_stale_markers_total",
                      "Samples that said that their series has ended.", counters.stale_markers);
  families.AddCounter("tidemark_remote_write_exemplars_total",
                      "Exemplars received; they are not used.", counters.exemplars);
  families.AddCounter("tidemark_remote_write_histograms_total",
                      "Native histograms received; they are not used.", counters.histograms);
  families.AddCounter("tidemark_remote_write_metadata_total",
                      "Metadata entries received; they are not used.", counters.metadata);
  families.AddCounter("tidemark_remote_write_received_bytes_total",
                      "Bytes of request bodies as they came, compressed.", counters.received_bytes);
  Family refusals(prometheus::MetricType::Counter, "tidemark_remote_write_overload_refusals_total",
                  "Requests answered 503 so that they come again, by what there was too much of.");
  for (size_t i = 0; i < kRefusalCauseCount; ++i) {
    refusals.Add(counters.overload_refusals[i],
                 {{"cause", std::string(ToString(static_cast<RefusalCause>(i)))}});
  }
  families.Add(refusals);
  families.AddCounter("tidemark_remote_write_unpacked_bytes_total",
                      "Bytes of request bodies after decompression.", counters.unpacked_bytes);
  families.AddGauge("tidemark_remote_write_series", "Series that are known now.",
                    engine.series_now);
  families.AddTime("tidemark_remote_write_highest_timestamp_seconds",
                   "The newest time stamp of any sample taken in.", counters.highest_timestamp_ms);
  families.AddTime("tidemark_remote_write_last_received_timestamp_seconds",
                   "When the last request came that was taken in.", counters.last_received_ms);
}

void CollectHttp(const HttpCounters& counters, Families& families) {
  Family requests(prometheus::MetricType::Counter, "tidemark_http_requests_total",
                  "HTTP requests by class of the answer's status.");
  for (size_t i = 1; i < counters.requests_by_class.size(); ++i) {
    requests.Add(counters.requests_by_class[i], {{"code_class", std::to_string(i) + "xx"}});
  }
  families.Add(requests);
  families.AddGauge("tidemark_http_requests_in_flight", "HTTP requests being answered now.",
                    counters.requests_now);
  families.AddGauge("tidemark_http_queued_requests", "HTTP requests that wait for a worker now.",
                    counters.queued_requests_now);
  families.AddGauge("tidemark_http_inflight_bytes",
                    "Memory booked for bodies under way and for what they unpack to.",
                    counters.inflight_bytes_now);
  families.AddGauge("tidemark_http_inflight_limit_bytes",
                    "What tidemark_http_inflight_bytes may be at most.",
                    counters.inflight_limit_bytes);
  families.AddCounter("tidemark_http_connections_total", "Connections taken.",
                      counters.connections_total);
  families.AddCounter("tidemark_http_connections_refused_total",
                      "Connections closed at once because there were too many.",
                      counters.connections_refused);
  // Not tidemark_http_connections: OpenMetrics calls the family of the counter above so.
  families.AddGauge("tidemark_http_open_connections", "Connections that are open now.",
                    counters.connections_now);
  families.AddCounter("tidemark_http_protocol_errors_total",
                      "Requests that were not HTTP, too large or cut short.",
                      counters.protocol_errors);
  families.AddCounter("tidemark_http_timeouts_total",
                      "Connections closed because the client was too slow.", counters.timeouts);
  families.AddCounter("tidemark_http_connections_evicted_total",
                      "Idle connections closed in favour of new ones.",
                      counters.connections_evicted);
  families.AddCounter("tidemark_http_tls_handshakes_failed_total",
                      "Connections that ended before TLS was agreed on.",
                      counters.tls_handshakes_failed);
  families.AddCounter("tidemark_http_requests_unauthorized_total",
                      "Requests without a valid password or token.",
                      counters.requests_unauthorized);
  families.AddCounter("tidemark_http_requests_rate_limited_total",
                      "Requests over the rate limit of the web configuration.",
                      counters.requests_rate_limited);
  families.AddCounter("tidemark_http_password_checks_total",
                      "Passwords hashed; verdicts that were known already are not counted.",
                      counters.password_checks);
}

/// Nothing where there is no web configuration and no token file.
void CollectWebConfig(const HttpCounters& counters, Families& families) {
  if (counters.web_config_good_now.load(std::memory_order_relaxed) < 0) return;
  families.AddGauge("tidemark_web_config_last_reload_successful",
                    "Whether web configuration, certificates and tokens were good when last read.",
                    counters.web_config_good_now);
  families.AddTime("tidemark_web_config_last_reload_success_timestamp_seconds",
                   "When web configuration, certificates and tokens were last read well.",
                   counters.web_config_loaded_ms);
  families.AddTime("tidemark_web_certificate_expiry_timestamp_seconds",
                   "When the certificate that is served ends to be valid.",
                   counters.certificate_expiry_now_ms);
}

void CollectSources(const Snapshot& snapshot, Families& families) {
  std::vector<SourceStatus> merged;  // a series may stand on the page only once
  for (const SourceStatus& source : snapshot.sources) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const SourceStatus& other) {
      return other.role == source.role && other.metric == source.metric;
    });
    if (same == merged.end()) {
      merged.push_back(source);
      continue;
    }
    same->series += source.series;
    same->last_sample_ms = std::max(same->last_sample_ms, source.last_sample_ms);
  }
  Family series(prometheus::MetricType::Gauge, "tidemark_engine_source_series",
                "Series that are known now, by the role of their metric.");
  Family last_sample(prometheus::MetricType::Gauge,
                     "tidemark_engine_source_last_sample_timestamp_seconds",
                     "The newest sample, by the role of its metric; absent while none has come.");
  for (const SourceStatus& source : merged) {
    const Labels labels = {{"role", source.role}, {"metric", source.metric}};
    series.Add(static_cast<double>(source.series), labels);
    if (source.last_sample_ms)
      last_sample.Add(static_cast<double>(*source.last_sample_ms) / 1000, labels);
  }
  families.Add(series);
  families.Add(last_sample);
}

void CollectEngine(const EngineCounters& counters, const Snapshot& snapshot, Families& families) {
  families.AddGauge("tidemark_engine_namespaces", "Namespaces that are known now.",
                    counters.namespaces_now);
  families.AddGauge("tidemark_engine_workloads", "Workloads that are known now.",
                    counters.workloads_now);
  families.AddGauge("tidemark_engine_pods", "Pods that are known now.", counters.pods_now);
  families.AddGauge("tidemark_engine_containers", "Containers of workloads that are known now.",
                    counters.containers_now);
  families.AddGauge("tidemark_engine_queued_batches", "Batches that wait for a shard now.",
                    counters.queued_batches_now);
  families.AddCounter("tidemark_engine_series_created_total", "Series seen for the first time.",
                      counters.series_created);
  families.AddCounter("tidemark_engine_series_collected_total",
                      "Series forgotten because they ended or fell silent.",
                      counters.series_collected);
  families.AddCounter(
      "tidemark_engine_exported_label_series_total",
      "Series whose identity stood in exported_* labels: their scrape does not honor labels.",
      counters.exported_label_series);
  families.AddCounter(
      "tidemark_engine_nonfinite_samples_total",
      "Samples that were NaN or infinite: taken in, but kept out of every estimate.",
      counters.nonfinite_samples);
  // Plain words instead of "counter" and "minutes": promtool takes them for a type and a unit.
  families.AddCounter("tidemark_engine_usage_resets_total", "Usage counters that began anew.",
                      counters.counter_resets);
  families.AddCounter("tidemark_engine_usage_windows_total",
                      "Minutes of usage fed to the estimators.", counters.usage_minutes);
  families.AddCounter("tidemark_engine_usage_windows_dropped_total",
                      "Minutes of usage left out because samples covered less than half of them.",
                      counters.usage_minutes_dropped);
  families.AddCounter("tidemark_engine_usage_windows_before_past_total",
                      "Minutes of usage left out because a merged past reaches over them.",
                      counters.usage_minutes_before_past);
  families.AddCounter("tidemark_engine_oom_kills_total",
                      "Kills of containers for memory fed to the estimators.", counters.oom_kills);
  families.AddCounter("tidemark_engine_oom_kills_repeated_total",
                      "Kills left out because another series had told them.",
                      counters.oom_kills_repeated);
  families.AddCounter("tidemark_engine_restarts_without_kill_total",
                      "Restarts of containers for another reason than memory, or for none known.",
                      counters.restarts_without_kill);
  families.AddCounter("tidemark_engine_pod_labels_too_long_total",
                      "Label sets of pods that are too long for profiles to select by.",
                      counters.pod_labels_too_long);
  families.AddCounter("tidemark_engine_original_requests_bad_total",
                      "Annotations of pods that should tell original requests and do not.",
                      counters.original_requests_bad);
  families.AddCounter("tidemark_engine_overload_refusals_total",
                      "Batches refused because a queue was full.", counters.overload_refusals);
  families.AddCounter("tidemark_engine_ticks_total",
                      "Runs that brought recommendations up to date.", counters.ticks);
  families.AddTime("tidemark_engine_last_tick_timestamp_seconds",
                   "When recommendations were last brought up to date.", counters.last_tick_ms);
  families.AddGauge(
      "tidemark_engine_last_tick_duration_seconds", "How long the last run took.",
      static_cast<double>(counters.last_tick_duration_us_now.load(std::memory_order_relaxed)) /
          1e6);
  families.AddGauge("tidemark_engine_snapshot_generation",
                    "The number of the Snapshot that this page shows.",
                    static_cast<double>(snapshot.generation));
  CollectSources(snapshot, families);
  families.AddCounter("tidemark_internal_errors_total",
                      "Faults of the program itself that it went on after.",
                      counters.internal_errors);
}

void CollectProcess(const BuildInfo& build, const ProcessStats& process, Families& families) {
  Family info(prometheus::MetricType::Gauge, "tidemark_build_info",
              "What was built, in labels; always 1.");
  info.Add(
      1, {{"version", build.version}, {"revision", build.revision}, {"compiler", build.compiler}});
  families.Add(info);
  const auto add = [&](prometheus::MetricType type, std::string name, std::string help,
                       std::optional<double> value) {
    families.Add(Family(type, std::move(name), std::move(help)).AddIfKnown(value));
  };
  using Type = prometheus::MetricType;
  add(Type::Counter, "process_cpu_seconds_total", "User and system CPU time spent.",
      process.cpu_seconds);
  add(Type::Gauge, "process_open_fds", "File descriptors that are open.", process.open_fds);
  add(Type::Gauge, "process_max_fds", "File descriptors that may be open at most.",
      process.max_fds);
  add(Type::Gauge, "process_virtual_memory_bytes", "Size of the virtual memory.",
      process.virtual_memory_bytes);
  add(Type::Gauge, "process_virtual_memory_max_bytes", "Size of the virtual memory at most.",
      process.virtual_memory_max_bytes);
  add(Type::Gauge, "process_resident_memory_bytes", "Size of the memory that is resident.",
      process.resident_memory_bytes);
  add(Type::Gauge, "process_start_time_seconds", "When the process started.",
      process.start_time_seconds);
}

/// The unit in which a name ends, as OpenMetrics wants it to be told.
std::string_view UnitOf(std::string_view name) {
  if (name.ends_with("_total")) name.remove_suffix(std::string_view("_total").size());
  for (const std::string_view unit : {"seconds", "bytes"}) {
    if (name.ends_with(unit)) return unit;
  }
  return {};
}

void Write(const prometheus::MetricFamily& family, ExpositionWriter& writer) {
  const bool counter = family.type == prometheus::MetricType::Counter;
  writer.BeginFamily({family.name, family.help, counter ? MetricType::kCounter : MetricType::kGauge,
                      UnitOf(family.name)});
  std::vector<LabelView> labels;
  for (const prometheus::ClientMetric& metric : family.metric) {
    labels.clear();
    for (const prometheus::ClientMetric::Label& label : metric.label)
      labels.push_back({label.name, label.value});
    writer.Sample(labels, counter ? metric.counter.value : metric.gauge.value);
  }
}

}  // namespace

void AppendDaemonMetrics(const RemoteWriteCounters& remote_write, const HttpCounters& http,
                         const EngineCounters& engine, const Snapshot& snapshot,
                         const BuildInfo& build, const ProcessStats& process,
                         ExpositionWriter& writer) {
  Families families;
  CollectRemoteWrite(remote_write, engine, families);
  CollectHttp(http, families);
  CollectWebConfig(http, families);
  CollectEngine(engine, snapshot, families);
  CollectProcess(build, process, families);
  for (const prometheus::MetricFamily& family : families.all()) Write(family, writer);
}

}  // namespace tidemark::exporter
