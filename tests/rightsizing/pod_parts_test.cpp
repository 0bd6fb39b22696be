// The smaller parts that a plan is made of.

#include "model/label.h"
#include "rightsizing/original_annotation.h"
#include "rightsizing/pod_labels.h"
#include "rightsizing/pod_plan.h"
#include "rightsizing/qos_class.h"
#include "tests/catch.h"
#include "workloads/pod_labels.h"

namespace tidemark::rightsizing {
namespace {

TEST_CASE("Labels are called as kube-state-metrics calls them", "[rightsizing][labels]") {
  const std::string encoded = ProfileLabels({{"app.kubernetes.io/name", "web"},
                                             {"fooBar", "1"},
                                             {"HTTPServer2Go", "2"},
                                             {"empty", ""},
                                             {"pod-template-hash", "7d9f8c6b5"},
                                             {"batch.kubernetes.io/job-name", "x"},
                                             {"a-b", "3"},
                                             {"a.b", "4"}});
  std::vector<LabelView> labels;
  REQUIRE(DecodeLabels(encoded, labels));
  CHECK(labels == std::vector<LabelView>{{"label_a_b_conflict1", "3"},
                                         {"label_a_b_conflict2", "4"},
                                         {"label_app_kubernetes_io_name", "web"},
                                         {"label_foo_bar", "1"},
                                         {"label_httpserver2_go", "2"}});
  // The same bytes that the engine makes of the series.
  CHECK(workloads::ReadPodLabels(labels).stable == encoded);
  CHECK(ProfileLabels({{"long", std::string(5000, 'x')}}).empty());
}

TEST_CASE("QoS classes are Kubernetes'", "[rightsizing][qos]") {
  using Pair = ContainerResources::Pair;
  const Pair none;
  const Pair full{2, 2};
  const auto of = [](std::vector<ContainerResources> all) { return QosClassOf(all); };
  CHECK(of({}) == QosClass::kBestEffort);
  CHECK(of({{none, none}, {Pair{0, std::nullopt}, none}}) == QosClass::kBestEffort);
  CHECK(of({{full, full}}) == QosClass::kGuaranteed);
  CHECK(of({{full, full}, {full, none}}) == QosClass::kBurstable);
  CHECK(of({{full, full}, {none, none}}) == QosClass::kBurstable);
  CHECK(of({{full, Pair{1, 2}}}) == QosClass::kBurstable);
  CHECK(of({{full, Pair{0, 0}}}) == QosClass::kBurstable);
  CHECK(of({{Pair{1, std::nullopt}, none}}) == QosClass::kBurstable);
}

TEST_CASE("The record of originals is read and written", "[rightsizing][annotation]") {
  const std::string text =
      R"({"app":{"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"4"}},"sidecar":{}})";
  const auto read = ParseOriginalAnnotation(text);
  REQUIRE(read);
  CHECK(read->at("app").requests == QuantityMap{{"cpu", "2"}, {"memory", "4Gi"}});
  CHECK(ToJson(*read) == text);
  CHECK(ParseOriginalAnnotation(R"({"a":{"requests":{"cpu":0.5},"limits":null}})")
            ->at("a")
            .requests.at("cpu") == "0.5");
  for (const char* const wrong :
       {"", "[]", "{", R"({"a":1})", R"({"a":{"requests":[]}})", R"({"a":{"limits":{"cpu":"x"}}})",
        R"({"a":{"requests":{"cpu":"-1"}}})", R"({"a":{"requests":{"cpu":true}}})"}) {
    INFO(wrong);
    CHECK_FALSE(ParseOriginalAnnotation(wrong));
  }
  CHECK_FALSE(ParseOriginalAnnotation("{" + std::string(kMaxAnnotationBytes, ' ') + "}"));
}

TEST_CASE("A pod's label says what is done with it, but where a rule says off",
          "[rightsizing][mode]") {
  RightsizingSettings settings;
  const auto rule = [&](const char* selector, RightsizingMode mode) {
    settings.rules.push_back({*Selector::Parse(selector), mode});
  };
  rule(R"({namespace="kube-system"})", RightsizingMode::kOff);
  rule(R"({workload_type="deployment", workload=~"web.*"})", RightsizingMode::kApply);
  settings.mode = RightsizingMode::kDryRun;
  PodView pod;
  const auto mode = [&](const char* name_space, const char* workload, const char* label) {
    pod.workload = {"", name_space, "deployment", workload};
    pod.labels.clear();
    if (*label != '\0') pod.labels["tidemark.io/mode"] = label;
    return ModeOf(pod, settings);
  };
  CHECK(mode("shop", "web-2", "") == RightsizingMode::kApply);
  CHECK(mode("shop", "other", "") == RightsizingMode::kDryRun);
  CHECK(mode("shop", "web", "off") == RightsizingMode::kOff);
  CHECK(mode("shop", "web", "dry-run") == RightsizingMode::kDryRun);
  CHECK(mode("shop", "other", "apply") == RightsizingMode::kApply);
  CHECK(mode("shop", "other", "on") == RightsizingMode::kOff);
  CHECK(mode("kube-system", "web", "apply") == RightsizingMode::kOff);
}

}  // namespace
}  // namespace tidemark::rightsizing
