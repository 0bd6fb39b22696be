// Who a request is from: certificates first, headers only of a front proxy.

#include "kubernetes/front_proxy.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "model/log.h"
#include "tests/catch.h"
#include "tests/kubernetes/kubernetes_certificates.h"

namespace tidemark::kubernetes {
namespace {

using Headers = std::vector<HttpHeader>;

HttpRequest Request(std::shared_ptr<const PeerCertificates> shown, Headers headers = {}) {
  HttpRequest request;
  request.method = "GET";
  request.headers = std::move(headers);
  request.peer_certificates = std::move(shown);
  return request;
}

const Headers kAlice = {{"X-Remote-User", "alice"},
                        {"X-Remote-Group", "dev"},
                        {"X-Remote-Group", "system:authenticated"}};

struct Case {
  MadeCertificate proxy_ca{{.name = "front-proxy-ca", .ca = true, .valid_days = 100}};
  MadeCertificate user_ca{{.name = "kubernetes", .ca = true, .valid_days = 100}};
  MadeCertificate proxy{{.name = "front-proxy-client", .issuer = &proxy_ca, .usage = "clientAuth"}};
  MadeCertificate bob{
      {.name = "bob", .issuer = &user_ca, .organisations = {"ops"}, .usage = "clientAuth"}};
  MadeCertificate stranger{{.name = "front-proxy-client"}};
  ManualClock clock{Today()};
  std::atomic<int> unknown = 0;
  FrontProxy front_proxy{clock, [this] { ++unknown; }};
  AuthenticationConfig config;

  Case() {
    config.request_header.ca_pem = proxy_ca.certificate();
    config.request_header.allowed_names = {"front-proxy-client"};
    config.client_ca_pem = user_ca.certificate();
    REQUIRE(front_proxy.Set(config));
  }
  auto Ask(const MadeCertificate& certificate, const Headers& headers) const {
    return front_proxy.Authenticate(Request(Shown({&certificate}), headers));
  }
  void CheckDenied(const MadeCertificate& certificate, const Headers& headers, AccessDenial why,
                   const std::string& said) const {
    const auto found = Ask(certificate, headers);
    REQUIRE_FALSE(found);
    CHECK(found.error().why == why);
    CAPTURE(found.error().message);
    CHECK(found.error().message.find(said) != std::string::npos);
  }
};

TEST_CASE("A front proxy asks for the user that it names", "[kubernetes][front_proxy]") {
  const Case with;
  const auto found = with.Ask(with.proxy, kAlice);
  REQUIRE(found);
  CHECK(found->user == "alice");
  CHECK(found->groups == std::vector<std::string>{"dev", "system:authenticated"});
  CHECK(found->by_front_proxy);
}

TEST_CASE("Headers of anybody else mean nothing", "[kubernetes][front_proxy]") {
  Case with;
  const Headers root = {{"X-Remote-User", "root"}, {"X-Remote-Group", "system:masters"}};
  SECTION("without a certificate") {
    for (const auto& shown : {std::shared_ptr<const PeerCertificates>(), Shown({})}) {
      const auto found = with.front_proxy.Authenticate(Request(shown, root));
      REQUIRE_FALSE(found);
      CHECK(found.error().why == AccessDenial::kNoCertificate);
    }
    CHECK(with.unknown == 0);
  }
  SECTION("of a stranger with the front proxy's name") {
    with.CheckDenied(with.stranger, root, AccessDenial::kUnknownAuthority, "no authority");
    CHECK(with.unknown == 1);
  }
  SECTION("of a user: who is whom the own certificate names") {
    const auto found = with.Ask(with.bob, root);
    REQUIRE(found);
    CHECK(found->user == "bob");
    CHECK(found->groups == std::vector<std::string>{"ops"});
    CHECK_FALSE(found->by_front_proxy);
  }
  SECTION("of a user with the front proxy's name") {
    const MadeCertificate mallory({.name = "front-proxy-client", .issuer = &with.user_ca});
    const auto found = with.Ask(mallory, root);
    REQUIRE(found);
    CHECK(found->user == "front-proxy-client");
    CHECK(found->groups.empty());
  }
  SECTION("of another one of the front proxies' CA") {
    const MadeCertificate other({.name = "etcd", .issuer = &with.proxy_ca});
    with.CheckDenied(other, root, AccessDenial::kNameNotAllowed, "\"etcd\"");
    with.config.request_header.allowed_names = {"front-proxy-client", "etcd"};
    REQUIRE(with.front_proxy.Set(with.config));
    CHECK(with.Ask(other, root)->user == "root");
    with.config.request_header.allowed_names.clear();
    REQUIRE(with.front_proxy.Set(with.config));
    CHECK(with.Ask(other, root)->user == "root");
    CHECK(with.unknown == 0);
  }
  SECTION("of one whose certificate is not for clients, over, or not begun") {
    const MadeCertificate server(
        {.name = "front-proxy-client", .issuer = &with.proxy_ca, .usage = "serverAuth"});
    with.CheckDenied(server, root, AccessDenial::kUnknownAuthority, "not for client auth");
    const MadeCertificate over(
        {.name = "front-proxy-client", .issuer = &with.proxy_ca, .valid_days = -1});
    with.CheckDenied(over, root, AccessDenial::kUnknownAuthority, "expired on 20");
    const MadeCertificate early({.name = "front-proxy-client",
                                 .issuer = &with.proxy_ca,
                                 .valid_days = 9,
                                 .valid_from_days = 5});
    with.CheckDenied(early, root, AccessDenial::kUnknownAuthority, "not valid before 20");
    CHECK(with.unknown == 0);
  }
}

TEST_CASE("A front proxy that names nobody is denied", "[kubernetes][front_proxy]") {
  const Case with;
  for (const Headers& headers :
       {Headers{}, Headers{{"X-Remote-User", ""}}, Headers{{"X-Remote-Group", "system:masters"}},
        Headers{{"X-Remote-User2", "alice"}}, Headers{{"X_Remote_User", "alice"}}}) {
    with.CheckDenied(with.proxy, headers, AccessDenial::kNoUser, "X-Remote-User");
  }
}

TEST_CASE("A user whose certificate has no common name is denied", "[kubernetes][front_proxy]") {
  const Case with;
  const MadeCertificate nobody(
      {.name = "", .issuer = &with.user_ca, .organisations = {"system:masters"}});
  with.CheckDenied(nobody, kAlice, AccessDenial::kNoUser, "common name is empty");
}

TEST_CASE("Headers are read by the configured names, in their order, without regard to case",
          "[kubernetes][front_proxy]") {
  Case with;
  with.config.request_header.username_headers = {"X-User", "X-Remote-User"};
  with.config.request_header.group_headers = {"X-Group", "X-Remote-Group"};
  with.config.request_header.uid_headers = {"X-Remote-Uid"};
  with.config.request_header.extra_header_prefixes = {"X-Remote-Extra-", "X-More-"};
  REQUIRE(with.front_proxy.Set(with.config));
  const auto found = with.Ask(with.proxy, {{"x-remote-GROUP", "c"},
                                           {"X-REMOTE-USER", "second"},
                                           {"x-user", ""},
                                           {"X-Group", "a"},
                                           {"X-Group", ""},
                                           {"x-group", "b"},
                                           {"X-Remote-Uid", "42"},
                                           {"X-Remote-Extra-Scopes", "one"},
                                           {"x-remote-extra-SCOPES", "two"},
                                           {"X-Remote-Extra-Acme.com%2Fproject", "tide"},
                                           {"X-Remote-Extra-Bad%zz", "kept"},
                                           {"X-Remote-Extra-Cut%2", "kept"},
                                           {"X-Remote-Extra-", "nameless"},
                                           {"X-More-Where", "here"}});
  REQUIRE(found);
  CHECK(found->user == "second");
  CHECK(found->uid == "42");
  CHECK(found->groups == std::vector<std::string>{"a", "b", "c"});
  const std::map<std::string, std::vector<std::string>> extra = {{"scopes", {"one", "two"}},
                                                                 {"acme.com/project", {"tide"}},
                                                                 {"bad%zz", {"kept"}},
                                                                 {"cut%2", {"kept"}},
                                                                 {"where", {"here"}}};
  CHECK(found->extra == extra);
}

TEST_CASE("A connection that is kept alive is judged for each request",
          "[kubernetes][front_proxy]") {
  Case with;
  const HttpRequest request = Request(Shown({&with.proxy}), kAlice);
  CHECK(with.front_proxy.Authenticate(request));
  SECTION("its certificate expires") {
    with.clock.Set(InDays(1.9));
    CHECK(with.front_proxy.Authenticate(request));
    with.clock.Set(InDays(2.1));
    CHECK_FALSE(with.front_proxy.Authenticate(request));
  }
  SECTION("its CA is replaced") {
    const MadeCertificate next_ca({.name = "front-proxy-ca", .ca = true});
    const MadeCertificate next({.name = "front-proxy-client", .issuer = &next_ca});
    RequestHeaderConfig both = with.config.request_header;
    both.ca_pem += next_ca.certificate();
    REQUIRE(with.front_proxy.SetRequestHeader(both));
    CHECK(with.front_proxy.Authenticate(request));
    CHECK(with.Ask(next, kAlice));
    both.ca_pem = next_ca.certificate();
    REQUIRE(with.front_proxy.SetRequestHeader(both));
    const auto denied = with.front_proxy.Authenticate(request);
    REQUIRE_FALSE(denied);
    CHECK(denied.error().why == AccessDenial::kUnknownAuthority);
    CHECK(with.Ask(next, kAlice));
    CHECK(with.Ask(with.bob, {})->user == "bob");
  }
}

TEST_CASE("Each half is set by itself, and what is not good changes nothing",
          "[kubernetes][front_proxy]") {
  const Case made;
  FrontProxy front_proxy(made.clock);
  const auto ask = [&](const MadeCertificate& certificate) {
    return front_proxy.Authenticate(Request(Shown({&certificate}), kAlice)).has_value();
  };
  CHECK_FALSE(ask(made.proxy));
  CHECK_FALSE(ask(made.bob));
  CHECK(front_proxy.SetClientCa("").error().message.find("nobody could be let in") !=
        std::string::npos);
  REQUIRE(front_proxy.SetClientCa(made.config.client_ca_pem));
  CHECK_FALSE(ask(made.proxy));
  CHECK(ask(made.bob));
  REQUIRE(front_proxy.SetRequestHeader(made.config.request_header));
  CHECK(ask(made.proxy));
  CHECK(ask(made.bob));
  CHECK(front_proxy.SetClientCa("garbage").error().message.starts_with("client-ca-file: "));
  RequestHeaderConfig bad = made.config.request_header;
  bad.username_headers.clear();
  CHECK(front_proxy.SetRequestHeader(bad).error().message.starts_with(
      "requestheader-username-headers: "));
  CHECK(ask(made.proxy));
  CHECK(ask(made.bob));
}

TEST_CASE("Where every user could speak for every other one, a warning says so once",
          "[kubernetes][front_proxy]") {
  const Case made;
  int warnings = 0;
  SetLogSink([&](std::string_view line) {
    if (line.find("can act as any user") != std::string_view::npos) ++warnings;
  });
  FrontProxy front_proxy(made.clock);
  AuthenticationConfig config = made.config;
  REQUIRE(front_proxy.Set(config));
  config.request_header.ca_pem += made.user_ca.certificate();
  REQUIRE(front_proxy.Set(config));
  CHECK(Warnings(config).empty());
  CHECK(warnings == 0);
  config.request_header.allowed_names.clear();
  REQUIRE(front_proxy.Set(config));
  REQUIRE(front_proxy.Set(config));
  CHECK(warnings == 1);
  SetLogSink({});

  // One CA for both: who names no user is itself, as with kube-apiserver.
  const auto direct = front_proxy.Authenticate(Request(Shown({&made.bob})));
  REQUIRE(direct);
  CHECK(direct->user == "bob");
  CHECK_FALSE(direct->by_front_proxy);
  const auto proxied = front_proxy.Authenticate(Request(Shown({&made.bob}), kAlice));
  REQUIRE(proxied);
  CHECK(proxied->user == "alice");
}

TEST_CASE("CAs are replaced while requests come: each is judged by the one or the other",
          "[kubernetes][front_proxy]") {
  Case with;
  const MadeCertificate other_ca({.name = "front-proxy-ca", .ca = true});
  RequestHeaderConfig both = with.config.request_header;
  both.ca_pem = other_ca.certificate() + both.ca_pem;
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      while (!stop) {
        if (!with.Ask(with.proxy, kAlice)) ++failed;
        if (with.Ask(with.stranger, kAlice)) ++failed;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    CHECK(with.front_proxy.SetRequestHeader(i % 2 == 0 ? both : with.config.request_header));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 0);
}

TEST_CASE("A request of a known connection costs a small part of a new one's",
          "[kubernetes][front_proxy]") {
  const Case with;
  constexpr int kRequests = 500;
  std::vector<HttpRequest> fresh;
  fresh.reserve(kRequests);
  for (int i = 0; i < kRequests; ++i) fresh.push_back(Request(Shown({&with.proxy}), kAlice));
  const HttpRequest known = Request(Shown({&with.proxy}), kAlice);
  const auto seconds = [&](const std::function<const HttpRequest&(size_t)>& request) {
    const auto begin = std::chrono::steady_clock::now();
    for (size_t i = 0; i < kRequests; ++i) {
      if (!with.front_proxy.Authenticate(request(i))) FAIL("denied");
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double of_known = seconds([&](size_t) -> const HttpRequest& { return known; });
  const double of_fresh = seconds([&](size_t i) -> const HttpRequest& { return fresh[i]; });
  CAPTURE(of_known / kRequests, of_fresh / kRequests);
  CHECK(of_known * 5 < of_fresh);
}

}  // namespace
}  // namespace tidemark::kubernetes
