// Whatever is answered, checks end, and what they say can stand on a terminal.

#include <boost/json/serialize.hpp>
#include <random>

#include "cmd/doctor/api_service.h"
#include "cmd/doctor/checks.h"
#include "cmd/doctor/report.h"
#include "tests/doctor/fake_world.h"
#include "tests/seed.h"

namespace tidemark::doctor {
namespace {

namespace json = boost::json;

constexpr std::string_view kKeys[] = {"data",
                                      "items",
                                      "metadata",
                                      "labels",
                                      "spec",
                                      "service",
                                      "name",
                                      "namespace",
                                      "status",
                                      "conditions",
                                      "type",
                                      "reason",
                                      "message",
                                      "webhooks",
                                      "metrics",
                                      "external",
                                      "metric",
                                      "selector",
                                      "target",
                                      "caBundle",
                                      "clientConfig",
                                      "matchLabels",
                                      "matchExpressions",
                                      "key",
                                      "operator",
                                      "values",
                                      "behavior",
                                      "scaleUp",
                                      "tolerance",
                                      "sources",
                                      "role",
                                      "series",
                                      "last_sample",
                                      "workloads",
                                      "scaling",
                                      "result",
                                      "value",
                                      "version",
                                      "resources",
                                      "gitVersion",
                                      "minor",
                                      "major",
                                      "allowed",
                                      "resource",
                                      "continue",
                                      "maxReplicas",
                                      "averageValue",
                                      "requestheader-client-ca-file"};
constexpr std::string_view kTexts[] = {"",
                                       "External",
                                       "AverageValue",
                                       "tidemark_target_replicas",
                                       "tidemark",
                                       "True",
                                       "1",
                                       "Available",
                                       "\x1b[31mr",
                                       "\xff\xfe",
                                       "Utilization",
                                       "Resource",
                                       "success",
                                       "In",
                                       "{}",
                                       "1e999",
                                       "AAAA",
                                       "a\nb",
                                       "2023-11-14T22:13:20Z"};

/// JSON of any shape, made of the keys that checks look for.
json::value Any(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 9 : 6)) {
    case 0: return nullptr;
    case 1: return static_cast<int64_t>(random()) - (1LL << 31);
    case 2: return random() % 2 == 0;
    case 3: return 1e300 * static_cast<double>(random() % 1000);
    case 4:
    case 5: return json::string(kTexts[random() % std::size(kTexts)]);
    case 6: {
      json::array list;
      for (size_t i = random() % 4; i > 0; --i) list.push_back(Any(random, depth - 1));
      return list;
    }
    default: {
      json::object map;
      for (size_t i = random() % 10; i > 0; --i) {
        map[kKeys[random() % std::size(kKeys)]] = Any(random, depth - 1);
      }
      return map;
    }
  }
}

}  // namespace

TEST_CASE("no answer crashes a check, and none reaches the terminal raw", "[doctor][hostile]") {
  const uint32_t seed = testing::Seed();
  INFO(seed);
  std::mt19937 random(seed);
  FakeAsker asker;
  asker.handler = [&](const client::Request&) -> Reply {
    switch (random() % 8) {
      case 0: return {.status = 403, .trouble = "forbidden \x1b[31m"};
      case 1: return {.status = 0, .trouble = "refused"};
      case 2: return {.status = 200, .body = std::string(50'000, '[')};
      case 3: return {.status = 200, .body = "tidemark_config_last_reload_successful{ 1\n"};
      default: return {.status = 200, .body = json::serialize(Any(random, 6))};
    }
  };
  Installation installation;
  installation.tidemark = &asker;
  installation.kubernetes = &asker;
  installation.prometheus = &asker;
  installation.served = Chain{"no certificate"};
  installation.authorities = {"neither"};
  installation.now_ms = 1'700'000'000'000;
  for (int round = 0; round < 1000; ++round) {
    const Findings findings = CheckAll(installation);
    CHECK(findings.all().size() >= 10);
    const std::string table = Write(Output::kTable, findings);
    CHECK(table.find('\x1b') == std::string::npos);
    const json::value read = json::parse(Write(Output::kJson, findings));
    CHECK(read.at("checks").as_array().size() == findings.all().size());
    const auto taken = TakeApiService(asker, {}, "x", round % 2 == 0);
    if (!taken) CHECK_FALSE(taken.error().message.empty());
    asker.asked.clear();
  }
}

TEST_CASE("findings stand in a table and in JSON", "[doctor][report]") {
  Findings findings;
  findings.Ok("a.b", "Fine.");
  findings.Problem("c.long_name", "Bad \x1b[1m.", "Do this and that.");
  findings.Skipped("d", "no input");
  CHECK(Write(Output::kTable, findings) ==
        "ok       a.b          Fine.\n"
        "problem  c.long_name  Bad \xEF\xBF\xBD[1m.\n"
        "                      -> Do this and that.\n"
        "skipped  d            no input\n"
        "\nproblems: 1, warnings: 0, ok: 1, skipped: 1\n");
  const json::value read = json::parse(Write(Output::kJson, findings));
  CHECK(read.at("problems") == 1);
  CHECK(read.at("checks").at(1).at("verdict") == "problem");
  CHECK(read.at("checks").at(1).at("advice") == "Do this and that.");
  CHECK_FALSE(read.at("checks").at(0).as_object().contains("advice"));
}

}  // namespace tidemark::doctor
