// What a configuration of authentication may be.

#include "kubernetes/request_header_config.h"

#include <functional>

#include "tests/catch.h"
#include "tests/kubernetes/kubernetes_certificates.h"

namespace tidemark::kubernetes {
namespace {

TEST_CASE("A configuration by which requests can be judged is taken", "[kubernetes][config]") {
  const MadeCertificate ca({.ca = true});
  AuthenticationConfig config;
  config.client_ca_pem = ca.certificate();
  CHECK(Check(config));
  config.request_header.ca_pem = ca.certificate() + ca.certificate();
  config.request_header.allowed_names = {"front-proxy-client"};
  CHECK(Check(config));
  config.client_ca_pem.clear();
  config.request_header.group_headers.clear();
  config.request_header.uid_headers.clear();
  config.request_header.extra_header_prefixes.clear();
  CHECK(Check(config));
}

TEST_CASE("What cannot be used is refused with the key that is wrong", "[kubernetes][config]") {
  const MadeCertificate ca({.ca = true});
  struct Wrong {
    const char* begins;
    std::function<void(AuthenticationConfig&)> change;
  };
  for (const Wrong& wrong : std::vector<Wrong>{
           {"requestheader-client-ca-file and client-ca-file",
            [](AuthenticationConfig& c) { c = {}; }},
           {"requestheader-client-ca-file: ",
            [](AuthenticationConfig& c) { c.request_header.ca_pem = std::string("no PEM"); }},
           {"client-ca-file: ",
            [&](AuthenticationConfig& c) { c.client_ca_pem = ca.certificate().substr(0, 200); }},
           {"requestheader-allowed-names: ",
            [](AuthenticationConfig& c) {
              c.request_header.allowed_names = {"a", ""};
            }},
           {"requestheader-username-headers: ",
            [](AuthenticationConfig& c) { c.request_header.username_headers.clear(); }},
           {"requestheader-username-headers: ",
            [](AuthenticationConfig& c) { c.request_header.username_headers = {"a b"}; }},
           {"requestheader-group-headers: ",
            [](AuthenticationConfig& c) {
              c.request_header.group_headers = {"", "X"};
            }},
           {"requestheader-uid-headers: ",
            [](AuthenticationConfig& c) { c.request_header.uid_headers = {"X:"}; }},
           {"requestheader-extra-headers-prefix: ",
            [](AuthenticationConfig& c) { c.request_header.extra_header_prefixes = {""}; }}}) {
    CAPTURE(wrong.begins);
    AuthenticationConfig config;
    config.request_header.ca_pem = ca.certificate();
    config.client_ca_pem = ca.certificate();
    REQUIRE(Check(config));
    wrong.change(config);
    const auto good = Check(config);
    REQUIRE_FALSE(good);
    CHECK(good.error().message.starts_with(wrong.begins));
  }
}

TEST_CASE("Nothing but a shared CA without allowed names is warned of", "[kubernetes][config]") {
  const MadeCertificate one({.name = "one", .ca = true});
  const MadeCertificate other({.name = "other", .ca = true});
  AuthenticationConfig config;
  config.request_header.ca_pem = one.certificate();
  CHECK(Warnings(config).empty());
  config.client_ca_pem = other.certificate();
  CHECK(Warnings(config).empty());
  config.client_ca_pem = other.certificate() + one.certificate();
  CHECK(Warnings(config).size() == 1);
  config.request_header.allowed_names = {"front-proxy-client"};
  CHECK(Warnings(config).empty());
}

}  // namespace
}  // namespace tidemark::kubernetes
