#include "kubernetes/admission.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

#include "kubernetes/admission_review.h"
#include "tests/catch.h"
#include "tests/kubernetes/admission_cases.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;
using rightsizing::testing::Container;
using rightsizing::testing::kGi;
using rightsizing::testing::Pod;
using rightsizing::testing::World;
using testing::Admit;
using testing::Admitted;
using testing::PodJson;
using testing::ReviewJson;
using testing::Webhook;

World Known() {
  World world;
  world.settings.mode = RightsizingMode::kApply;
  world.Advise("app", Resource::kCpu, 0.65);
  world.Advise("app", Resource::kMemory, 1.5 * kGi);
  return world;
}

Webhook Serving(World& world) {
  auto snapshot = world.Shown();
  return Webhook(std::move(snapshot), world.profiles, world.settings);
}

json::object UsualPod() {
  return PodJson(Pod(
      {Container("app", {{"cpu", "2"}, {"memory", "4Gi"}}, {{"cpu", "4"}, {"memory", "6Gi"}})}));
}

Admitted Send(const Webhook& webhook, const json::object& review) {
  return Admit(webhook.Post(json::serialize(review)), "uid-1", review.at("request").at("object"));
}

std::string Audit(const Admitted& admitted, std::string_view key) {
  return std::string(admitted.response.at("auditAnnotations").at(key).as_string());
}

TEST_CASE("A pod gets its requests when it is created", "[kubernetes][admission]") {
  World world = Known();
  const Webhook webhook = Serving(world);
  const json::object review = ReviewJson(UsualPod());
  const Admitted admitted = Send(webhook, review);
  REQUIRE(admitted.patched);

  json::value expected = review.at("request").at("object");
  auto& resources = expected.at("spec").at("containers").at(0).at("resources");
  resources.at("requests") = {{"cpu", "650m"}, {"memory", "1536Mi"}};
  expected.at("metadata").as_object()["annotations"] = {
      {"tidemark.io/original-resources",
       R"({"app":{"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"4","memory":"6Gi"}}})"},
      {"tidemark.io/applied",
       R"({"app":{"cpu":{"request":"650m","rule":"candidate","original":"2"},)"
       R"("memory":{"request":"1536Mi","rule":"candidate","original":"4Gi"}}})"}};
  CHECK(admitted.object == expected);
  CHECK(admitted.response.at("warnings") ==
        json::value({"tidemark: app: cpu 2 -> 650m (candidate)",
                     "tidemark: app: memory 4Gi -> 1536Mi (candidate)"}));
  CHECK(Audit(admitted, "outcome") == "patched");
  CHECK(Audit(admitted, "changes") ==
        "app: cpu 2 -> 650m (candidate); app: memory 4Gi -> 1536Mi (candidate)");
  CHECK(webhook.Count(AdmissionOutcome::kPatched) == 1);

  // Asked again, as after a sidecar injector, it has nothing to add.
  const Admitted again = Send(webhook, ReviewJson(admitted.object.as_object()));
  CHECK_FALSE(again.patched);
  CHECK(webhook.Count(AdmissionOutcome::kUnchanged) == 1);
}

TEST_CASE("What is there is not wiped, what is missing is made", "[kubernetes][admission]") {
  World world = Known();
  world.profile.rule(Resource::kCpu).correction = Correction::kReplace;
  const Webhook webhook = Serving(world);
  json::object pod = PodJson(Pod({Container("app", {})}));
  SECTION("annotations of others stay") {
    pod["metadata"].as_object()["annotations"] = {{"example.com/a~b", "c"}};
    const Admitted admitted = Send(webhook, ReviewJson(pod));
    const json::value& annotations = admitted.object.at("metadata").at("annotations");
    CHECK(annotations.at("example.com/a~b") == "c");
    CHECK(annotations.as_object().contains("tidemark.io/applied"));
  }
  SECTION("null is nothing") {
    pod["metadata"].as_object()["annotations"] = nullptr;
    auto& container = pod["spec"].at("containers").at(0).as_object();
    SECTION("no resources") { container["resources"] = nullptr; }
    SECTION("no requests") { container["resources"] = {{"requests", nullptr}}; }
    SECTION("neither") { container.erase("resources"); }
    const Admitted admitted = Send(webhook, ReviewJson(pod));
    CHECK(admitted.object.at("spec")
              .at("containers")
              .at(0)
              .at("resources")
              .at("requests")
              .at("cpu") == "650m");
  }
}

TEST_CASE("A sidecar is patched where it stands", "[kubernetes][admission]") {
  World world = Known();
  world.Advise("mesh", Resource::kCpu, 0.1);
  const Webhook webhook = Serving(world);
  auto prepare = Container("prepare", {{"cpu", "1"}});
  auto mesh = Container("mesh", {{"cpu", "1"}});
  prepare.is_init = mesh.is_init = mesh.is_sidecar = true;
  const Admitted admitted = Send(webhook, ReviewJson(PodJson(Pod({prepare, mesh}))));
  CHECK(admitted.object.at("spec")
            .at("initContainers")
            .at(1)
            .at("resources")
            .at("requests")
            .at("cpu") == "100m");
  CHECK(admitted.object.at("spec")
            .at("initContainers")
            .at(0)
            .at("resources")
            .at("requests")
            .at("cpu") == "1");
}

TEST_CASE("Modes decide what is done", "[kubernetes][admission]") {
  World world = Known();
  json::object pod = UsualPod();
  const auto label = [&](const char* mode) {
    pod["metadata"].at("labels").as_object()["tidemark.io/mode"] = mode;
  };
  SECTION("dry-run says it") {
    world.settings.mode = RightsizingMode::kDryRun;
    const Webhook webhook = Serving(world);
    const Admitted admitted = Send(webhook, ReviewJson(pod));
    CHECK_FALSE(admitted.patched);
    CHECK(admitted.response.at("warnings").at(0) ==
          "tidemark (dry run): app: cpu 2 -> 650m (candidate)");
    CHECK(webhook.Count(AdmissionOutcome::kDryRun) == 1);
    label("apply");
    CHECK(Send(webhook, ReviewJson(pod)).patched);
  }
  SECTION("off is off") {
    world.settings.mode = RightsizingMode::kOff;
    const Webhook webhook = Serving(world);
    CHECK_FALSE(Send(webhook, ReviewJson(pod)).patched);
    CHECK(webhook.Count(AdmissionOutcome::kOff) == 1);
  }
  SECTION("by namespace") {
    world.settings.rules.push_back(
        {*Selector::Parse(R"({namespace="shop"})"), RightsizingMode::kOff});
    const Webhook webhook = Serving(world);
    label("apply");
    CHECK_FALSE(Send(webhook, ReviewJson(pod)).patched);
  }
}

TEST_CASE("Whatever is not the creation of a pod is let in as it is", "[kubernetes][admission]") {
  World world = Known();
  const Webhook webhook = Serving(world);
  json::object review = ReviewJson(UsualPod());
  json::object& request = review["request"].as_object();
  std::string why;
  SECTION("version") {
    review["apiVersion"] = "admission.k8s.io/v1beta1";
    why = "it is no AdmissionReview of admission.k8s.io/v1";
  }
  SECTION("operation") {
    request["operation"] = "UPDATE";
    why = "the pod is not being created";
  }
  SECTION("an old object") {
    request["oldObject"] = request["object"];
    why = "the pod is not being created";
  }
  SECTION("subresource") {
    request["subResource"] = "resize";
    why = "it is about a subresource";
  }
  SECTION("resource") {
    request["resource"] = {{"group", "apps"}, {"version", "v1"}, {"resource", "deployments"}};
    why = "it is not about pods of v1";
  }
  SECTION("object") {
    request["object"] = nullptr;
    why = "there is no object";
  }
  SECTION("kind of object") {
    request["object"].as_object()["kind"] = "Deployment";
    why = "the object is no pod";
  }
  SECTION("spec") {
    request["object"].as_object().erase("spec");
    why = "the object's spec is not there";
  }
  SECTION("containers") {
    request["object"].at("spec").as_object()["containers"] = "app";
    why = "the object's containers is not a list";
  }
  SECTION("number of containers") {
    request["object"].at("spec").as_object()["containers"] = json::array(2000, json::object());
    why = "the object's containers is not a list of at most 1024";
  }
  SECTION("quantities") {
    request["object"]
        .at("spec")
        .at("containers")
        .at(0)
        .at("resources")
        .at("requests")
        .as_object()["cpu"] = true;
    why = "the object's requests is not made of quantities";
  }
  SECTION("labels") {
    request["object"].at("metadata").as_object()["labels"] = {{"a", 1}};
    why = "the object's labels is not made of strings";
  }
  const Admitted admitted = Send(webhook, review);
  CHECK_FALSE(admitted.patched);
  CHECK(Audit(admitted, "reason") == why);
  CHECK(webhook.Count(AdmissionOutcome::kBad) == 1);
}

TEST_CASE("A pod of which nothing is known is left alone", "[kubernetes][admission]") {
  World world = Known();
  json::object review = ReviewJson(UsualPod());
  json::object& metadata = review["request"].at("object").at("metadata").as_object();
  std::string why;
  SECTION("no controller") {
    metadata["ownerReferences"].as_array().pop_back();
    why = "whose pod it is is not known";
  }
  SECTION("mirror of a static pod") {
    metadata["ownerReferences"].at(1).as_object()["kind"] = "Node";
    why = "whose pod it is is not known";
  }
  SECTION("another workload") {
    metadata["ownerReferences"].at(1).as_object()["name"] = "other-7d9f8c6b5";
    why = "nothing is known of its workload";
  }
  SECTION("another namespace") {
    review["request"].as_object()["namespace"] = "elsewhere";
    why = "nothing is known of its workload";
  }
  const Webhook webhook = Serving(world);
  const Admitted admitted = Send(webhook, review);
  CHECK_FALSE(admitted.patched);
  CHECK(Audit(admitted, "reason") == why);
  CHECK(webhook.Count(AdmissionOutcome::kUnknown) == 1);
}

TEST_CASE("The namespace is the request's, or the pod's", "[kubernetes][admission]") {
  World world = Known();
  const Webhook webhook = Serving(world);
  json::object review = ReviewJson(UsualPod());
  review["request"].as_object().erase("namespace");
  CHECK_FALSE(Send(webhook, review).patched);
  review["request"].at("object").at("metadata").as_object()["namespace"] = "shop";
  CHECK(Send(webhook, review).patched);
}

TEST_CASE("Before state is recovered pods are let in as they are", "[kubernetes][admission]") {
  World world = Known();
  Webhook webhook = Serving(world);
  webhook.ready = false;
  const Admitted admitted = Send(webhook, ReviewJson(UsualPod()));
  CHECK_FALSE(admitted.patched);
  CHECK(Audit(admitted, "reason") == "tidemark is not ready yet");
}

TEST_CASE("Pods are those of the cluster that the port serves", "[kubernetes][admission]") {
  World world = Known();
  auto snapshot = std::make_shared<Snapshot>(*world.Shown());
  auto east = std::make_shared<NamespaceBlock>(*snapshot->blocks.front());
  east->cluster = "east";
  east->workloads.front().id.cluster = "east";
  SECTION("the only one") {
    snapshot->blocks = {east};
    const Webhook webhook(snapshot, world.profiles, world.settings);
    CHECK(Send(webhook, ReviewJson(UsualPod())).patched);
  }
  SECTION("the one that is said, of several") {
    snapshot->blocks.push_back(east);
    Webhook webhook(snapshot, world.profiles, world.settings);
    const Admitted admitted = Send(webhook, ReviewJson(UsualPod()));
    CHECK_FALSE(admitted.patched);
    CHECK(Audit(admitted, "reason") == "which cluster asks is not known");
    webhook.cluster = "east";
    CHECK(Send(webhook, ReviewJson(UsualPod())).patched);
    webhook.cluster = "west";
    CHECK_FALSE(Send(webhook, ReviewJson(UsualPod())).patched);
  }
}

TEST_CASE("An error of ours lets the pod in", "[kubernetes][admission]") {
  const Webhook webhook(nullptr, nullptr, {});
  CHECK_FALSE(Send(webhook, ReviewJson(UsualPod())).patched);

  KubernetesCounters counters;
  class Broken final : public SnapshotReader {
   public:
    std::shared_ptr<const Snapshot> Current() const override { throw std::bad_alloc(); }
  };
  class Nobody final : public Authenticator {
   public:
    tl::expected<Identity, Denied> Authenticate(const HttpRequest&) const override {
      return tl::unexpected(Denied());
    }
  };
  const Broken broken;
  const Nobody nobody;
  const ManualClock clock(FromUnixMs(0));
  const HttpRoute route = AdmissionRoute(
      {broken, clock, nobody, counters, nullptr, nullptr, nullptr, [] { return true; }});
  HttpRequest request;
  const json::object review = ReviewJson(UsualPod());
  request.body = json::serialize(review);
  const Admitted admitted =
      Admit(route.handler(request), "uid-1", review.at("request").at("object"));
  CHECK_FALSE(admitted.patched);
  CHECK(Audit(admitted, "outcome") == "failed");
  CHECK(counters.admissions[static_cast<size_t>(AdmissionOutcome::kFailed)] == 1);
}

TEST_CASE("Only what no AdmissionReview can answer is an error", "[kubernetes][admission]") {
  World world = Known();
  const Webhook webhook = Serving(world);
  const std::string deep = R"({"request":{"uid":"a","x":)" + std::string(200, '[');
  std::string brackets = R"({"request":{"uid":"a","x":[)";
  while (brackets.size() < kMaxReviewBytes - 8) brackets += "[],";
  brackets += "[]]}}";
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string(R"({"request":{}})"),
        std::string(R"({"request":{"uid":7}})"), std::string(R"({"request":{"uid":""}})"), deep,
        brackets, std::string(kMaxReviewBytes + 1, ' ')}) {
    const HttpResponse answer = webhook.Post(body);
    CHECK(answer.status == 400);
    const json::value status = json::parse(answer.body);
    CHECK(status.at("kind") == "Status");
    CHECK(status.at("reason") == "BadRequest");
  }
  CHECK(webhook.Count(AdmissionOutcome::kBad) == 9);
  // With a uid there is an answer.
  CHECK_FALSE(Admit(webhook.Post(R"({"request":{"uid":"a"}})"), "a", {}).patched);
}

TEST_CASE("Many changes make few warnings", "[kubernetes][admission]") {
  World world = Known();
  world.settings.mode = RightsizingMode::kApply;
  std::vector<rightsizing::PodContainer> containers;
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::string(100, 'a') + "\n\xC3\xA4" + std::to_string(i);
    world.Advise(name, Resource::kCpu, 0.5);
    containers.push_back(Container(name, {{"cpu", "1"}}));
  }
  const Webhook webhook = Serving(world);
  const Admitted admitted = Send(webhook, ReviewJson(PodJson(Pod(std::move(containers)))));
  CHECK(admitted.patched);
  CHECK(admitted.response.at("warnings").as_array().size() == 4);
  CHECK(admitted.response.at("warnings").at(3) == "tidemark: and 17 more");
}

}  // namespace
}  // namespace tidemark::kubernetes
