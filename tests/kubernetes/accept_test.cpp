#include "kubernetes/accept.h"

#include "tests/catch.h"

using namespace tidemark::kubernetes;

TEST_CASE("what kubectl, the HPA and the aggregator accept", "[kubernetes][accept]") {
  // kube-controller-manager, kubectl get --raw, kubectl get, kubectl get of 1.14.
  CHECK(AcceptedMetricForm("application/vnd.kubernetes.protobuf, */*") == MetricForm::kList);
  CHECK(AcceptedMetricForm("application/json, */*") == MetricForm::kList);
  CHECK(AcceptedMetricForm("application/json;as=Table;v=v1;g=meta.k8s.io,"
                           "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json") ==
        MetricForm::kTable);
  CHECK(AcceptedMetricForm("application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json") ==
        MetricForm::kTableV1beta1);
  CHECK(AcceptedDiscoveryForm(
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList") ==
        DiscoveryForm::kAggregated);
  CHECK(AcceptedDiscoveryForm(
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
            "application/json") == DiscoveryForm::kAggregatedV2beta1);
  CHECK(AcceptedDiscoveryForm("application/json") == DiscoveryForm::kPlain);
}

TEST_CASE("quality and order decide", "[kubernetes][accept]") {
  CHECK(
      AcceptedMetricForm("application/json;q=0.5, application/json;as=Table;v=v1;g=meta.k8s.io") ==
      MetricForm::kTable);
  CHECK(AcceptedMetricForm(
            "application/json;as=Table;v=v1;g=meta.k8s.io;q=0.1, application/json;q=0.2") ==
        MetricForm::kList);
  CHECK(AcceptedMetricForm("APPLICATION/JSON ; Q=1") == MetricForm::kList);
  CHECK(AcceptedMetricForm("text/html, application/*;q=0.1") == MetricForm::kList);
  // Forms that there are not are passed over.
  CHECK(AcceptedMetricForm("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,"
                           "application/json") == MetricForm::kList);
  CHECK(AcceptedMetricForm("application/json;as=Table;v=v9;g=meta.k8s.io,*/*") ==
        MetricForm::kList);
}

TEST_CASE("nothing and anything are taken, what cannot be sent is not", "[kubernetes][accept]") {
  CHECK(AcceptedMetricForm("") == MetricForm::kList);
  CHECK(AcceptedMetricForm("*/*") == MetricForm::kList);
  CHECK(AcceptsJson(""));
  for (const char* const none :
       {"application/vnd.kubernetes.protobuf", "text/plain", "application/json;q=0",
        "application/json;q=2", "application/json;as=Table;v=v1;g=other", "application/yaml"}) {
    CAPTURE(none);
    CHECK_FALSE(AcceptedMetricForm(none));
    CHECK_FALSE(AcceptsJson(none));
  }
  CHECK_FALSE(AcceptedDiscoveryForm("application/json;as=Table;v=v1;g=meta.k8s.io"));
  for (const char* const odd :
       {",", ";", ";;q=;", "a/b;q", ",,,application/json", "application/json;"}) {
    CAPTURE(odd);
    CHECK_NOTHROW(AcceptedMetricForm(odd));
  }
}
