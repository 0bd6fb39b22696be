// tidetool check-config --explain: which profile applies, why, and where its values come from.

#include "cmd/explain_profile.h"

#include <map>
#include <string>
#include <string_view>

#include "cmd/rule_words.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kFile = R"(
estimation:
  preset: oversell
  cpu: {expansion: 1.2, ceiling: 4}
profiles:
  - name: mesh
    selector: '{namespace=~"shop|cart", container="istio-proxy"}'
    mode: off
  - name: batch
    selector: '{workload_type=~"job|cronjob"}'
    preset: tidemark
    memory: {percentile: 0.99}
  - name: checkout
    selector: '{label_team="checkout", cluster!="test"}'
    cpu: {floor: 50m, percentile: 0.99}
)";

using Flags = std::map<std::string, std::string, std::less<>>;

Result<std::string> Ask(const Flags& flags) {
  const auto question = ProfileQuestionOf(flags);
  if (!question) return tl::unexpected(question.error());
  REQUIRE(*question);
  return ExplainProfile(ParseConfig(kFile, "f").value(), **question);
}

std::string Answer(const Flags& flags) {
  const auto answer = Ask(flags);
  INFO((answer ? "" : answer.error().message));
  REQUIRE(answer);
  return *answer;
}

std::string ErrorOf(const Flags& flags) {
  const auto answer = Ask(flags);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::kInvalidArgument);
  return answer.error().message;
}

/// The paragraph before the rules.
std::string Head(const Flags& flags) {
  const std::string answer = Answer(flags);
  return answer.substr(0, answer.find("\n\n") + 1);
}

bool Says(const std::string& answer, const std::string& line) {
  return answer.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("The profile that applies is named, and what each before it missed", "[cmd][explain]") {
  CHECK(Head({{"explain", "shop/deployment/web"}, {"container", "istio-proxy"}}) ==
        "shop/deployment/web container istio-proxy: profile mesh\n"
        "  mesh: {namespace=~\"shop|cart\", container=\"istio-proxy\"} matches\n");
  CHECK(Head({{"explain", "ops/cronjob/a/b"}}) ==
        "ops/cronjob/a/b: profile batch\n"
        "  not mesh: namespace=~\"shop|cart\" does not match \"ops\"\n"
        "  batch: {workload_type=~\"job|cronjob\"} matches\n");
  CHECK(Head({{"explain", "shop/deployment/web"},
              {"container", "app"},
              {"cluster", "eu-1"},
              {"pod-labels", "{label_team=\"checkout\",label_x=\"\"}"}}) ==
        "eu-1/shop/deployment/web container app: profile checkout\n"
        "  not mesh: container=\"istio-proxy\" does not match \"app\"\n"
        "  not batch: workload_type=~\"job|cronjob\" does not match \"deployment\"\n"
        "  checkout: {label_team=\"checkout\", cluster!=\"test\"} matches\n");
  CHECK(Head({{"explain", "a/b/c"}}) ==
        "a/b/c: profile default\n"
        "  not mesh: namespace=~\"shop|cart\" does not match \"a\"\n"
        "  not batch: workload_type=~\"job|cronjob\" does not match \"b\"\n"
        "  not checkout: label_team=\"checkout\" does not match an absent label\n"
        "  default: takes everything\n"
        "  note: without --pod-labels the pods are taken to have no labels\n"
        "  note: without --cluster the workload is taken to be in none\n");
}

TEST_CASE("A container is asked for only where it decides", "[cmd][explain]") {
  CHECK(ErrorOf({{"explain", "shop/deployment/web"}}) ==
        "--container: it depends on the container whether profile mesh applies, allowed: its name");
  CHECK(Head({{"explain", "ops/job/x"}}).starts_with("ops/job/x: profile batch\n"));
}

TEST_CASE("Each value says whether profile, estimation or preset gave it", "[cmd][explain]") {
  const std::string checkout =
      Answer({{"explain", "a/b/c"}, {"pod-labels", "{label_team=\"checkout\"}"}});
  CHECK(Says(checkout, "preset: oversell (estimation)"));
  CHECK(Says(checkout, "mode: dynamic (preset oversell)"));
  CHECK(Says(checkout, "  floor: 50m (profile checkout)"));
  CHECK(Says(checkout, "  expansion: 1.2 (estimation)"));
  CHECK(Says(checkout, "  percentile: 0.99 (profile checkout)"));
  CHECK(Says(checkout, "  upper_percentile: 0.99 (follows percentile)"));
  CHECK(Says(checkout, "  lower_percentile: 0.5 (preset oversell)"));
  CHECK(Says(checkout, "  weight: by_request (preset oversell)"));
  CHECK(Says(checkout, "  kills.hold: 3d (preset oversell)"));

  const std::string batch = Answer({{"explain", "a/job/c"}});
  CHECK(Says(batch, "preset: tidemark (profile batch)"));
  CHECK(Says(batch, "  expansion: 1 (preset tidemark)"));  // not estimation's

  const std::string rest = Answer({{"explain", "a/b/c"}});
  CHECK(Says(rest, "  ceiling: 4 (estimation)"));
  CHECK(Says(rest, "  percentile: 0.95 (preset oversell)"));
}

TEST_CASE("A rule is told in words", "[cmd][explain]") {
  Profile profile = PresetProfile(Preset::kTidemark);
  CHECK(RuleInWords(profile, Resource::kCpu) ==
        "what the hours of the last week of the container in all pods ask for, with 4 % of minutes "
        "above; the first 5m of a pod apart; minutes throttled in 25 % of the periods or more "
        "count for more; of Jobs and CronJobs the peak of each run; at least 2m; at most what the "
        "largest node can give; rounded up to a multiple of 1m; right-sizing shows it");
  CHECK(RuleInWords(profile, Resource::kMemory) ==
        "1.1 times what the highest hours of the last week of the container in all pods needed, at "
        "least their maximum; of Jobs and CronJobs the peak of each run; at least 16Mi; not above "
        "a limit at which it lies without a kill; at most what the largest node can give; rounded "
        "up to a multiple of 1; a kill asks for 1.2 times what was needed, at least 100Mi more, "
        "for at least 3d; right-sizing shows it");
  profile.rule(Resource::kCpu).basis = Basis::kHighWater;
  CHECK(RuleInWords(profile, Resource::kCpu)
            .starts_with("the level that a minute of the container in all pods passes with a "
                         "probability of 0.001; "));
  profile = PresetProfile(Preset::kVpa);
  CHECK(RuleInWords(profile, Resource::kCpu) ==
        "percentile 0.9 of every minute of the container in all pods, each with the same weight, "
        "which halves in 1d; 15 % more; at least 25m a pod; rounded up to a multiple of 1m; "
        "right-sizing shows it");
  profile = PresetProfile(Preset::kOversell);
  profile.level = Level::kPod;
  profile.mode = PoolMode::kStaticAndDynamic;
  profile.effect = Effect::kApplied;
  ResourceRule& cpu = profile.rule(Resource::kCpu);
  cpu.expansion_factor = 1.25;
  cpu.floor = 0.05;
  cpu.ceiling = 2;
  cpu.static_ratio = 0.7;
  CHECK(RuleInWords(profile, Resource::kCpu) ==
        "percentile 0.95 of every minute of whole pods, shared out by their containers' present "
        "requests, each with the request of its time as its weight, which halves in 1d; times "
        "1.25; at least 50m; at most 2; rounded up to a multiple of 1m; while the history knows "
        "too little, 0.7 of the original request; right-sizing takes it where it is less than the "
        "original request");
  profile.mode = PoolMode::kStatic;
  CHECK(RuleInWords(profile, Resource::kMemory) ==
        "the original request; right-sizing leaves it alone");
  cpu.enabled = false;
  CHECK(RuleInWords(profile, Resource::kCpu) == "nothing is recommended");
  profile.mode = PoolMode::kOff;
  CHECK(RuleInWords(profile, Resource::kMemory) == "nothing is recommended");
}

TEST_CASE("Wrong questions are refused with one line", "[cmd][explain]") {
  const std::string allowed =
      " is no workload, allowed: NAMESPACE/TYPE/NAME with the type in lower case, as in "
      "shop/deployment/web";
  CHECK(ErrorOf({{"explain", "web"}}) == "--explain: web" + allowed);
  CHECK(ErrorOf({{"explain", "shop/web"}}) == "--explain: shop/web" + allowed);
  CHECK(ErrorOf({{"explain", "/deployment/web"}}) == "--explain: /deployment/web" + allowed);
  CHECK(ErrorOf({{"explain", "shop/Deployment/web"}}) ==
        "--explain: shop/Deployment/web" + allowed);
  CHECK(ErrorOf({{"explain", ""}}) == "--explain: \"\"" + allowed);
  for (const std::string labels :
       {"{team=\"a\"}", "{label_a!=\"b\"}", "{label_a=\"b\",label_a=\"c\"}"}) {
    CAPTURE(labels);
    CHECK(ErrorOf({{"explain", "a/b/c"}, {"pod-labels", labels}})
              .find("is no pod label, allowed: each label_* once") != std::string::npos);
  }
  CHECK(ErrorOf({{"explain", "a/b/c"}, {"pod-labels", "team"}}) ==
        "--pod-labels: selector team: expected { at position 1");
  CHECK(ProfileQuestionOf({{"cluster", "a"}}).error().message ==
        "--cluster: it has no meaning alone, allowed: with --explain");
  CHECK_FALSE(ProfileQuestionOf({}).value());
}

}  // namespace tidemark::cmd
