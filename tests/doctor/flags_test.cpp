// The flags of `tidetool doctor`.

#include <map>

#include "cmd/doctor_flags.h"
#include "tests/catch.h"
#include "tests/server/certificates.h"

namespace tidemark::cmd {
namespace {

using server::Folder;
using server::MadeCertificate;
using Variables = std::map<std::string, std::string>;

Result<DoctorOrder> Read(const std::vector<std::string>& args, const Variables& environment = {}) {
  const auto line = ParseCommandLine(DoctorSpec(), args);
  INFO((line ? "" : line.error().message));
  REQUIRE(line);
  return ReadDoctorFlags(*line, [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  });
}

std::string Why(const std::vector<std::string>& args) {
  const auto order = Read(args);
  return order ? "" : order.error().message;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("nothing need be given", "[doctor][flags]") {
  const auto order = Read({});
  REQUIRE(order);
  CHECK_FALSE(order->tidemark);
  CHECK_FALSE(order->kubernetes);
  CHECK(Has(order->why_no_kubernetes, "--kubeconfig"));
  CHECK(order->service == doctor::ServiceName{});
  CHECK(order->output == doctor::Output::kTable);
}

TEST_CASE("who is asked is read from the flags", "[doctor][flags]") {
  const Folder folder;
  const MadeCertificate ca({.name = "ca", .ca = true});
  const std::string ca_file = folder.Write("ca.crt", "text\n" + ca.certificate() + ca.key());
  const std::string token = folder.Write("token", "t");
  const auto order =
      Read({"--tidemark.url=http://tidemark:9849", "--tidemark.username=me",
            "--tidemark.password-file=" + token, "--prometheus.url=https://prometheus/x",
            "--prometheus.insecure-skip-verify", "--kubernetes.url=https://[::1]:8443/",
            "--kubernetes.ca-file=" + ca_file, "--service=ops/tide:8443",
            "--kubernetes.server=https://api:6443", "--kubernetes.token-file=" + token,
            "--output=json"});
  INFO((order ? "" : order.error().message));
  REQUIRE(order);
  CHECK(order->tidemark->url == "http://tidemark:9849");
  CHECK(order->tidemark->basic_auth.username == "me");
  CHECK(order->prometheus->tls_config.insecure_skip_verify);
  CHECK(order->kubernetes->authorization.credentials_file == token);
  CHECK(order->kubernetes->user_agent.starts_with("tidetool/"));
  CHECK(order->kubernetes_port->host == "::1");
  CHECK(order->kubernetes_port->port == "8443");
  CHECK(order->service == doctor::ServiceName{"ops", "tide", 8443});
  CHECK(order->service.DnsName() == "tide.ops.svc");
  // No key of a careless file goes into the cluster.
  CHECK(order->ca_bundle_pem == ca.certificate());
  CHECK(order->output == doctor::Output::kJson);
  CHECK(Read({"--kubernetes.url=https://tidemark.tidemark.svc"})->kubernetes_port->port == "443");
}

TEST_CASE("a kubeconfig is used where it is named, or where kubectl would", "[doctor][flags]") {
  const Folder folder;
  const std::string path =
      folder.Write("config",
                   "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
                   "clusters: [{name: c, cluster: {server: 'https://api:6443'}}]\n");
  CHECK(Read({"--kubeconfig=" + path})->kubernetes->url == "https://api:6443");
  CHECK(Read({}, {{"KUBECONFIG", path}})->kubernetes->url == "https://api:6443");
  CHECK(Has(Why({"--kubeconfig=" + path, "--context=b"}), "--kubeconfig: "));
  // One that nobody has asked for keeps no check from running.
  const auto broken = Read({}, {{"KUBECONFIG", folder.Write("broken", "a: {")}});
  REQUIRE(broken);
  CHECK_FALSE(broken->kubernetes);
  CHECK(Has(broken->why_no_kubernetes, "broken"));
}

TEST_CASE("wrong flags are named", "[doctor][flags]") {
  const Folder folder;
  const std::string file = folder.Write("no.pem", "x");
  CHECK(Has(Why({"--tidemark.url=tidemark:9849"}), "--tidemark.url"));
  CHECK(Has(Why({"--tidemark.username=x"}), "--tidemark.url"));
  CHECK(Has(Why({"--tidemark.url=http://a", "--tidemark.ca-file=/absent"}), "--tidemark.ca-file"));
  CHECK(Has(Why({"--prometheus.url="}), "--prometheus.url"));
  CHECK(Has(Why({"--kubernetes.url=http://a"}), "HTTPS only"));
  CHECK(Has(Why({"--kubernetes.ca-file=" + file}), "--kubernetes.ca-file"));
  CHECK(Has(Why({"--kubernetes.ca-file=/absent"}), "cannot be read"));
  for (const char* const service :
       {"", "a", "a/", "/b", "a/b:0", "a/b:x", "A/b", "a/b/c", "a/-b"}) {
    INFO(service);
    CHECK(Has(Why({std::string("--service=") + service}), "--service"));
  }
  CHECK(Has(Why({"--kubernetes.token-file=" + file}), "--kubernetes.server"));
  CHECK(Has(Why({"--kubernetes.server=https://a", "--context=b"}), "twice"));
  CHECK(Has(Why({"--kubernetes.server=https://a", "--kubernetes.token-file=/absent"}),
            "--kubernetes.token-file"));
  CHECK(Has(Why({"--context=b"}), "--context"));
  CHECK(Has(Why({"--output=xml"}), "table, json"));
  CHECK(Has(Why({"--force-take-apiservice"}), "--take-apiservice"));
  CHECK(Has(Why({"--take-apiservice"}), "--take-apiservice"));
  CHECK(Has(Why({"--take-apiservice", "--print-apiservice", "--kubernetes.server=https://a"}),
            "--print-apiservice"));
}

}  // namespace tidemark::cmd
