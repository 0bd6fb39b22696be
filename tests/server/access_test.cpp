// Users, tokens, headers, rate limits and reloading, over plain HTTP.

#include <algorithm>
#include <thread>

#include "model/log.h"
#include "server/password_verifier.h"
#include "tests/server/certificates.h"
#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

using std::chrono::milliseconds;

const std::string kSecret4 = "$2b$04$XrSp2wQKLbHMBnnsJ4O0XeQyoKNgCrUFFK6JCwj5oZIQUCxZT64wu";
const std::string kSlow11 = "$2b$11$orqHgP7qTRIb4fhkbYH4JunrcevIt00PJOTqqosqS3Nd/myHHFpyq";
const std::string kAlice = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";       // alice:secret
const std::string kAliceWrong = "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n";  // alice:wrong
const std::string kBob = "Authorization: Basic Ym9iOnNlY3JldA==\r\n";         // bob:secret

/// A web configuration whose text does not matter: the test says what it means.
struct Rules {
  Rules() { folder.Write("web.yml", "1"); }

  AccessSources Sources() {
    return {.web_config_file = folder.Path("web.yml"),
            .bearer_token_file = token_file,
            .parse = [this](const std::string& text) -> Result<AccessConfig> {
              if (text == "bad") return Fail(ErrorCode::kInvalidArgument, "web.yml:1: it is bad");
              const std::lock_guard lock(mutex);
              return config;
            }};
  }
  void Set(const std::function<void(AccessConfig&)>& change) {
    const std::lock_guard lock(mutex);
    change(config);
  }

  Folder folder;
  std::string token_file;
  std::mutex mutex;
  AccessConfig config;
};

}  // namespace

TEST_CASE("Every path asks for a password once there are users", "[server][access]") {
  Rules rules;
  rules.config.users = {{"alice", kSecret4}};
  Fixture fixture([](Options&) {}, rules.Sources());
  Client client = fixture.Connect();
  for (const char* const path : {"/hello", "/nowhere", "/-/healthy"}) {
    for (const std::string& header : {std::string(), kAliceWrong, kBob}) {
      CAPTURE(path, header);
      const auto reply = client.Ask(MakeRequest("GET", path, {}, header));
      REQUIRE(reply);
      CHECK(reply->status == 401);
      CHECK(reply->Header("WWW-Authenticate") == "Basic");
      CHECK(reply->Header("Connection") == "keep-alive");
    }
  }
  CHECK(client.Ask(MakeRequest("GET", "/hello", {}, kAlice))->body == "hello");
  CHECK(client.Ask(MakeRequest("GET", "/nowhere", {}, kAlice))->status == 404);
  REQUIRE(client.Send(MakeRequest("HEAD", "/hello", {}, kAlice)));
  CHECK(client.Read(true)->status == 200);
  CHECK(fixture.counters.requests_unauthorized == 9);
  CHECK(fixture.counters.password_checks == 3);
}

TEST_CASE("A body is not read from who may not send it", "[server][access]") {
  Rules rules;
  rules.config.users = {{"alice", kSecret4}};
  Fixture fixture([](Options&) {}, rules.Sources());
  for (const std::string& header : {std::string(), kAliceWrong}) {
    Client client = fixture.Connect();
    REQUIRE(
        client.Send(MakeRequest("POST", "/large", {}, header + "Content-Length: 10000000\r\n")));
    const auto reply = client.Read();
    REQUIRE(reply);
    CHECK(reply->status == 401);
    CHECK(reply->Header("Connection") == "close");
    client.FinishSending();
    CHECK(client.WaitForEnd());
  }
  Client expecting = fixture.Connect();
  const auto reply = expecting.Ask(MakeRequest(
      "POST", "/large", {}, kAliceWrong + "Expect: 100-continue\r\nContent-Length: 5\r\n"));
  REQUIRE(reply);
  CHECK(reply->status == 401);
  CHECK(fixture.handled == 0);
  Client good = fixture.Connect();
  CHECK(good.Ask(MakeRequest("POST", "/echo", "hello", kAlice))->body == "hello");
  // Before the admission of the route, too.
  CHECK(good.Ask(MakeRequest("POST", "/admitted", {}, kAliceWrong))->status == 401);
  CHECK(good.Ask(MakeRequest("POST", "/admitted", {}, kAlice))->status == 415);
}

TEST_CASE("Tokens are for the route that wants them", "[server][access]") {
  Rules rules;
  rules.token_file = rules.folder.Write("tokens", "# writers\nfirst\nsecond\n");
  Fixture fixture([](Options&) {}, rules.Sources());
  Client client = fixture.Connect();
  CHECK(client.Ask(MakeRequest("GET", "/hello"))->status == 200);
  for (const char* const token : {"first", "second"}) {
    const auto reply = client.Ask(
        MakeRequest("POST", "/write", "x", "Authorization: Bearer " + std::string(token) + "\r\n"));
    CHECK(reply->status == 200);
  }
  for (const std::string& header :
       {std::string(), std::string("Authorization: Bearer third\r\n"), kAlice}) {
    const auto reply = client.Ask(MakeRequest("POST", "/write", {}, header));
    REQUIRE(reply);
    CHECK(reply->status == 401);
    CHECK(reply->Header("WWW-Authenticate") == "Bearer");
  }
  CHECK(fixture.handled == 2);
}

TEST_CASE("The headers of the configuration are on every answer", "[server][access]") {
  Rules rules;
  rules.config.users = {{"alice", kSecret4}};
  rules.config.headers = {{"X-Frame-Options", "deny"}, {"content-type", "not/this"}};
  Fixture fixture([](Options& options) { options.max_connections = 1; }, rules.Sources());
  const auto check = [](const std::optional<Reply>& reply, unsigned status) {
    REQUIRE(reply);
    CHECK(reply->status == status);
    CHECK(reply->Header("X-Frame-Options") == "deny");
    CHECK(reply->Header("Content-Type") != "");
  };
  {
    Client client = fixture.Connect();
    check(client.Ask(MakeRequest("GET", "/hello", {}, kAlice)), 200);
    check(client.Ask(MakeRequest("GET", "/empty", {}, kAlice)), 204);
    check(client.Ask(MakeRequest("GET", "/throws", {}, kAlice)), 500);
    check(client.Ask(MakeRequest("PUT", "/hello", {}, kAlice)), 405);
    check(client.Ask(MakeRequest("GET", "/hello")), 401);
    // What a handler says of its answer stands.
    const auto text = client.Ask(MakeRequest("GET", "/nowhere", {}, kAlice));
    CHECK(text->Header("Content-Type") == "text/plain; charset=utf-8");
    REQUIRE(client.Send(MakeRequest("GET", "/gate", {}, kAlice)));
    REQUIRE(fixture.gate.AwaitArrivals(1));
    Client over = fixture.Connect();
    check(over.Ask(MakeRequest("GET", "/hello")), 503);
    fixture.gate.Open();
    check(client.Read(), 200);
    check(client.Ask("nonsense\r\n\r\n"), 400);
  }
}

TEST_CASE("Over the rate limit the answer is 429, before any password is hashed",
          "[server][access]") {
  Rules rules;
  rules.config.users = {{"alice", kSecret4}};
  rules.config.rate_limit = {std::chrono::hours(1), 2};
  Fixture fixture([](Options&) {}, rules.Sources());
  Client client = fixture.Connect();
  CHECK(client.Ask(MakeRequest("GET", "/hello", {}, kAlice))->status == 200);
  CHECK(client.Ask(MakeRequest("GET", "/hello", {}, kAlice))->status == 200);
  const auto refused = client.Ask(MakeRequest("GET", "/hello", {}, kAliceWrong));
  REQUIRE(refused);
  CHECK(refused->status == 429);
  CHECK(refused->Header("Retry-After") == "1");
  CHECK(fixture.counters.password_checks == 1);
  CHECK(fixture.counters.requests_rate_limited == 1);
  // An unchanged limit goes on where it was when other things are read again.
  rules.Set([](AccessConfig& config) { config.headers = {{"X-Frame-Options", "deny"}}; });
  REQUIRE(fixture.access->Reload());
  const auto still = client.Ask(MakeRequest("GET", "/hello", {}, kAlice));
  CHECK(still->status == 429);
  CHECK(still->Header("X-Frame-Options") == "deny");
}

TEST_CASE("While passwords are hashed, whoever is known is served at once", "[server][access]") {
  Rules rules;
  rules.config.users = {{"alice", kSecret4}, {"slow", kSlow11}};
  Fixture fixture(
      [](Options& options) {
        options.worker_threads = 1;
        options.password_threads = 1;
        options.drain_timeout = milliseconds(100);
      },
      rules.Sources());
  Client writer = fixture.Connect();
  REQUIRE(writer.Ask(MakeRequest("GET", "/hello", {}, kAlice))->status == 200);

  // Each of these takes over 100 ms of a core; a worker that waited for one would serve nobody.
  // "slow:" is c2xvdzo=, padded so that passwords differ.
  constexpr size_t kFlood = 100;
  std::vector<Client> flood;
  flood.reserve(kFlood);
  for (size_t i = 0; i < kFlood; ++i) {
    flood.push_back(fixture.Connect());
    std::string digits = std::to_string(i);
    digits.insert(0, 4 - digits.size(), '0');
    REQUIRE(flood.back().Send(
        MakeRequest("GET", "/hello", {}, "Authorization: Basic c2xvdzpB" + digits + "\r\n")));
  }
  REQUIRE(Eventually([&] { return fixture.counters.requests_now > 50; }));
  for (int i = 0; i < 20; ++i) {
    const auto reply = writer.Ask(MakeRequest("GET", "/hello", {}, kAlice));
    REQUIRE(reply);
    REQUIRE(reply->status == 200);
  }
  const uint64_t checked = fixture.counters.password_checks;
  CHECK(checked < kFlood / 2);
  size_t refused = 0;
  for (size_t i = PasswordVerifier::kMaxWaitingClaims + 10; i < kFlood; ++i) {
    const auto reply = flood[i].Read();
    if (!reply || reply->status != 503) continue;
    CHECK(reply->Header("Retry-After") == "5");
    ++refused;
  }
  CHECK(refused > 0);
  // A stop does not compute what is still waiting.
  fixture.server->Stop();
  CHECK(fixture.counters.password_checks < kFlood);
}

TEST_CASE("Changed files are read again, and bad ones change nothing", "[server][access][reload]") {
  Rules rules;
  rules.token_file = rules.folder.Write("tokens", "old\n");
  rules.config.users = {{"alice", kSecret4}};
  Fixture fixture([](Options&) {}, rules.Sources());
  Client client = fixture.Connect();
  const auto write = [&](const char* token) {
    return client
        .Ask(MakeRequest("POST", "/write", {},
                         "Authorization: Bearer " + std::string(token) + "\r\n"))
        ->status;
  };
  const auto get = [&](const std::string& header) {
    return client.Ask(MakeRequest("GET", "/hello", {}, header))->status;
  };
  CHECK(fixture.counters.web_config_good_now == 1);
  CHECK(fixture.counters.web_config_loaded_ms == 784'111'777'000);
  CHECK(write("old") == 200);
  CHECK(get(kAlice) == 200);

  fixture.clock.Set(FromUnixMs(784'111'778'000));
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_loaded_ms == 784'111'777'000);

  rules.folder.Write("tokens", "new\n");
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_loaded_ms == 784'111'778'000);
  CHECK(write("old") == 401);
  CHECK(write("new") == 200);

  // A keep-alive connection is judged by the users of now, too.
  rules.Set([](AccessConfig& config) { config.users = {{"bob", kSecret4}}; });
  rules.folder.Write("web.yml", "2");
  fixture.access->CheckFiles();
  CHECK(get(kAlice) == 401);
  CHECK(get(kBob) == 200);

  std::vector<std::string> lines;
  SetLogSink([&](std::string_view line) { lines.emplace_back(line); });
  rules.folder.Write("web.yml", "bad");
  fixture.access->CheckFiles();
  fixture.access->CheckFiles();
  CHECK_FALSE(fixture.access->Reload());
  CHECK(fixture.counters.web_config_good_now == 0);
  CHECK(get(kBob) == 200);
  CHECK(write("new") == 200);
  CHECK(std::ranges::count_if(lines, [](const std::string& line) {
          return line.find("web.yml:1: it is bad") != std::string::npos;
        }) == 1);

  rules.folder.Write("tokens", "");
  fixture.access->CheckFiles();
  rules.folder.Write("web.yml", "3");
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_good_now == 0);
  CHECK(write("new") == 200);
  rules.folder.Write("tokens", "newest");
  fixture.clock.Set(FromUnixMs(784'111'779'000));
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_good_now == 1);
  CHECK(fixture.counters.web_config_loaded_ms == 784'111'779'000);
  CHECK(write("newest") == 200);
  SetLogSink({});
  for (const std::string& line : lines) CHECK(line.find("newest") == std::string::npos);
}

TEST_CASE("Files are watched without being asked", "[server][access][reload]") {
  Rules rules;
  rules.token_file = rules.folder.Write("tokens", "old\n");
  Fixture fixture([](Options&) {}, rules.Sources());
  fixture.access->Watch();
  rules.folder.Write("tokens", "new\n");
  const Sha256 wanted = HashParts({"bearer", "new"});
  CHECK(Eventually([&] { return fixture.access->Rules()->tokens.front() == wanted; }));
  fixture.access->StopWatching();
}

TEST_CASE("TLS is not switched on by a changed file", "[server][access][reload]") {
  Rules rules;
  Fixture fixture([](Options&) {}, rules.Sources());
  const MadeCertificate certificate({});
  rules.Set([&](AccessConfig& config) {
    config.tls.emplace();
    config.tls->certificate.text = certificate.certificate();
    config.tls->key.text = certificate.key();
  });
  CHECK_FALSE(fixture.access->Reload());
  CHECK(fixture.counters.web_config_good_now == 0);
  CHECK(fixture.Connect().Ask(MakeRequest("GET", "/hello"))->status == 200);
}

TEST_CASE("Without files there is nothing to reload and nothing to tell", "[server][access]") {
  Fixture fixture;
  CHECK(fixture.access->Reload());
  fixture.access->CheckFiles();
  CHECK(fixture.counters.web_config_good_now == -1);
  CHECK(fixture.counters.web_config_loaded_ms == 0);
}

}  // namespace tidemark::server
