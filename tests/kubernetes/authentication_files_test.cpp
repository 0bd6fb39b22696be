// CAs from files that change.

#include "kubernetes/authentication_files.h"

#include <chrono>
#include <filesystem>
#include <thread>

#include "model/log.h"
#include "tests/catch.h"
#include "tests/kubernetes/kubernetes_certificates.h"

namespace tidemark::kubernetes {
namespace {

struct Case {
  Folder folder;
  MadeCertificate proxy_ca{{.name = "proxies", .ca = true}};
  MadeCertificate next_ca{{.name = "proxies", .ca = true}};
  MadeCertificate user_ca{{.name = "users", .ca = true}};
  MadeCertificate proxy{{.name = "front-proxy-client", .issuer = &proxy_ca}};
  MadeCertificate next{{.name = "front-proxy-client", .issuer = &next_ca}};
  MadeCertificate bob{{.name = "bob", .issuer = &user_ca}};
  ManualClock clock{Today()};
  KubernetesCounters counters;
  FrontProxy front_proxy{clock};
  AuthenticationFileNames names{
      .request_header_ca = folder.Write("proxies.crt", proxy_ca.certificate()),
      .allowed_names = {"front-proxy-client"},
      .client_ca = folder.Write("users.crt", user_ca.certificate())};

  std::unique_ptr<AuthenticationFiles> Open() {
    auto opened = AuthenticationFiles::Open(names, front_proxy, counters);
    INFO((opened ? "" : opened.error().message));
    REQUIRE(opened);
    return *std::move(opened);
  }
  std::string User(const MadeCertificate& certificate) const {
    HttpRequest request;
    request.headers = {{"X-Remote-User", "alice"}};
    request.peer_certificates = Shown({&certificate});
    const auto found = front_proxy.Authenticate(request);
    return found ? found->user : "";
  }
};

TEST_CASE("Both CAs are read at start", "[kubernetes][authentication_files]") {
  Case with;
  const auto files = with.Open();
  CHECK(with.User(with.proxy) == "alice");
  CHECK(with.User(with.bob) == "bob");
  CHECK(with.User(with.next).empty());
  CHECK(with.counters.authentication_good_now == 1);
}

TEST_CASE("One file sets its half and leaves the other", "[kubernetes][authentication_files]") {
  Case with;
  RequestHeaderConfig from_elsewhere;
  from_elsewhere.ca_pem = with.next_ca.certificate();
  REQUIRE(with.front_proxy.SetRequestHeader(from_elsewhere));
  SECTION("of the clients") {
    with.names.request_header_ca.clear();
    with.names.allowed_names.clear();
    const auto files = with.Open();
    CHECK(with.User(with.bob) == "bob");
    CHECK(with.User(with.next) == "alice");
    with.folder.Write("users.crt", with.proxy_ca.certificate());
    files->CheckFiles();
    CHECK(with.User(with.bob).empty());
    CHECK(with.User(with.next) == "alice");
  }
  SECTION("of the front proxies") {
    with.names.client_ca.clear();
    const auto files = with.Open();
    CHECK(with.User(with.proxy) == "alice");
    CHECK(with.User(with.next).empty());
    CHECK(with.User(with.bob).empty());
  }
}

TEST_CASE("A CA that is replaced counts at the next look", "[kubernetes][authentication_files]") {
  Case with;
  const auto files = with.Open();
  with.folder.Write("proxies.crt", with.proxy_ca.certificate() + with.next_ca.certificate());
  files->CheckFiles();
  CHECK(with.User(with.proxy) == "alice");
  CHECK(with.User(with.next) == "alice");
  with.folder.Write("proxies.crt", with.next_ca.certificate());
  files->CheckFiles();
  CHECK(with.User(with.proxy).empty());
  CHECK(with.User(with.next) == "alice");
  CHECK(with.User(with.bob) == "bob");
}

TEST_CASE("Of files that are not good, those before stay in force, with one line in the log",
          "[kubernetes][authentication_files]") {
  Case with;
  const auto files = with.Open();
  int lines = 0;
  SetLogSink([&](std::string_view) { ++lines; });
  files->CheckFiles();
  CHECK(lines == 0);
  with.folder.Write("users.crt", with.next_ca.certificate());
  with.folder.Write("proxies.crt", "garbage");
  for (int i = 0; i < 3; ++i) files->CheckFiles();
  CHECK(lines == 1);
  CHECK(with.counters.authentication_good_now == 0);
  CHECK(with.User(with.proxy) == "alice");
  CHECK(with.User(with.bob) == "bob");
  std::filesystem::remove(with.folder.Path("proxies.crt"));
  for (int i = 0; i < 3; ++i) files->CheckFiles();
  CHECK(lines == 2);
  CHECK(with.User(with.proxy) == "alice");
  // As before again: nothing has changed, but all is well.
  with.folder.Write("users.crt", with.user_ca.certificate());
  with.folder.Write("proxies.crt", with.proxy_ca.certificate());
  files->CheckFiles();
  SetLogSink({});
  CHECK(with.counters.authentication_good_now == 1);
  CHECK(with.User(with.proxy) == "alice");
}

TEST_CASE("At start, what is not good is an error that names flag and file",
          "[kubernetes][authentication_files]") {
  Case with;
  const auto complaint = [&] {
    const auto opened = AuthenticationFiles::Open(with.names, with.front_proxy, with.counters);
    REQUIRE_FALSE(opened);
    return opened.error().message;
  };
  SECTION("no certificate") {
    with.folder.Write("users.crt", with.user_ca.key());
    CHECK(complaint().starts_with("--kubernetes.client-ca-file " + with.names.client_ca + ": "));
  }
  SECTION("no file") {
    with.names.request_header_ca = with.folder.Path("none.crt");
    CHECK(complaint().starts_with("--kubernetes.requestheader-client-ca-file " +
                                  with.folder.Path("none.crt") + ": "));
  }
  SECTION("a folder") {
    with.names.client_ca = with.folder.Path(".");
    CHECK(complaint().find("no regular file") != std::string::npos);
  }
  SECTION("too large") {
    with.folder.Write("users.crt", std::string((1 << 20) + 1, '#'));
    CHECK(complaint().find("larger than 1048576 bytes") != std::string::npos);
  }
  SECTION("neither") {
    with.names = {};
    CHECK(complaint().find("nobody could be let in") != std::string::npos);
  }
}

TEST_CASE("Files are watched until they are not", "[kubernetes][authentication_files]") {
  Case with;
  const auto files = with.Open();
  files->Watch();
  with.folder.Write("proxies.crt", with.next_ca.certificate());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (with.User(with.next).empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(with.User(with.next) == "alice");
  files->StopWatching();
  files->StopWatching();
}

}  // namespace
}  // namespace tidemark::kubernetes
