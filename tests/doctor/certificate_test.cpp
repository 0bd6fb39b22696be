// What is told of the certificate that the Kubernetes port shows.

#include "cmd/doctor/certificates.h"

#include "cmd/doctor/checks.h"
#include "tests/client/fake_server.h"
#include "tests/doctor/fake_world.h"

namespace tidemark::doctor {
namespace {

using server::MadeCertificate;

constexpr int64_t kDayMs = 86'400'000;

struct Authority {
  MadeCertificate ca{{.name = "ca", .ca = true, .valid_days = 900}};
  MadeCertificate Served(std::vector<std::string> sans = {"DNS:tidemark.tidemark.svc"},
                         int days = 100) const {
    return MadeCertificate(
        {.name = "tidemark", .sans = std::move(sans), .issuer = &ca, .valid_days = days});
  }
};

Installation With(const Chain& served, const Chain& authorities) {
  Installation installation;
  installation.served = served;
  installation.authorities = authorities;
  installation.now_ms = NowMs();
  return installation;
}

}  // namespace

TEST_CASE("a good certificate of the Kubernetes port is found good", "[doctor][certificate]") {
  const Authority authority;
  const Findings findings =
      CheckCertificate(With(ChainOf(authority.Served()), ChainOf(authority.ca)));
  for (const char* const check : {"certificate.reachable", "certificate.chain", "certificate.names",
                                  "certificate.validity"}) {
    INFO(check);
    CHECK(VerdictOf(findings, check) == "ok");
  }
  CHECK(findings.all().size() == 4);
}

TEST_CASE("what is wrong with a served certificate is told", "[doctor][certificate]") {
  const Authority authority;
  const Authority other;
  const Findings wrong_ca = CheckCertificate(With(ChainOf(authority.Served()), ChainOf(other.ca)));
  CHECK(VerdictOf(wrong_ca, "certificate.chain") == "problem");

  const Findings wrong_name = CheckCertificate(
      With(ChainOf(authority.Served({"DNS:tidemark", "DNS:*.svc"})), ChainOf(authority.ca)));
  CHECK(VerdictOf(wrong_name, "certificate.names") == "problem");
  CHECK(Has(TextOf(wrong_name, "certificate.names"), "tidemark, *.svc"));
  CHECK(Has(TextOf(wrong_name, "certificate.names"), "DNS:tidemark.tidemark.svc"));
  // The common name alone does not count for Go.
  const MadeCertificate cn({.name = "tidemark.tidemark.svc", .issuer = &authority.ca});
  CHECK(VerdictOf(CheckCertificate(With(ChainOf(cn), ChainOf(authority.ca))),
                  "certificate.names") == "problem");

  Installation installation =
      With(ChainOf(authority.Served({"DNS:tidemark.tidemark.svc"}, 10)), ChainOf(authority.ca));
  CHECK(VerdictOf(CheckCertificate(installation), "certificate.validity") == "warning");
  installation.now_ms += 11 * kDayMs;
  const Findings ended = CheckCertificate(installation);
  CHECK(VerdictOf(ended, "certificate.validity") == "problem");
  CHECK(Has(TextOf(ended, "certificate.chain"), "expired"));
  installation.now_ms -= 60 * kDayMs;
  CHECK(VerdictOf(CheckCertificate(installation), "certificate.validity") == "problem");
}

TEST_CASE("without a URL or an authority the certificate is skipped", "[doctor][certificate]") {
  CHECK(VerdictOf(CheckCertificate({}), "certificate.reachable") == "skipped");
  const Authority authority;
  const Findings findings = CheckCertificate(With(ChainOf(authority.Served()), {}));
  CHECK(VerdictOf(findings, "certificate.chain") == "skipped");
  CHECK(VerdictOf(findings, "certificate.names") == "ok");
}

TEST_CASE("certificates between leaf and authority count, and each may be trusted",
          "[doctor][certificate]") {
  const MadeCertificate root({.name = "root", .ca = true});
  const MadeCertificate between({.name = "between", .issuer = &root, .ca = true});
  const MadeCertificate leaf({.name = "leaf", .issuer = &between});
  const Chain full = {ChainOf(leaf).front(), ChainOf(between).front()};
  CHECK(WhyNotTrusted(full, ChainOf(root), NowMs()).empty());
  CHECK(WhyNotTrusted(ChainOf(leaf), ChainOf(between), NowMs()).empty());
  CHECK_FALSE(WhyNotTrusted(ChainOf(leaf), ChainOf(root), NowMs()).empty());
  CHECK_FALSE(WhyNotTrusted({}, ChainOf(root), NowMs()).empty());
  CHECK_FALSE(WhyNotTrusted({"x"}, {"y"}, NowMs()).empty());
}

TEST_CASE("PEM is read whole or not at all", "[doctor][certificate]") {
  const MadeCertificate one({.name = "one"});
  const MadeCertificate two({.name = "two"});
  const auto both = ReadPem("text\n" + one.certificate() + "\n# text\n" + two.certificate());
  REQUIRE(both);
  CHECK(both->size() == 2);
  CHECK(WritePem(*both) == one.certificate() + two.certificate());
  CHECK(HaveCommon(*both, ChainOf(two)));
  CHECK_FALSE(HaveCommon(ChainOf(one), ChainOf(two)));
  CHECK_FALSE(ReadPem(""));
  CHECK_FALSE(ReadPem("text"));
  CHECK_FALSE(ReadPem(one.key()));
  CHECK_FALSE(ReadPem(one.certificate() + one.certificate().substr(0, 100)));
  CHECK_FALSE(ReadPem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
  CHECK_FALSE(FactsOf("no certificate"));
  CHECK(FactsOf(ChainOf(one).front())->common_name == "one");
}

TEST_CASE("the chain that a server shows is fetched, whatever it is worth",
          "[doctor][certificate]") {
  const MadeCertificate served({.name = "self"});
  const client::FakeServer server([](const client::FakeRequest&) { return std::nullopt; },
                                  client::FakeTls{served.certificate(), served.key(), ""});
  const auto chain = FetchServedChain("127.0.0.1", std::to_string(server.port()), "a.b.svc",
                                      std::chrono::seconds(10));
  INFO((chain ? "" : chain.error().message));
  REQUIRE(chain);
  CHECK(*chain == ChainOf(served));
  const auto nobody = FetchServedChain("127.0.0.1", std::to_string(client::ClosedPort()), "a",
                                       std::chrono::seconds(10));
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code == ErrorCode::kUnavailable);
  const client::FakeServer plain(
      [](const client::FakeRequest&) { return client::HttpAnswer(200, ""); });
  CHECK_FALSE(
      FetchServedChain("127.0.0.1", std::to_string(plain.port()), "a", std::chrono::seconds(10)));
}

}  // namespace tidemark::doctor
