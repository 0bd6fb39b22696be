// What is told of the daemon itself, its stream, and the Prometheus beside it.

#include "cmd/doctor/checks.h"
#include "cmd/doctor/exposition_reader.h"
#include "cmd/doctor/times.h"
#include "tests/doctor/fake_world.h"

namespace tidemark::doctor {
namespace {

constexpr std::string_view kGoodMetrics =
    "# HELP tidemark_config_last_reload_successful x\n"
    "tidemark_config_last_reload_successful 1\n"
    "tidemark_remote_write_samples_accepted_total 9900\n"
    "tidemark_remote_write_samples_ignored_total{reason=\"no_role\"} 90\n"
    "tidemark_remote_write_samples_ignored_total{reason=\"late\"} 5\n"
    "tidemark_remote_write_samples_rejected_total{reason=\"too_old\"} 5\n"
    "tidemark_engine_exported_label_series_total 0\n";

constexpr int64_t kNow = 1'700'000'000'000;  // 2023-11-14T22:13:20Z

std::string Sources(const std::string& last, const std::vector<std::string_view>& without = {}) {
  std::string list;
  for (const std::string_view role :
       {"usage_counter", "usage_gauge", "pod_owner", "replicaset_owner", "request", "limit",
        "replicas", "autoscaler_info", "original_request"}) {
    const bool missing = std::find(without.begin(), without.end(), role) != without.end();
    list +=
        std::string(list.empty() ? "" : ",") + R"({"role":")" + std::string(role) +
        R"(","metric":"m","series":)" +
        (missing ? "0,\"missing\":true}" : "3,\"last_sample\":\"" + last + "\",\"missing\":false}");
  }
  return R"({"status":"success","data":{"generation":1,"sources":[)" + list + "]}}";
}

struct World {
  World() {
    tidemark.Answer("/-/ready", "ready");
    tidemark.Answer("/api/v1/status/buildinfo",
                    R"({"status":"success","data":{"version":"1.2.3"}})");
    tidemark.Answer("/metrics", std::string(kGoodMetrics));
    tidemark.Answer("/api/v1/status/sources", Sources("2023-11-14T22:13:00.000Z"));
    installation.tidemark = &tidemark;
    installation.version = "1.2.3";
    installation.now_ms = kNow;
  }
  FakeAsker tidemark;
  Installation installation;
};

std::string Vector(const std::string& series) {
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + series + "]}}";
}

}  // namespace

TEST_CASE("a daemon in good health is found so", "[doctor][tidemark]") {
  World world;
  const Findings tidemark = CheckTidemark(world.installation);
  CHECK(tidemark.Count(Verdict::kOk) == tidemark.all().size());
  CHECK(VerdictOf(tidemark, "tidemark.configuration") == "ok");
  const Findings stream = CheckStream(world.installation);
  CHECK(stream.Count(Verdict::kOk) == stream.all().size());
  CHECK(VerdictOf(stream, "stream.usage") == "ok");
  CHECK(VerdictOf(stream, "stream.rejected") == "ok");
}

TEST_CASE("why the daemon cannot be asked is told", "[doctor][tidemark]") {
  World world;
  world.tidemark.Refuse("/-/ready", 503);
  CHECK(Has(TextOf(CheckTidemark(world.installation), "tidemark.ready"), "not ready"));
  world.tidemark.Refuse("/-/ready", 401);
  CHECK(
      Has(TextOf(CheckTidemark(world.installation), "tidemark.ready"), "--tidemark.password-file"));
  world.tidemark.Refuse("/-/ready", 0);
  CHECK(VerdictOf(CheckTidemark(world.installation), "tidemark.ready") == "problem");
  CHECK(VerdictOf(CheckTidemark({}), "tidemark.ready") == "skipped");
  CHECK(VerdictOf(CheckStream({}), "stream.usage") == "skipped");
}

TEST_CASE("another version and a failed reload are told", "[doctor][tidemark]") {
  World world;
  world.installation.version = "2.0.0";
  world.tidemark.Answer("/metrics",
                        "tidemark_config_last_reload_successful 0\n"
                        "tidemark_web_config_last_reload_successful 0\n");
  const Findings findings = CheckTidemark(world.installation);
  CHECK(VerdictOf(findings, "tidemark.version") == "warning");
  CHECK(VerdictOf(findings, "tidemark.configuration") == "problem");
  CHECK(Has(TextOf(findings, "tidemark.web_configuration"), "check-web-config"));
  world.tidemark.Answer("/api/v1/status/buildinfo", R"({"status":"success","data":{}})");
  CHECK(VerdictOf(CheckTidemark(world.installation), "tidemark.version") == "problem");
}

TEST_CASE("series that are missing in the stream are told with what to send", "[doctor][stream]") {
  World world;
  world.tidemark.Answer("/api/v1/status/sources",
                        Sources("2023-11-14T22:13:00.000Z",
                                {"usage_counter", "request", "limit", "original_request"}));
  const Findings findings = CheckStream(world.installation);
  CHECK(VerdictOf(findings, "stream.usage") == "problem");
  CHECK(VerdictOf(findings, "stream.requests") == "problem");
  CHECK(Has(TextOf(findings, "stream.requests"), "kube_pod_container_resource_requests"));
  CHECK(VerdictOf(findings, "stream.limits") == "warning");
  CHECK(VerdictOf(findings, "stream.original_requests") == "ok");
  CHECK(VerdictOf(findings, "stream.memory") == "ok");
}

TEST_CASE("what owners wrote is missed where pods are right-sized", "[doctor][stream]") {
  World world;
  FakeAsker kubernetes;
  world.installation.kubernetes = &kubernetes;
  world.tidemark.Answer("/api/v1/status/sources",
                        Sources("2023-11-14T22:13:00.000Z", {"original_request"}));
  CHECK(VerdictOf(CheckStream(world.installation), "stream.original_requests") == "ok");
  kubernetes.Answer("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
                    R"({"items":[{"webhooks":[{"clientConfig":{"service":)"
                    R"({"namespace":"tidemark","name":"tidemark"}}}]}]})");
  const Findings findings = CheckStream(world.installation);
  CHECK(VerdictOf(findings, "stream.original_requests") == "warning");
  CHECK(Has(TextOf(findings, "stream.original_requests"), "--metric-annotations-allowlist"));
}

TEST_CASE("memory is not known by a GPU's gauge", "[doctor][stream]") {
  World world;
  world.tidemark.Answer(
      "/api/v1/status/sources",
      R"({"data":{"sources":[{"role":"usage_gauge","metric":"DCGM_FI_DEV_GPU_UTIL","series":3,)"
      R"("last_sample":"2023-11-14T22:13:00Z"}]}})");
  CHECK(VerdictOf(CheckStream(world.installation), "stream.memory") == "problem");
}

TEST_CASE("a stream that stands still is told", "[doctor][stream]") {
  World world;
  const auto age = [&](const std::string& last) {
    world.tidemark.Answer("/api/v1/status/sources", Sources(last));
    return VerdictOf(CheckStream(world.installation), "stream.age");
  };
  CHECK(age("2023-11-14T22:13:19.999Z") == "ok");
  CHECK(age("2023-11-14T22:10:40Z") == "warning");
  CHECK(age("2023-11-14T22:05:00Z") == "problem");
  CHECK(age("2023-11-14T22:20:00Z") == "warning");
  CHECK(age("yesterday") == "problem");
  world.tidemark.Answer("/api/v1/status/sources", R"({"data":{"sources":[)"
                                                  R"({"role":"limit","metric":"a","series":1,)"
                                                  R"("last_sample":"2023-11-14T20:00:00Z"},)"
                                                  R"({"role":"request","metric":"b","series":1,)"
                                                  R"("last_sample":"2023-11-14T22:13:00Z"}]}})");
  CHECK(Has(TextOf(CheckStream(world.installation), "stream.stopped"), "limit"));
}

TEST_CASE("samples that are refused, late or of no use are told", "[doctor][stream]") {
  World world;
  world.tidemark.Answer(
      "/metrics",
      "tidemark_remote_write_samples_accepted_total 10\n"
      "tidemark_remote_write_samples_ignored_total{reason=\"no_role\"} 9500\n"
      "tidemark_remote_write_samples_ignored_total{reason=\"duplicate\"} 600\n"
      "tidemark_remote_write_samples_rejected_total{reason=\"too_far_in_future\"} 200\n"
      "tidemark_engine_exported_label_series_total 7\n");
  const Findings findings = CheckStream(world.installation);
  CHECK(Has(TextOf(findings, "stream.rejected"), "too_far_in_future"));
  CHECK(VerdictOf(findings, "stream.rejected") == "warning");
  CHECK(VerdictOf(findings, "stream.late") == "warning");
  CHECK(VerdictOf(findings, "stream.unused") == "warning");
  CHECK(Has(TextOf(findings, "stream.labels"), "honor_labels"));
}

TEST_CASE("what the daemon says of its Kubernetes port is told", "[doctor][port]") {
  World world;
  CHECK(VerdictOf(CheckPort({}), "port.authentication") == "skipped");
  CHECK(Has(TextOf(CheckPort(world.installation), "port.authentication"), "listen-address"));
  world.tidemark.Answer("/metrics",
                        "tidemark_kubernetes_authentication_good 1\n"
                        "tidemark_kubernetes_certificate_good 1\n"
                        "tidemark_kubernetes_metric_answers_total{outcome=\"ambiguous\"} 0\n");
  const Findings good = CheckPort(world.installation);
  CHECK(good.all().size() == 2);
  CHECK(good.Count(Verdict::kOk) == 2);
  world.tidemark.Answer("/metrics",
                        "tidemark_kubernetes_authentication_good 0\n"
                        "tidemark_kubernetes_certificate_good 0\n"
                        "tidemark_kubernetes_metric_answers_total{outcome=\"ambiguous\"} 3\n"
                        "tidemark_kubernetes_admissions_total{outcome=\"failed\"} 1\n"
                        "tidemark_kubernetes_admissions_total{outcome=\"bad\"} 1\n");
  const Findings bad = CheckPort(world.installation);
  CHECK(VerdictOf(bad, "port.authentication") == "problem");
  CHECK(VerdictOf(bad, "port.certificate") == "problem");
  CHECK(VerdictOf(bad, "port.ambiguous") == "warning");
  CHECK(Has(TextOf(bad, "port.admissions"), "2 pods"));
}

TEST_CASE("labels that were moved aside are found in Prometheus", "[doctor][labels]") {
  FakeAsker prometheus;
  std::vector<std::pair<std::string, std::string>> by_part;  // the first that is part of a query
  prometheus.handler = [&](const client::Request& request) -> Reply {
    for (const auto& [part, series] : by_part) {
      if (Has(request.query.front().second, part)) return {.status = 200, .body = Vector(series)};
    }
    return {.status = 200, .body = Vector("")};
  };
  Installation installation;
  installation.prometheus = &prometheus;
  const std::string one = R"({"metric":{},"value":[1,"1"]})";

  CHECK(VerdictOf(CheckLabels(installation), "labels.scraped") == "warning");
  by_part = {{"count(tidemark_build_info)", one}};
  const Findings good = CheckLabels(installation);
  CHECK(good.Count(Verdict::kOk) == good.all().size());
  CHECK(VerdictOf(good, "labels.honored") == "ok");

  const std::string owner = R"({"metric":{"__name__":"kube_pod_owner"},"value":[1,"3"]})";
  by_part = {{"count(tidemark_build_info)", R"({"metric":{},"value":[1,"2"]})"},
             {"tidemark_target_replicas", one},
             {"exported_namespace", owner},
             {"kubernetes_namespace", owner}};
  const Findings bad = CheckLabels(installation);
  CHECK(VerdictOf(bad, "labels.scraped") == "warning");
  CHECK(VerdictOf(bad, "labels.honored") == "problem");
  CHECK(Has(TextOf(bad, "labels.honored"), "honor_labels: true"));
  CHECK(Has(TextOf(bad, "labels.exported"), "kube_pod_owner"));
  CHECK(VerdictOf(bad, "labels.renamed") == "problem");

  prometheus.handler = [](const client::Request&) -> Reply {
    return {.status = 0, .trouble = "refused"};
  };
  CHECK(VerdictOf(CheckLabels(installation), "labels.exported") == "skipped");
  CHECK(VerdictOf(CheckLabels({}), "labels.exported") == "skipped");
}

TEST_CASE("metrics are read out of an exposition text", "[doctor][exposition]") {
  const std::string text =
      "a 1\na_total 2\na{x=\"}\\\"\",reason=\"late\"} 3\na{reason=\"late\"} 4\n"
      "a{reason=\"x} 5\nb NaN\nb{ 1\nb\nb x\na{other_reason=\"late\"} 8";
  CHECK(MetricValue(text, "a") == 1);
  CHECK(MetricValue(text, "a_total") == 2);
  CHECK_FALSE(MetricValue(text, "c"));
  const auto by_reason = MetricByLabel(text, "a", "reason");
  CHECK(by_reason.at("late") == 7);
  CHECK(by_reason.at("") == 9);
}

TEST_CASE("times are read and written", "[doctor][times]") {
  CHECK(ParseTime("2023-11-14T22:13:20Z") == kNow);
  CHECK(ParseTime("2023-11-14T22:13:20.999Z") == kNow);
  for (const char* const bad :
       {"", "2023", "2023-13-14T22:13:20Z", "2023-02-30T22:13:20Z", "2023-11-14T22:13:20",
        "2023-11-14T25:13:20Z", "20231-11-14T22:13:20Z", "2023-11-14 22:13:20Z"}) {
    INFO(bad);
    CHECK_FALSE(ParseTime(bad));
  }
  CHECK(DurationText(7'000) == "7s");
  CHECK(DurationText(250'000) == "4m10s");
  CHECK(DurationText(11'520'000) == "3h12m");
  CHECK(DurationText(1'036'800'000) == "12d");
  CHECK(DayText(kNow) == "2023-11-14");
}

}  // namespace tidemark::doctor
