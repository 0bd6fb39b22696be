// `kubernetes:` and `rightsizing:` of the configuration, and the flags of the Kubernetes port.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/config.h"
#include "cmd/flags.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

Config Parsed(const std::string& yaml) {
  auto config = ParseConfig(yaml, "f");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return *std::move(config);
}

std::string Wrong(const std::string& yaml) {
  const auto config = ParseConfig(yaml, "f");
  REQUIRE_FALSE(config);
  CHECK(config.error().code == ErrorCode::kInvalidArgument);
  return config.error().message;
}

std::string WrongFlags(const std::vector<std::string>& args) {
  const auto flags = ParseFlags(args);
  REQUIRE_FALSE(flags);
  return flags.error().message;
}

}  // namespace

TEST_CASE("Without the sections right-sizing is off and values are held for five minutes",
          "[cmd][config]") {
  const Config config = Parsed("");
  CHECK(config.rightsizing->mode == RightsizingMode::kOff);
  CHECK(config.rightsizing->rules.empty());
  CHECK(config.freshness == kubernetes::Freshness{.serve_ms = 150'000, .hold_ms = 300'000});
}

TEST_CASE("The sections are read", "[cmd][config]") {
  const Config config = Parsed(
      "kubernetes: {freshness: {serve: 1m, hold: 4m}}\n"
      "rightsizing:\n"
      "  mode: dry-run\n"
      "  rules:\n"
      "    - {selector: '{namespace=\"shop\"}', mode: apply}\n"
      "    - {selector: '{}', mode: off}\n"
      "  excluded_containers: [istio-proxy, app, app]\n"
      "  least_change: 0\n");
  CHECK(config.freshness == kubernetes::Freshness{.serve_ms = 60'000, .hold_ms = 240'000});
  const RightsizingSettings& settings = *config.rightsizing;
  CHECK(settings.mode == RightsizingMode::kDryRun);
  REQUIRE(settings.rules.size() == 2);
  CHECK(settings.rules[0].mode == RightsizingMode::kApply);
  CHECK(settings.rules[0].selector.text() == "{namespace=\"shop\"}");
  CHECK(settings.rules[1].mode == RightsizingMode::kOff);
  CHECK(settings.excluded_containers == std::vector<std::string>{"app", "istio-proxy"});
  CHECK(settings.least_change_ratio == 0);
}

TEST_CASE("What is wrong in the sections is said with what is allowed", "[cmd][config]") {
  CHECK(Wrong("kubernetes: {freshness: {serve: 6m}}") ==
        "f:1: kubernetes.freshness.serve: 6m is out of range, allowed: 1s <= x <= 5m");
  CHECK(Wrong("kubernetes: {freshness: {serve: 3m, hold: 2m}}") ==
        "f:1: kubernetes.freshness.hold: serve (3m) is longer than hold (2m), allowed: at most as "
        "long");
  CHECK(Wrong("kubernetes: {cluster: a}")
            .starts_with("f:1: kubernetes.cluster: there is no such key"));
  CHECK(Wrong("rightsizing: {mode: on}") ==
        "f:1: rightsizing.mode: there is no mode on, allowed: off, dry-run, apply");
  CHECK(Wrong("rightsizing: {rules: [{mode: off}]}") ==
        "f:1: rightsizing.rules[0].selector: the key is missing, allowed: whom the rule is for, as "
        "in {namespace=\"shop\"}");
  CHECK(Wrong("rightsizing: {rules: [{selector: '{}'}]}") ==
        "f:1: rightsizing.rules[0].mode: the key is missing, allowed: off, dry-run or apply");
  CHECK(Wrong("rightsizing: {rules: [{selector: '{container=\"a\"}', mode: off}]}")
            .starts_with("f:1: rightsizing.rules[0].selector: "));
  CHECK(Wrong("rightsizing: {excluded_containers: [A]}") ==
        "f:1: rightsizing.excluded_containers[0]: \"A\" is no name of a container, allowed: 1 to "
        "63 lower-case letters, digits and -, a letter or digit first and last");
  CHECK(Wrong("rightsizing: {least_change: 1}") ==
        "f:1: rightsizing.least_change: 1 is out of range, allowed: 0 <= x < 1");
}

TEST_CASE("The flags of the Kubernetes port go together", "[cmd][flags]") {
  const std::vector<std::string> good = {"--kubernetes.listen-address=:0",
                                         "--kubernetes.tls-cert-file=c",
                                         "--kubernetes.tls-private-key-file=k"};
  const auto with = [&good](const std::string& flag) {
    std::vector<std::string> args = good;
    args.push_back(flag);
    return args;
  };
  const auto flags = ParseFlags(with("--kubernetes.cluster=eu"));
  REQUIRE(flags);
  CHECK(flags->kubernetes.listen_address == ":0");
  CHECK(flags->kubernetes.tls_cert_file == "c");
  CHECK(flags->kubernetes.tls_private_key_file == "k");
  CHECK(flags->kubernetes.cluster == "eu");
  CHECK(flags->kubernetes.requestheader_allowed_names.empty());

  std::vector<std::string> named = with("--kubernetes.requestheader-client-ca-file=ca");
  named.emplace_back("--kubernetes.requestheader-allowed-names=front-proxy-client,b");
  named.emplace_back("--kubernetes.client-ca-file=clients");
  const auto more = ParseFlags(named);
  REQUIRE(more);
  CHECK(more->kubernetes.requestheader_allowed_names ==
        std::vector<std::string>{"front-proxy-client", "b"});
  CHECK(more->kubernetes.client_ca_file == "clients");

  CHECK(ParseFlags(std::vector<std::string>{"--kubernetes.listen-address="}));
  CHECK(WrongFlags({"--kubernetes.cluster=eu"}) ==
        "--kubernetes.cluster: says nothing without --kubernetes.listen-address: give that too");
  CHECK(WrongFlags({"--kubernetes.listen-address=:0"})
            .starts_with("--kubernetes.tls-cert-file: is missing"));
  CHECK(WrongFlags(with("--kubernetes.requestheader-allowed-names=a"))
            .starts_with("--kubernetes.requestheader-allowed-names: says nothing without"));
  named.pop_back();
  named.back() = "--kubernetes.requestheader-allowed-names=a,,b";
  CHECK(WrongFlags(named).starts_with("--kubernetes.requestheader-allowed-names: \"\" cannot"));
  CHECK(WrongFlags({"--kubernetes.listen-address=9443"})
            .starts_with("--kubernetes.listen-address: "));
}

}  // namespace tidemark::cmd
