// What is taken from a kubeconfig, and how what is wrong in one is told.

#include "cmd/kubeconfig.h"

#include <filesystem>
#include <map>

#include "tests/catch.h"
#include "tests/server/certificates.h"

namespace tidemark::cmd {
namespace {

using server::Folder;

constexpr std::string_view kTwoClusters = R"(apiVersion: v1
kind: Config
current-context: dev
preferences: {}
contexts:
- name: dev
  context: {cluster: dev, user: me, namespace: shop}
- name: prod
  context:
    cluster: prod
    user: robot
- {name: plugin, context: {cluster: dev, user: cloud}}
- {name: lost, context: {cluster: nowhere, user: me}}
clusters:
- name: dev
  cluster:
    server: https://127.0.0.1:6443
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes
- name: prod
  cluster:
    server: https://prod.example:6443/k8s
    certificate-authority-data: UEVN
    insecure-skip-tls-verify: false
users:
- name: me
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
- name: robot
  user:
    token: old-secret
    tokenFile: token
- name: cloud
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: cloud-auth
)";

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct Files {
  Files() {
    std::filesystem::create_directory(folder.Path("pki"));
    static_cast<void>(folder.Write("pki/ca.crt", "PEM"));
  }
  Result<Kubeconfig> Read(std::string_view text, std::string_view context = "") const {
    return ReadKubeconfig(folder.Write("config", text), context);
  }
  Folder folder;
};

std::string Replaced(std::string_view what, std::string_view by) {
  std::string text(kTwoClusters);
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("the current context of a kubeconfig is read", "[cmd][kubeconfig]") {
  const Files files;
  const auto read = files.Read(kTwoClusters);
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(read->context == "dev");
  CHECK(read->name_space == "shop");
  CHECK(read->options.url == "https://127.0.0.1:6443");
  CHECK(read->options.tls_config.ca_file == files.folder.Path("pki/ca.crt"));
  CHECK(read->options.tls_config.server_name == "kubernetes");
  CHECK(read->options.tls_config.cert == "CERT");
  CHECK(read->options.tls_config.key == "KEY");
  CHECK_FALSE(read->options.tls_config.insecure_skip_verify);
}

TEST_CASE("another context can be named, and a token's file wins over the token",
          "[cmd][kubeconfig]") {
  const Files files;
  const auto read = files.Read(kTwoClusters, "prod");
  INFO((read ? "" : read.error().message));
  REQUIRE(read);
  CHECK(read->options.url == "https://prod.example:6443/k8s");
  CHECK(read->options.tls_config.ca == "PEM");
  CHECK(read->options.authorization.credentials_file == files.folder.Path("token"));
  CHECK(read->options.authorization.credentials.empty());
}

TEST_CASE("a plug-in for credentials is refused with what to give instead", "[cmd][kubeconfig]") {
  const Files files;
  const auto read = files.Read(kTwoClusters, "plugin");
  REQUIRE_FALSE(read);
  CHECK(Has(read.error().message, "exec"));
  CHECK(Has(read.error().message, "--kubernetes.server"));
  CHECK(Has(read.error().message, "--kubernetes.token-file"));
}

TEST_CASE("what is wrong in a kubeconfig is named, without secrets", "[cmd][kubeconfig]") {
  const Files files;
  const auto why = [&](std::string_view text, std::string_view context = "") {
    const auto read = files.Read(text, context);
    REQUIRE_FALSE(read);
    CHECK_FALSE(Has(read.error().message, "secret"));
    return read.error().message;
  };
  CHECK(Has(why(kTwoClusters, "test"), "there is no context test, allowed: dev, prod"));
  CHECK(Has(why(kTwoClusters, "lost"), "there is no cluster nowhere"));
  CHECK(Has(why(Replaced("current-context: dev", "x: y")), "current-context"));
  CHECK(Has(why(Replaced("UEVN", "U*V"), "prod"), "certificate-authority-data"));
  CHECK(Has(why(Replaced("pki/ca.crt", "pki/none.crt")), "none.crt cannot be read"));
  CHECK(Has(why(Replaced("https://127.0.0.1:6443", "ftp://a")), "server"));
  CHECK(Has(why(Replaced("https://127.0.0.1:6443", "https://a:b@c")), "server"));
  CHECK(Has(why(Replaced(", client-key-data: S0VZ", "")), "without key"));
  CHECK(Has(why(Replaced("token: old-secret\n    tokenFile: token", "token: [secret]"), "prod"),
            "token"));
  CHECK(Has(why("- a\n- b\n"), "current-context"));
  CHECK(Has(why(""), "current-context"));
  CHECK(Has(why("a: {"), "config:"));
  CHECK_FALSE(ReadKubeconfig(files.folder.Path("absent"), ""));
  CHECK_FALSE(ReadKubeconfig(files.folder.Path("pki"), ""));
}

TEST_CASE("the kubeconfig is found where kubectl finds it", "[cmd][kubeconfig]") {
  const Folder home;
  std::map<std::string, std::string> variables;
  const auto found = [&] {
    return DefaultKubeconfig([&](const char* name) { return variables[name]; });
  };
  CHECK(found() == "");
  const std::string path = home.Path("x");
  variables["HOME"] = path.substr(0, path.size() - 2);
  CHECK(found() == "");
  std::filesystem::create_directory(home.Path(".kube"));
  static_cast<void>(home.Write(".kube/config", "x"));
  CHECK(found() == home.Path(".kube/config"));
  variables["KUBECONFIG"] = "/a/b";
  CHECK(found() == "/a/b");
  variables["KUBECONFIG"] = "/a/b:/c";
  CHECK_FALSE(found());
}

}  // namespace tidemark::cmd
