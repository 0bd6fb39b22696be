// Manifests with requests set: what changes, and that nothing else does.

#include "rightsizing/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "rightsizing/yaml_source.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::rightsizing;

namespace {

/// Of each container that is called app: cpu 650m, memory 512Mi; and both annotations.
PodPlan PlanForApps(const PodView& pod) {
  PodPlan plan;
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    const PodContainer& container = pod.containers[i];
    if (container.name != "app" || container.is_init) continue;
    for (const auto& [resource, after] :
         {std::pair<std::string, std::string>("cpu", "650m"), {"memory", "512Mi"}}) {
      const auto written = container.requests.find(resource);
      const std::string before = written == container.requests.end() ? "" : written->second;
      if (before == after) continue;
      plan.changes.push_back({i, resource, before, after, CorrectionRule::kCandidate, "because"});
    }
  }
  const auto set = [](const std::optional<std::string>& present, std::string value) {
    return present == value ? std::nullopt : std::optional(std::move(value));
  };
  if (plan.changes.empty()) return plan;
  plan.original_annotation = set(pod.original_annotation, R"({"app":{"requests":{"cpu":"2"}}})");
  plan.applied_annotation = set(pod.applied_annotation, "{\"it's\":1}");
  return plan;
}

/// Only requests.
PodPlan PlanForRequests(const PodView& pod) {
  PodPlan plan = PlanForApps(pod);
  plan.original_annotation.reset();
  plan.applied_annotation.reset();
  return plan;
}

RightsizedManifest Done(std::string_view text, const PodPlanner& plan = PlanForRequests) {
  CAPTURE(text);
  auto done = RightsizeManifest(text, "", plan);
  INFO((done ? "" : done.error().message));
  REQUIRE(done);
  // A second run has nothing to do.
  const auto again = RightsizeManifest(done->text, "", plan);
  REQUIRE(again);
  CHECK(again->text == done->text);
  CHECK(again->changes.empty());
  return *std::move(done);
}

std::string Wrong(std::string_view text) {
  const auto done = RightsizeManifest(text, "", PlanForRequests);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == ErrorCode::kInvalidArgument);
  return done.error().message;
}

constexpr std::string_view kDeployment = R"(# The shop's front.
apiVersion: apps/v1
kind: Deployment   # not a StatefulSet
metadata:
  name: web
  namespace: shop
spec:
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
        - name: app   # the one
          image: "web:1"
          resources:
            requests:
              cpu: "2"     # too much
              memory: 4Gi
            limits:
              cpu: 4
        - name: proxy
          image: proxy
)";

}  // namespace

TEST_CASE("only requests change in a manifest", "[rightsizing][manifest]") {
  const RightsizedManifest done = Done(kDeployment);
  std::string expected(kDeployment);
  expected.replace(expected.find("\"2\" "), 4, "\"650m\" ");
  expected.replace(expected.find("4Gi"), 3, "512Mi");
  CHECK(done.text == expected);
  REQUIRE(done.changes.size() == 2);
  const ManifestLine& line = done.changes[0];
  CHECK(line.document == 1);
  CHECK(line.kind == "Deployment");
  CHECK(line.name_space == "shop");
  CHECK(line.name == "web");
  CHECK(line.container == "app");
  CHECK(line.resource == "cpu");
  CHECK(line.before == "2");
  CHECK(line.after == "650m");
  CHECK(line.rule == "candidate");
}

TEST_CASE("annotations stand in the template", "[rightsizing][manifest]") {
  const RightsizedManifest done = Done(kDeployment, PlanForApps);
  CHECK(done.text.find(R"(    metadata:
      annotations:
        tidemark.io/original-resources: '{"app":{"requests":{"cpu":"2"}}}'
        tidemark.io/applied: '{"it''s":1}'
      labels: {app: web}
)") != std::string::npos);
}

TEST_CASE("what is missing is put where it belongs", "[rightsizing][manifest]") {
  struct Case {
    std::string_view before;
    std::string_view after;
  };
  const std::string_view head = "kind: Pod\nmetadata: {name: web}\nspec:\n";
  for (const auto& [before, after] : std::vector<Case>{
           // No resources at all; lists not indented.
           {"  containers:\n  - name: app # here\n    image: i\n",
            "  containers:\n  - name: app # here\n    resources:\n      requests:\n        cpu: "
            "650m\n        memory: 512Mi\n    image: i\n"},
           // Nothing behind the name, not even a line's end.
           {"  containers:\n  - image: i\n    name: app",
            "  containers:\n  - image: i\n    name: app\n    resources:\n      requests:\n        "
            "cpu: 650m\n        memory: 512Mi"},
           // Limits only.
           {"  containers:\n    - resources:\n        limits:\n          cpu: 4\n      name: app\n",
            "  containers:\n    - resources:\n        requests:\n          cpu: 650m\n          "
            "memory: 512Mi\n        limits:\n          cpu: 4\n      name: app\n"},
           // Requests of one.
           {"  containers:\n    - name: app\n      resources:\n        requests:\n          cpu: "
            "2\n",
            "  containers:\n    - name: app\n      resources:\n        requests:\n          "
            "memory: "
            "512Mi\n          cpu: 650m\n"},
           // Empty in several ways.
           {"  containers:\n    - name: app\n      resources: {}\n",
            "  containers:\n    - name: app\n      resources: {requests: {cpu: 650m, memory: "
            "512Mi}}\n"},
           {"  containers:\n    - name: app\n      resources:\n      image: i\n",
            "  containers:\n    - name: app\n      resources: {requests: {cpu: 650m, memory: "
            "512Mi}}\n      image: i\n"},
           {"  containers:\n    - name: app\n      resources: null # none\n",
            "  containers:\n    - name: app\n      resources: {requests: {cpu: 650m, memory: "
            "512Mi}} # none\n"},
           {"  containers:\n    - name: app\n      resources:\n        requests: ~\n",
            "  containers:\n    - name: app\n      resources:\n        requests: {cpu: 650m, "
            "memory: "
            "512Mi}\n"},
           // Flow style.
           {"  containers: [{name: app, resources: {requests: {cpu: '2', memory: 1Gi}}}]\n",
            "  containers: [{name: app, resources: {requests: {cpu: '650m', memory: 512Mi}}}]\n"},
           {"  containers: [{name: app}]\n",
            "  containers: [{resources: {requests: {cpu: 650m, memory: 512Mi}}, name: app}]\n"},
           {"  containers: [ { name: app, resources: { limits: { cpu: 4 } } } ]\n",
            "  containers: [ { name: app, resources: { requests: {cpu: 650m, memory: 512Mi}, "
            "limits: { cpu: 4 } } } ]\n"},
       }) {
    CHECK(Done(std::string(head) + std::string(before)).text ==
          std::string(head) + std::string(after));
  }
}

TEST_CASE("JSON stays JSON as it was laid out", "[rightsizing][manifest]") {
  CHECK(
      Done(
          R"({"kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":2,"memory":"4Gi"}}}],"x":1.0}})")
          .text ==
      R"({"kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"650m","memory":"512Mi"}}}],"x":1.0}})");
  CHECK(
      Done(
          "{\n\t\"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"w\\u0065b \\/ \\ud83d\\ude00\"},\n"
          "\t\"spec\": {\n\t\t\"containers\": [\n\t\t\t{\n\t\t\t\t\"name\": "
          "\"app\"\n\t\t\t}\n\t\t]\n\t}\n}\n")
          .text ==
      "{\n\t\"kind\": \"Pod\",\n\t\"metadata\": {\"name\": \"w\\u0065b \\/ \\ud83d\\ude00\"},\n"
      "\t\"spec\": {\n\t\t\"containers\": [\n\t\t\t{\n\t\t\t\t\"resources\": {\"requests\": "
      "{\"cpu\": \"650m\", \"memory\": \"512Mi\"}},\n\t\t\t\t\"name\": "
      "\"app\"\n\t\t\t}\n\t\t]\n\t}\n}\n");
  const std::string annotated =
      Done(R"({"kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"app"}]}})",
           PlanForApps)
          .text;
  CHECK(annotated.find(R"("tidemark.io/applied": "{\"it's\":1}")") != std::string::npos);
}

TEST_CASE("each kind has its template where it has it", "[rightsizing][manifest]") {
  const std::string pod = "{spec: {containers: [{name: app}]}}";
  const auto changed = [](const std::string& text) { return Done(text).changes.size(); };
  for (const char* const kind : {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job",
                                 "ReplicationController", "CloneSet", "Rollout"}) {
    CAPTURE(kind);
    CHECK(changed(fmt::format("kind: {}\nmetadata: {{name: a}}\nspec: {{template: {}}}\n", kind,
                              pod)) == 2);
  }
  CHECK(changed("kind: CronJob\nmetadata: {name: a}\nspec: {jobTemplate: {spec: {template: " + pod +
                "}}}\n") == 2);
  CHECK(changed("kind: PodTemplate\nmetadata: {name: a}\ntemplate: " + pod + "\n") == 2);
  CHECK(
      changed("kind: List\nitems:\n- kind: Deployment\n  metadata: {name: a}\n  spec: {template: " +
              pod +
              "}\n- kind: Service\n- kind: Pod\n  metadata: {name: b}\n  spec: {containers: "
              "[{name: app}]}\n") == 4);
  CHECK(changed("kind: ConfigMap\nmetadata: {name: a}\ndata: {x: y}\n") == 0);
  CHECK(changed("kind: Deployment\nmetadata: {name: a}\n") == 0);
}

TEST_CASE("several documents are each looked at, and all that is between them stays",
          "[rightsizing][manifest]") {
  const std::string pod =
      "kind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: app\n    "
      "resources: {requests: {cpu: 1, memory: 1Gi}}\n";
  const std::string text = "# head\n---\n" + pod +
                           "--- # next\n# nothing\n---\nkind: Service\n...\n---\n" + pod + "---\n";
  const RightsizedManifest done = Done(text);
  REQUIRE(done.changes.size() == 4);
  CHECK(done.changes[0].document < done.changes[2].document);
  std::string expected = text;
  for (size_t at = 0; (at = expected.find("cpu: 1,", at)) != std::string::npos;) {
    expected.replace(at, 6, "cpu: 650m");
  }
  for (size_t at = 0; (at = expected.find("1Gi", at)) != std::string::npos;) {
    expected.replace(at, 3, "512Mi");
  }
  CHECK(done.text == expected);
}

TEST_CASE("line ends, marks and bytes beyond ASCII stay", "[rightsizing][manifest]") {
  std::string windows(kDeployment);
  for (size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) {
    windows.replace(at, 1, "\r\n");
  }
  const std::string done = Done(windows, PlanForApps).text;
  CHECK(std::ranges::count(done, '\n') == std::ranges::count(done, '\r'));
  CHECK(done.find("cpu: \"650m\"     # too much\r\n") != std::string::npos);
  const std::string accents =
      "kind: Pod\nmetadata:\n  name: web\n  labels: {a: \xC3\xA9t\xC3\xA9} # "
      "\xE2\x82\xAC\nspec:\n  containers:\n  - name: app\n    resources: "
      "{requests: {cpu: 2, memory: 512Mi}}\n";
  CHECK(Done(accents).text.find("{cpu: 650m, memory: 512Mi}") != std::string::npos);
  const std::string marked = "\xEF\xBB\xBF" + accents;
  CHECK(Done(marked).text == "\xEF\xBB\xBF" + Done(accents).text);
}

TEST_CASE("what cannot be edited is left alone and said", "[rightsizing][manifest]") {
  const auto kept = [](const std::string& text) {
    const RightsizedManifest done = Done(text);
    CHECK(done.text == text);
    CHECK(done.changes.empty());
    REQUIRE(done.kept.size() == 1);
    return done.kept[0].what;
  };
  const std::string head = "kind: Pod\nmetadata: {name: web}\n";
  CHECK(
      kept(head + "spec:\n  containers:\n  - &a\n    name: app\n  - *a\n").starts_with("anchors"));
  CHECK(
      kept(head + "x: &r {cpu: 1}\nspec: {containers: [{name: app, resources: {requests: *r}}]}\n")
          .starts_with("anchors"));
  CHECK(kept(head + "x: &r {cpu: 1}\nspec: {containers: [{<<: *r, name: app}]}\n")
            .starts_with("anchors"));
  CHECK(kept(head + "spec: {containers: [{name: app, name: app}]}\n").starts_with("anchors"));
  CHECK(kept(head + "spec: {containers: [{name: app, resources: {requests: {cpu: !!str 2}}}]}\n")
            .starts_with("anchors"));
  CHECK(kept(head + "spec: {containers: [{name: app, resources: {requests: {cpu: [2]}}}]}\n")
            .starts_with("its labels or containers"));
  // Also above the pod: what is shared would change elsewhere, too, or is not what it seems.
  const std::string pod = "{template: {spec: {containers: [{name: app}]}}}";
  for (const std::string& text :
       {"kind: Deployment\nmetadata: {name: a}\nspec: &s " + pod + "\n",
        "x: &s " + pod + "\nkind: Deployment\nmetadata: {name: a}\nspec: *s\n",
        "x: &n web\nkind: Deployment\nmetadata: {name: *n}\nspec: " + pod + "\n",
        "x: &n web\nkind: Deployment\nmetadata: {name: a, namespace: *n}\nspec: " + pod + "\n",
        "kind: Deployment\nmetadata: {name: a}\nspec: " + pod + "\nspec: " + pod + "\n",
        "kind: List\nitems: &i\n- kind: Deployment\n  metadata: {name: a}\n  spec: " + pod +
            "\n"}) {
    CHECK(kept(text).starts_with("anchors"));
  }
  const std::string twins =
      "kind: List\nitems:\n- kind: Deployment\n  metadata: {name: a}\n  spec: &s " + pod +
      "\n- kind: Deployment\n  metadata: {name: b}\n  spec: *s\n";
  const RightsizedManifest shared = Done(twins);
  CHECK(shared.text == twins);
  CHECK(shared.kept.size() == 2);
  CHECK(kept("kind: Pod\nmetadata: {generateName: web-}\nspec: {containers: [{name: app}]}\n") ==
        "it has no name");
  CHECK(kept(head + "spec:\n  containers:\n  - name: app\n    resources:\n      requests:\n        "
                    "cpu: |\n          2\n        memory: 512Mi\n")
            .starts_with("it could not be edited"));
}

TEST_CASE("a fault in one object leaves the others right-sized", "[rightsizing][manifest]") {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += fmt::format(
        "---\nkind: Pod\nmetadata: {{name: p{}}}\nspec:\n  containers:\n  - name: app\n    "
        "resources:\n      requests:\n        memory: 512Mi\n        cpu: {}\n",
        i, i == 5 ? "|\n          2" : "2");
  }
  const RightsizedManifest done = Done(text);
  CHECK(done.changes.size() == 11);
  REQUIRE(done.kept.size() == 1);
  CHECK(done.kept[0].name == "p5");
}

TEST_CASE("what is no manifest is said with its line", "[rightsizing][manifest]") {
  CHECK(Wrong("kind: Pod\nspec: [a\n").starts_with("line "));
  CHECK(Wrong("kind: Pod\nmetadata: {{ .Values.name }}\nspec: }\n").find("line 2 has {{") !=
        std::string::npos);
  CHECK(Wrong(std::string(kMaxManifestBytes + 1, ' ')).find("allowed: 3145728") !=
        std::string::npos);
  CHECK(Wrong(std::string(5000, '[')).find("levels deep") != std::string::npos);
  std::string laughs = "a: &a [x,x]\n";
  for (char c = 'b'; c < 'z'; ++c) {
    laughs += fmt::format("{0}: &{0} [*{1},*{1},*{1},*{1}]\n", c, static_cast<char>(c - 1));
  }
  CHECK(Done(laughs).text == laughs);
  CHECK(Done("").text.empty());
  CHECK(Done("# nothing\n").text == "# nothing\n");
}

TEST_CASE("random manifests change only as planned, damaged ones do no harm",
          "[rightsizing][manifest]") {
  const uint32_t seed = tidemark::testing::Seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&random](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  const auto pick = [&](std::initializer_list<std::string_view> choices) {
    return std::string(*(choices.begin() + static_cast<std::ptrdiff_t>(below(choices.size()))));
  };
  for (int round = 0; round < 2000; ++round) {
    std::string text = pick({"", "# head\n", "---\n"});
    const std::string newline = "\n";
    for (size_t documents = 1 + below(3); documents > 0; --documents) {
      const std::string list = pick({"", "  "});
      text += "kind: " + pick({"Deployment", "StatefulSet"}) + pick({"", " # kind"}) + newline +
              "metadata:\n  name: " + pick({"web", "'web'", "\"web\""}) + newline +
              "spec:\n  template:\n" +
              pick({"", "    metadata: {}\n", "    metadata:\n      annotations: {a: b}\n",
                    "    metadata:\n      labels:\n        app: web\n"}) +
              "    spec:\n      containers:\n";
      for (size_t i = 1 + below(2); i > 0; --i) {
        text += "      " + list + "- name: " + (i == 1 ? "app" : "other") +
                pick({"", " # comment", "  "}) + newline;
        const std::string in = "      " + list + "  ";
        if (below(2) == 0) text += in + "image: 'x:1'\n";
        const std::string cpu = pick({"2", "'2'", "\"2\"", "2500m", "0.5"});
        switch (below(5)) {
          case 0: text += in + "resources: {requests: {cpu: " + cpu + "}}\n"; break;
          case 1: text += in + "resources:\n" + in + "  limits: {cpu: 4}\n"; break;
          case 2:
            text += in + "resources:\n" + in + "    requests:\n" + in + "        cpu: " + cpu +
                    pick({"", " # much"}) + newline;
            break;
          case 3: text += in + "resources:" + pick({"", " {}", " null"}) + newline; break;
          default: break;
        }
        if (below(3) == 0) text += in + "args: [\"--x={y}\", '#z']\n";
      }
      if (documents > 1) text += pick({"---\n", "--- # next\n", "...\n---\n"});
    }
    CAPTURE(text);
    const RightsizedManifest done = Done(text, PlanForApps);
    CHECK(done.kept.empty());
    CHECK_FALSE(done.changes.empty());
    // Every line of before is still there, but for those with a request in them.
    size_t at = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (line.find("cpu") != std::string::npos || line.find("resources") != std::string::npos ||
          line.find("annotations") != std::string::npos ||
          line.find("metadata") != std::string::npos) {
        continue;
      }
      const size_t found = done.text.find(line + "\n", at);
      CAPTURE(line);
      REQUIRE(found != std::string::npos);
      at = found;
    }
    std::string damaged = done.text;
    for (size_t i = 1 + below(4); i > 0; --i) {
      const size_t where = below(damaged.size());
      switch (below(3)) {
        case 0: damaged[where] = static_cast<char>(below(256)); break;
        case 1: damaged.erase(where, 1 + below(8)); break;
        default:
          damaged.insert(where,
                         pick({"{", "}", "[", ":", " ", "\n", "\t", "&a ", "*a", "- ", "'", "\""}));
      }
      if (damaged.empty()) break;
    }
    CAPTURE(damaged);
    const auto harmed = RightsizeManifest(damaged, "", PlanForApps);
    if (!harmed) continue;
    const auto twice = RightsizeManifest(harmed->text, "", PlanForApps);
    REQUIRE(twice);
    CHECK(twice->text == harmed->text);
  }
}
