// Chains judged against a CA at the time of the request.

#include "kubernetes/client_certificates.h"

#include <atomic>
#include <thread>

#include "tests/catch.h"
#include "tests/kubernetes/kubernetes_certificates.h"

namespace tidemark::kubernetes {
namespace {

using Kind = CertificateFault::Kind;

std::unique_ptr<ClientCertificates> Trusting(const std::string& pem) {
  auto made = ClientCertificates::Make(pem, "ca");
  REQUIRE(made);
  return *std::move(made);
}

struct Case {
  MadeCertificate ca{{.name = "ca", .ca = true, .valid_days = 100}};
  std::unique_ptr<ClientCertificates> judge = Trusting(ca.certificate());

  std::optional<Kind> Fault(const std::vector<const MadeCertificate*>& shown,
                            TimePoint at = Today()) const {
    const auto found = judge->Judge(Shown(shown), at);
    if (found) return std::nullopt;
    CHECK_FALSE(found.error().what.empty());
    return found.error().kind;
  }
};

TEST_CASE("The subject of a certificate of the CA is given", "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate alice({.name = "alice",
                               .issuer = &with.ca,
                               .organisations = {"dev", "ops"},
                               .usage = "clientAuth"});
  const auto found = with.judge->Judge(Shown({&alice}), Today());
  REQUIRE(found);
  CHECK((*found)->common_name == "alice");
  CHECK((*found)->organisations == std::vector<std::string>{"dev", "ops"});
  const MadeCertificate nobody({.name = "", .issuer = &with.ca});
  const auto unnamed = with.judge->Judge(Shown({&nobody}), Today());
  REQUIRE(unnamed);
  CHECK((*unnamed)->common_name.empty());
  CHECK((*unnamed)->organisations.empty());
}

TEST_CASE("A name keeps what follows a zero byte: it is another name",
          "[kubernetes][certificates]") {
  const Case with;
  const std::string name("front-proxy\0.evil", 17);
  const MadeCertificate evil({.name = name, .issuer = &with.ca});
  const auto found = with.judge->Judge(Shown({&evil}), Today());
  REQUIRE(found);
  CHECK((*found)->common_name == name);
}

TEST_CASE("What is not of the CA is unknown, whatever it is called", "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate same_name({.name = "ca", .ca = true});
  const MadeCertificate forged({.name = "alice", .issuer = &same_name});
  const MadeCertificate own({.name = "alice"});
  CHECK(with.Fault({&forged}) == Kind::kUnknownAuthority);
  CHECK(with.Fault({&forged, &same_name}) == Kind::kUnknownAuthority);
  CHECK(with.Fault({&own}) == Kind::kUnknownAuthority);
  // A client of the CA is no CA.
  const MadeCertificate alice({.name = "alice", .issuer = &with.ca});
  const MadeCertificate issued({.name = "root", .issuer = &alice});
  CHECK(with.Fault({&issued, &alice}).has_value());
}

TEST_CASE("A certificate must be for clients, or for anything", "[kubernetes][certificates]") {
  const Case with;
  for (const auto& [usage, fault] :
       {std::pair("serverAuth", std::optional(Kind::kNotForClients)),
        std::pair("codeSigning,emailProtection", std::optional(Kind::kNotForClients)),
        std::pair("serverAuth,clientAuth", std::optional<Kind>()),
        std::pair("clientAuth", std::optional<Kind>()), std::pair("", std::optional<Kind>())}) {
    CAPTURE(usage);
    const MadeCertificate one({.issuer = &with.ca, .usage = usage});
    CHECK(with.Fault({&one}) == fault);
  }
}

TEST_CASE("A certificate counts while it is valid, on a connection that is kept, too",
          "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate one(
      {.name = "one", .issuer = &with.ca, .valid_days = 10, .valid_from_days = 5});
  const auto shown = Shown({&one});
  const auto at = [&](double days) -> std::optional<Kind> {
    const auto found = with.judge->Judge(shown, InDays(days));
    if (found) return std::nullopt;
    return found.error().kind;
  };
  CHECK(at(4.99) == Kind::kNotYetValid);
  CHECK(at(5.01) == std::nullopt);
  CHECK(at(9.99) == std::nullopt);
  CHECK(at(10.01) == Kind::kExpired);
  CHECK(at(11) == Kind::kExpired);
  // A clock that is set right again.
  CHECK(at(7) == std::nullopt);
}

TEST_CASE("An expired CA, or one on the way, ends all below it", "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate middle(
      {.name = "middle", .issuer = &with.ca, .ca = true, .valid_days = 20});
  const MadeCertificate leaf({.name = "leaf", .issuer = &middle, .valid_days = 500});
  CHECK(with.Fault({&leaf, &middle}) == std::nullopt);
  CHECK(with.Fault({&leaf, &with.ca, &middle}) == std::nullopt);
  CHECK(with.Fault({&leaf}) == Kind::kUnknownAuthority);
  CHECK(with.Fault({&leaf, &middle}, InDays(21)) == Kind::kExpired);
  const auto direct = Trusting(middle.certificate());
  CHECK(direct->Judge(Shown({&leaf}), Today()));
  const MadeCertificate own({.name = "own", .issuer = &with.ca, .valid_days = 500});
  CHECK(with.Fault({&own}, InDays(99)) == std::nullopt);
  CHECK(with.Fault({&own}, InDays(101)) == Kind::kExpired);
}

TEST_CASE("While a CA is replaced by one of the same name, both count",
          "[kubernetes][certificates]") {
  const MadeCertificate old_ca({.name = "front-proxy-ca", .ca = true});
  const MadeCertificate new_ca({.name = "front-proxy-ca", .ca = true, .valid_days = 100});
  const MadeCertificate other_ca({.name = "front-proxy-ca", .ca = true});
  const MadeCertificate old_client({.issuer = &old_ca});
  const MadeCertificate new_client({.issuer = &new_ca, .valid_days = 50});
  const MadeCertificate stranger({.issuer = &other_ca});
  for (const std::string& pem :
       {old_ca.certificate() + new_ca.certificate(), new_ca.certificate() + old_ca.certificate()}) {
    const auto judge = Trusting(pem);
    CHECK(judge->Judge(Shown({&old_client}), Today()));
    CHECK(judge->Judge(Shown({&new_client}), Today()));
    CHECK(judge->Judge(Shown({&stranger}), Today()).error().kind == Kind::kUnknownAuthority);
    CHECK(judge->Judge(Shown({&new_client}), InDays(20)));
    CHECK(judge->Judge(Shown({&new_client}), InDays(60)).error().kind == Kind::kExpired);
  }
}

TEST_CASE("A CA that was renewed with its key vouches for what it signed before",
          "[kubernetes][certificates]") {
  const MadeCertificate first({.name = "ca", .ca = true, .valid_days = 5});
  const MadeCertificate renewed({.name = "ca", .ca = true, .valid_days = 300, .key_of = &first});
  const MadeCertificate client({.issuer = &first, .valid_days = 100});
  for (const std::string& pem :
       {first.certificate() + renewed.certificate(), renewed.certificate() + first.certificate()}) {
    const auto judge = Trusting(pem);
    const auto shown = Shown({&client});
    CHECK(judge->Judge(shown, Today()));
    // The way through the first ends, and another is found.
    CHECK(judge->Judge(shown, InDays(50)));
    CHECK_FALSE(judge->Judge(shown, InDays(101)));
  }
}

TEST_CASE("What is no certificate is bad, and harms nobody", "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate good({.issuer = &with.ca});
  const std::string der = good.Der();
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(5000, '\x30'), der.substr(0, der.size() - 1),
        der + "x", std::string("\x30\x84\xff\xff\xff\xff", 6)}) {
    const auto shown = std::make_shared<PeerCertificates>(PeerCertificates{bytes});
    CHECK(with.judge->Judge(shown, Today()).error().kind == Kind::kBad);
    // Behind a good one it is of no matter.
    const auto behind = std::make_shared<PeerCertificates>(PeerCertificates{der, bytes});
    CHECK(with.judge->Judge(behind, Today()));
  }
  CHECK(with.judge->Judge(std::make_shared<PeerCertificates>(), Today()).error().kind ==
        Kind::kBad);
  // Each byte of a good one turned over: nothing passes but what the signature does not cover.
  for (size_t i = 0; i < der.size(); ++i) {
    std::string turned = der;
    turned[i] = static_cast<char>(turned[i] ^ 0x20);
    const auto shown = std::make_shared<PeerCertificates>(PeerCertificates{turned});
    const auto found = with.judge->Judge(shown, Today());
    if (found) {
      CAPTURE(i);
      CHECK((*found)->common_name == "test");
    }
  }
}

TEST_CASE("The verdict follows the connection's certificates, not where they lie in memory",
          "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate good({.name = "good", .issuer = &with.ca});
  const MadeCertificate bad({.name = "bad"});
  // Freed and made again many times over, the same addresses hold either.
  for (int i = 0; i < 2000; ++i) {
    const bool is_good = i % 3 == 0;
    CHECK(with.judge->Judge(Shown({is_good ? &good : &bad}), Today()).has_value() == is_good);
  }
  // More than are remembered, all alive.
  std::vector<std::shared_ptr<const PeerCertificates>> alive;
  alive.reserve(5000);
  for (int i = 0; i < 5000; ++i) alive.push_back(Shown({i % 2 == 0 ? &good : &bad}));
  for (size_t i = 0; i < alive.size(); ++i) {
    if (with.judge->Judge(alive[i], Today()).has_value() != (i % 2 == 0)) FAIL("wrong at " << i);
  }
}

TEST_CASE("Many threads may ask at a time", "[kubernetes][certificates]") {
  const Case with;
  const MadeCertificate good({.name = "good", .issuer = &with.ca});
  const MadeCertificate bad({.name = "bad"});
  const auto shown_good = Shown({&good});
  const auto shown_bad = Shown({&bad});
  const TimePoint now = Today();
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        if (with.judge->Judge(shown_good, now)) ++right;
        if (!with.judge->Judge(shown_bad, now)) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4000);
}

TEST_CASE("A text without certificates is no CA", "[kubernetes][certificates]") {
  const MadeCertificate ca({.ca = true});
  for (const std::string& text :
       {std::string(), std::string("hello"), ca.key(),
        ca.certificate().substr(0, ca.certificate().size() / 2),
        ca.certificate() + "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n"}) {
    const auto made = ClientCertificates::Make(text, "the CA");
    REQUIRE_FALSE(made);
    CHECK(made.error().message.starts_with("the CA: "));
  }
  CHECK(ClientCertificates::Make("# of the cluster\n" + ca.certificate() + "\n", "ca"));
}

}  // namespace
}  // namespace tidemark::kubernetes
