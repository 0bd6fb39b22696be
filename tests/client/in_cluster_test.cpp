// How the Kubernetes API is found from inside a pod, and what is said where this is none.

#include "client/in_cluster.h"

#include <cstdio>
#include <map>

#include "client/http_client.h"
#include "tests/catch.h"
#include "tests/client/fake_server.h"
#include "tests/server/certificates.h"

namespace tidemark::client {
namespace {

using server::Folder;
using server::MadeCertificate;

Environment Set(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

Environment At(const std::string& host, const std::string& port) {
  return Set({{"KUBERNETES_SERVICE_HOST", host}, {"KUBERNETES_SERVICE_PORT", port}});
}

std::string Root(const Folder& folder) {
  const std::string path = folder.Path("x");
  return path.substr(0, path.size() - 2);
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a pod reaches the API server with its service account", "[client][in_cluster]") {
  const MadeCertificate ca({.name = "kubernetes", .ca = true});
  const MadeCertificate served({.name = "api", .sans = {"IP:127.0.0.1"}, .issuer = &ca});
  std::vector<std::string> tokens;
  std::string agent;
  const FakeServer server(
      [&](const FakeRequest& request) {
        tokens.push_back(request.Header("Authorization"));
        agent = request.Header("User-Agent");
        return HttpAnswer(200, "{}");
      },
      FakeTls{served.certificate(), served.key(), ""});
  const Folder account;
  static_cast<void>(account.Write("token", "first-token\n"));
  static_cast<void>(account.Write("ca.crt", ca.certificate()));
  static_cast<void>(account.Write("namespace", "tidemark"));
  const Environment environment = At("127.0.0.1", std::to_string(server.port()));
  CHECK(IsInCluster(environment, Root(account)));
  const auto options = InClusterOptions("tidemark/1.2.3", environment, Root(account));
  INFO((options ? "" : options.error().message));
  REQUIRE(options);
  CHECK(InClusterNamespace(Root(account)) == "tidemark");
  const auto client = HttpClient::Open(*options);
  REQUIRE(client);
  REQUIRE((*client)->Fetch({.path = "/version"}));
  // The kubelet writes a new token before the old one ends.
  static_cast<void>(account.Write("token", "second-token"));
  REQUIRE((*client)->Fetch({.path = "/version"}));
  CHECK(tokens == std::vector<std::string>{"Bearer first-token", "Bearer second-token"});
  CHECK(agent == "tidemark/1.2.3");
}

TEST_CASE("an IPv6 address of the API server gets its brackets", "[client][in_cluster]") {
  const Folder account;
  static_cast<void>(account.Write("token", "t"));
  static_cast<void>(account.Write("ca.crt", "c"));
  const auto url = [&](const std::string& host) {
    const auto options = InClusterOptions("", At(host, "443"), Root(account));
    return options ? options->url : options.error().message;
  };
  CHECK(url("fd00:10:96::1") == "https://[fd00:10:96::1]:443");
  CHECK(url("10.96.0.1") == "https://10.96.0.1:443");
  CHECK(url("kubernetes.default.svc") == "https://kubernetes.default.svc:443");
}

TEST_CASE("where there is no cluster, what is missing is said", "[client][in_cluster]") {
  const Folder account;
  const auto why = [&](const Environment& environment) {
    const auto options = InClusterOptions("", environment, Root(account));
    REQUIRE_FALSE(options);
    return options.error();
  };
  const Error no_host = why(Set({}));
  CHECK(no_host.code == ErrorCode::kUnavailable);
  CHECK(Has(no_host.message, "KUBERNETES_SERVICE_HOST is not set"));
  CHECK(Has(why(At("10.96.0.1", "")).message, "KUBERNETES_SERVICE_PORT is not set"));
  CHECK(Has(why(At("10.96.0.1", "443")).message, account.Path("token")));
  static_cast<void>(account.Write("token", "t"));
  CHECK(Has(why(At("10.96.0.1", "443")).message, account.Path("ca.crt")));
  static_cast<void>(account.Write("ca.crt", "c"));
  for (const char* const port : {"0", "65536", "x", "-1", "44 3", "443/"}) {
    CHECK(why(At("10.96.0.1", port)).code == ErrorCode::kInvalidArgument);
  }
  for (const char* const host : {"a/b", "a b", "user@host", "a\r\nX: y", "a?b", "[::1]"}) {
    CHECK(why(At(host, "443")).code == ErrorCode::kInvalidArgument);
  }
  CHECK_FALSE(IsInCluster(Set({}), Root(account)));
  CHECK_FALSE(InClusterNamespace(Root(account)));
}

}  // namespace tidemark::client
