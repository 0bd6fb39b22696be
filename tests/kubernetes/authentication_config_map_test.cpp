// What is read from the ConfigMap of the front proxies, when, and what becomes of a bad one.

#include "kubernetes/authentication_config_map.h"

#include <atomic>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "model/log.h"
#include "tests/catch.h"
#include "tests/client/fake_server.h"
#include "tests/seed.h"
#include "tests/server/certificates.h"

namespace tidemark::kubernetes {
namespace {

using namespace std::chrono_literals;
using client::FakeRequest;
using client::FakeServer;
using client::HttpAnswer;
using server::MadeCertificate;

const MadeCertificate& OldCa() {
  static const MadeCertificate ca({.name = "old front proxy ca", .ca = true});
  return ca;
}
const MadeCertificate& NewCa() {
  static const MadeCertificate ca({.name = "new front proxy ca", .ca = true});
  return ca;
}

using Data = std::map<std::string, std::string>;

Data GoodData(const MadeCertificate& ca) {
  return {{"client-ca-file", NewCa().certificate()},
          {"requestheader-client-ca-file", ca.certificate()},
          {"requestheader-allowed-names", R"(["front-proxy-client"])"},
          {"requestheader-username-headers", R"(["X-Remote-User"])"},
          {"requestheader-group-headers", R"(["X-Remote-Group"])"},
          {"requestheader-extra-headers-prefix", R"(["X-Remote-Extra-"])"}};
}

std::string ConfigMap(const Data& data) {
  boost::json::object entries;
  for (const auto& [key, value] : data) entries[key] = value;
  return boost::json::serialize(boost::json::object(
      {{"kind", "ConfigMap"}, {"apiVersion", "v1"}, {"data", std::move(entries)}}));
}

std::string Why(const Data& data, bool with_client_ca = false) {
  const auto config = ParseAuthenticationConfigMap(ConfigMap(data), with_client_ca);
  return config ? "" : config.error().message;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// An API server whose answer can be changed, and what has been taken from it.
struct World {
  explicit World(std::string first) : answer(std::move(first)) {
    options.api.url = server.url();
    options.every = 20ms;
    options.first_retry = 2ms;
    options.most_retry = 20ms;
    options.least_between = 1ms;
    options.seed = testing::Seed();
    SetLogSink([this](std::string_view line) {
      const std::lock_guard lock(mutex);
      log += std::string(line) + "\n";
    });
  }
  ~World() {
    source.reset();
    SetLogSink({});
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void Start() {
    auto started = AuthenticationConfigMap::Start(
        options,
        [this](const AuthenticationConfig& config) -> Result<void> {
          const std::lock_guard lock(mutex);
          taken.push_back(config);
          return {};
        },
        counters);
    REQUIRE(started);
    source = *std::move(started);
  }
  void Answer(std::string next) {
    const std::lock_guard lock(mutex);
    answer = std::move(next);
  }
  size_t Taken() {
    const std::lock_guard lock(mutex);
    return taken.size();
  }
  std::string Logged() {
    const std::lock_guard lock(mutex);
    return log;
  }

  std::mutex mutex;
  std::string answer;  // empty: silence
  std::string log;
  std::vector<AuthenticationConfig> taken;
  std::atomic<int> asked{0};
  std::string path;
  KubernetesCounters counters;
  FakeServer server{[this](const FakeRequest& request) -> std::optional<std::string> {
    ++asked;
    const std::lock_guard lock(mutex);
    path = request.target;
    if (answer.empty()) return std::nullopt;
    return answer;
  }};
  ConfigMapOptions options;
  std::unique_ptr<AuthenticationConfigMap> source;
};

}  // namespace

TEST_CASE("the ConfigMap of the front proxies is read", "[kubernetes][authentication]") {
  const auto config = ParseAuthenticationConfigMap(ConfigMap(GoodData(OldCa())), false);
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  CHECK(config->request_header.ca_pem == OldCa().certificate());
  CHECK(config->request_header.allowed_names == std::vector<std::string>{"front-proxy-client"});
  CHECK(config->request_header.username_headers == std::vector<std::string>{"X-Remote-User"});
  CHECK(config->request_header.group_headers == std::vector<std::string>{"X-Remote-Group"});
  CHECK(config->request_header.extra_header_prefixes ==
        std::vector<std::string>{"X-Remote-Extra-"});
  // Before Kubernetes 1.32 no header of the UID is set, so none is believed.
  CHECK(config->request_header.uid_headers.empty());
  CHECK(config->client_ca_pem.empty());

  Data data = GoodData(OldCa());
  data["requestheader-uid-headers"] = R"(["X-Remote-Uid"])";
  const auto newer = ParseAuthenticationConfigMap(ConfigMap(data), true);
  REQUIRE(newer);
  CHECK(newer->request_header.uid_headers == std::vector<std::string>{"X-Remote-Uid"});
  CHECK(newer->client_ca_pem == NewCa().certificate());
}

TEST_CASE("what is wrong in the ConfigMap is named by its key", "[kubernetes][authentication]") {
  const auto with = [](const std::string& key, const std::string& value) {
    Data data = GoodData(OldCa());
    data[key] = value;
    return data;
  };
  Data without = GoodData(OldCa());
  without.erase("requestheader-client-ca-file");
  CHECK(Has(Why(without), "requestheader-client-ca-file"));
  CHECK(Has(Why(without), "aggregation layer is off"));
  CHECK(Has(Why(with("requestheader-client-ca-file", "no pem")), "requestheader-client-ca-file"));
  CHECK(Has(Why(with("requestheader-allowed-names", "front-proxy-client")),
            "requestheader-allowed-names"));
  CHECK(Has(Why(with("requestheader-allowed-names", "[1]")), "requestheader-allowed-names"));
  CHECK(Has(Why(with("requestheader-username-headers", "[]")), "requestheader-username-headers"));
  CHECK(Has(Why(with("requestheader-group-headers", R"(["a b"])")), "requestheader-group-headers"));
  CHECK(Why(with("client-ca-file", "no pem")).empty());
  CHECK(Has(Why(with("client-ca-file", "no pem"), true), "client-ca-file"));
  for (const char* const text :
       {"", "{", "[]", "null", "{\"data\":[]}", "{\"data\":{\"client-ca-file\":1}}",
        "{\"data\":{\"requestheader-client-ca-file\":{}}}"}) {
    INFO(text);
    CHECK_FALSE(ParseAuthenticationConfigMap(text, true));
  }
}

TEST_CASE("damaged ConfigMaps are refused or read, and never crash",
          "[kubernetes][authentication]") {
  const uint32_t seed = testing::Seed();
  INFO(seed);
  std::mt19937 random(seed);
  const std::string good = ConfigMap(GoodData(OldCa()));
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int i = 0; i < 1 + round % 8; ++i) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 40); break;
        default: text.insert(at, std::string(1 + random() % 3, "\"[]{}\\,:"[random() % 8]));
      }
    }
    const auto config = ParseAuthenticationConfigMap(text, round % 2 == 0);
    if (config) {
      CHECK(Check(*config));
    } else {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("a new authority is taken over, the same one is not taken twice",
          "[kubernetes][authentication]") {
  World world(HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
  world.Start();
  REQUIRE(Eventually([&] { return world.Taken() == 1; }));
  CHECK(Eventually([&] { return world.source->has_taken(); }));
  CHECK(Eventually([&] { return world.counters.authentication_good_now == 1; }));
  const int before = world.asked;
  REQUIRE(Eventually([&] { return world.asked > before + 3; }));
  CHECK(world.Taken() == 1);
  world.Answer(HttpAnswer(200, ConfigMap(GoodData(NewCa()))));
  REQUIRE(Eventually([&] { return world.Taken() == 2; }));
  world.source->StopWatching();
  CHECK(world.taken[0].request_header.ca_pem == OldCa().certificate());
  CHECK(world.taken[1].request_header.ca_pem == NewCa().certificate());
  CHECK(world.path ==
        "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
}

TEST_CASE("without permission the RoleBinding that is missing is named, and it is tried again",
          "[kubernetes][authentication]") {
  World world(HttpAnswer(403, R"({"kind":"Status","message":"configmaps is forbidden"})"));
  world.Start();
  REQUIRE(Eventually([&] { return world.asked > 2; }));
  CHECK(world.counters.authentication_good_now == 0);
  CHECK_FALSE(world.source->has_taken());
  const std::string log = world.Logged();
  CHECK(Has(log, "RoleBinding"));
  CHECK(Has(log, "extension-apiserver-authentication-reader"));
  CHECK(Has(log, "configmaps is forbidden"));
  CHECK(log.find("RoleBinding") == log.rfind("RoleBinding"));  // once a minute
  world.Answer(HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
  CHECK(Eventually([&] { return world.counters.authentication_good_now == 1; }));
  CHECK(world.Taken() == 1);
}

TEST_CASE("what cannot be used leaves the configuration before in force",
          "[kubernetes][authentication]") {
  World world(HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
  world.Start();
  REQUIRE(Eventually([&] { return world.counters.authentication_good_now == 1; }));
  Data bad = GoodData(NewCa());
  bad["requestheader-client-ca-file"] =
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  for (const std::string& answer :
       {HttpAnswer(200, ConfigMap(bad)), HttpAnswer(404, "{}"), HttpAnswer(500, "x"),
        HttpAnswer(200, "<html>"), std::string("SSH-2.0-x\r\n")}) {
    world.Answer(answer);
    CHECK(Eventually([&] { return world.counters.authentication_good_now == 0; }));
    world.Answer(HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
    CHECK(Eventually([&] { return world.counters.authentication_good_now == 1; }));
  }
  CHECK(world.Taken() == 1);
}

TEST_CASE("a read that is asked for does not wait for the minute", "[kubernetes][authentication]") {
  World world(HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
  world.options.every = 1h;
  world.Start();
  REQUIRE(Eventually([&] { return world.Taken() == 1; }));
  world.Answer(HttpAnswer(200, ConfigMap(GoodData(NewCa()))));
  world.source->ReadSoon();
  CHECK(Eventually([&] { return world.Taken() == 2; }));
}

TEST_CASE("reads that are asked for keep their distance", "[kubernetes][authentication]") {
  World world(HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
  world.options.every = 1h;
  world.options.least_between = 1h;
  world.Start();
  REQUIRE(Eventually([&] { return world.Taken() == 1; }));
  for (int i = 0; i < 100; ++i) world.source->ReadSoon();
  std::this_thread::sleep_for(50ms);
  CHECK(world.asked == 1);
}

TEST_CASE("stopping does not wait for an answer or a pause", "[kubernetes][authentication]") {
  for (const bool silent : {true, false}) {
    World world(silent ? "" : HttpAnswer(200, ConfigMap(GoodData(OldCa()))));
    world.options.every = 1h;
    world.Start();
    REQUIRE(Eventually([&] { return world.asked > 0; }));
    const auto begin = std::chrono::steady_clock::now();
    world.source->StopWatching();
    CHECK(std::chrono::steady_clock::now() - begin < 1s);
    world.source->ReadSoon();
  }
}

TEST_CASE("options that cannot be are refused", "[kubernetes][authentication]") {
  KubernetesCounters counters;
  ConfigMapOptions options;
  options.api.url = "kubernetes";
  CHECK_FALSE(AuthenticationConfigMap::Start(
      options, [](const AuthenticationConfig&) -> Result<void> { return {}; }, counters));
}

}  // namespace tidemark::kubernetes
