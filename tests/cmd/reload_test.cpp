// The configuration in force: what a reload takes over, and what it refuses.

#include "cmd/reload.h"

#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/cmd/temporary_file.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kFile =
    "estimation: {cpu: {half_life: 1d}}\n"
    "backfill: {url: 'http://p', basic_auth: {username: a, password: one}}\n";

/// A configuration in force, and the profiles that it had applied.
struct Bench {
  explicit Bench(std::string_view content)
      : file(content), in_force(file.path(), LoadConfig(file.path()).value(), clock, Apply()) {}

  std::function<void(ProfileSetPtr)> Apply() {
    return [this](ProfileSetPtr profiles) { applied.push_back(std::move(profiles)); };
  }
  std::string Refused(std::string_view content) {
    file.Write(content);
    const std::string before = in_force.Yaml();
    clock.Set(clock.Now() + std::chrono::seconds(1));
    const int64_t success_ms = in_force.last_success_ms();
    const auto outcome = in_force.Reload();
    REQUIRE_FALSE(outcome);
    CHECK_FALSE(in_force.last_reload_successful());
    CHECK(in_force.last_success_ms() == success_ms);
    CHECK(in_force.Yaml() == before);
    CHECK(applied.empty());
    const std::string& message = outcome.error().message;
    REQUIRE(message.starts_with(file.path() + ":"));
    return message.substr(file.path().size() + 1);
  }

  TemporaryFile file;
  ManualClock clock{FromUnixMs(1'700'000'000'000)};
  std::vector<ProfileSetPtr> applied;
  ConfigInForce in_force;
};

}  // namespace

TEST_CASE("At the start the configuration counts as read well", "[cmd][reload]") {
  const Bench bench(kFile);
  CHECK(bench.in_force.last_reload_successful());
  CHECK(bench.in_force.last_success_ms() == 1'700'000'000'000);
  CHECK(bench.in_force.Yaml() == DumpConfig(LoadConfig(bench.file.path()).value()));
  CHECK(bench.applied.empty());
}

TEST_CASE("A reload takes over estimation, profiles and compat", "[cmd][reload]") {
  Bench bench(kFile);
  bench.clock.Set(FromUnixMs(1'700'000'005'000));
  bench.file.Write(
      std::string(kFile) +
      "profiles: [{name: a, selector: '{namespace=\"x\"}', mode: off}]\ncompat: {vpa_metrics: "
      "true}\n");
  CHECK_FALSE(bench.in_force.vpa_metrics());
  REQUIRE(bench.in_force.Reload());
  CHECK(bench.in_force.vpa_metrics());
  REQUIRE(bench.applied.size() == 1);
  REQUIRE(bench.applied[0]->profiles().size() == 1);
  CHECK(bench.applied[0]->profiles()[0].mode == PoolMode::kOff);
  CHECK(bench.in_force.last_success_ms() == 1'700'000'005'000);
  CHECK(bench.in_force.Yaml() == DumpConfig(LoadConfig(bench.file.path()).value()));

  bench.file.Write(kFile);  // and back
  REQUIRE(bench.in_force.Reload());
  REQUIRE(bench.applied.size() == 2);
  CHECK(bench.applied[1]->profiles().empty());
  CHECK_FALSE(bench.in_force.vpa_metrics());
}

TEST_CASE("A reload takes over prices", "[cmd][reload]") {
  Bench bench(kFile);
  CHECK(bench.in_force.prices() == Prices{});
  bench.file.Write(std::string(kFile) + "prices: {currency: EUR, cpu_core_hour: 0.03}\n");
  REQUIRE(bench.in_force.Reload());
  CHECK(bench.in_force.prices() == Prices{.currency = "EUR", .cpu_core_hour = 0.03});
  CHECK(bench.applied.empty());
}

TEST_CASE("A reload takes over forecasts where somebody takes them", "[cmd][reload]") {
  Bench bench(kFile);
  const std::string changed = std::string(kFile) + "forecast: {training_budget_ratio: 0.5}\n";
  CHECK(bench.Refused(changed).starts_with(" forecast: changed, which needs a restart"));

  TemporaryFile file(kFile);
  std::vector<std::shared_ptr<const ForecastSettings>> applied;
  ConfigInForce in_force(
      file.path(), LoadConfig(file.path()).value(), bench.clock, bench.Apply(),
      [&](std::shared_ptr<const ForecastSettings> settings) { applied.push_back(settings); });
  file.Write("# the same\n" + std::string(kFile));
  REQUIRE(in_force.Reload());
  CHECK(applied.empty());
  file.Write(changed);
  REQUIRE(in_force.Reload());
  REQUIRE(applied.size() == 1);
  CHECK(applied[0]->training_budget_ratio == 0.5);
  CHECK(in_force.Yaml().find("training_budget_ratio: 0.5") != std::string::npos);
  file.Write(changed + "limits: {max_series: 7}\n");
  const auto refused = in_force.Reload();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.ends_with(
      "changes of estimation, profiles, rightsizing, kubernetes, compat, prices, forecast"));
  CHECK(applied.size() == 1);
  CHECK(bench.applied.empty());
}

TEST_CASE("A reload takes over rules of scaling where somebody takes them", "[cmd][reload]") {
  Bench bench(kFile);
  const std::string changed =
      std::string(kFile) + "scaling: {workloads: [{selector: '{}', max_replicas: 9}]}\n";
  CHECK(bench.Refused(changed).starts_with(" scaling: changed, which needs a restart"));

  TemporaryFile file(kFile);
  std::vector<ScalingSettingsPtr> applied;
  ConfigInForce in_force(
      file.path(), LoadConfig(file.path()).value(), bench.clock, bench.Apply(), nullptr,
      [&](ScalingSettingsPtr settings) { applied.push_back(std::move(settings)); });
  file.Write("# the same\n" + std::string(kFile));
  REQUIRE(in_force.Reload());
  CHECK(applied.empty());
  file.Write(changed);
  REQUIRE(in_force.Reload());
  REQUIRE(applied.size() == 1);
  REQUIRE(applied[0]->rules.size() == 1);
  CHECK(applied[0]->rules[0].max_replicas == 9);
  CHECK(in_force.Yaml().find("max_replicas: 9") != std::string::npos);
  file.Write(std::string(kFile) + "scaling: {workloads: [{selector: '{}', max_replica: 9}]}\n");
  REQUIRE_FALSE(in_force.Reload());
  CHECK(applied.size() == 1);
  file.Write(kFile);  // and back
  REQUIRE(in_force.Reload());
  REQUIRE(applied.size() == 2);
  CHECK(applied[1]->rules.empty());
}

TEST_CASE("Profiles that say the same are not applied anew", "[cmd][reload]") {
  Bench bench(kFile);
  bench.file.Write("# another comment\nestimation: {level: container}\n" +
                   std::string(kFile.substr(kFile.find("backfill"))) +
                   "compat: {vpa_metrics: true}\n");
  REQUIRE(bench.in_force.Reload());
  CHECK(bench.applied.empty());
  CHECK(bench.in_force.vpa_metrics());
  CHECK(bench.in_force.last_reload_successful());
}

TEST_CASE("A reload that changes what needs a restart is refused as a whole", "[cmd][reload]") {
  Bench bench(kFile);
  const std::string good = "estimation: {cpu: {percentile: 0.5}}\ncompat: {vpa_metrics: true}\n";
  const std::string same(kFile.substr(kFile.find("backfill")));
  constexpr std::string_view kRest =
      ": changed, which needs a restart, and nothing was applied; allowed in a reload: changes of "
      "estimation, profiles, rightsizing, kubernetes, compat, prices";
  const auto names = [&](const std::string& content) {
    const std::string message = bench.Refused(good + content);
    REQUIRE(message.ends_with(kRest));
    return message.substr(1, message.size() - kRest.size() - 1);
  };
  CHECK(names(same + "limits: {max_series: 7}\n") == "limits");
  CHECK(names(same + "storage: {min_free: 1GB}\nremote_write: {late: refuse}\n") ==
        "remote_write, storage");
  CHECK(names(same + "sources: [{metric: a, role: none}]\n") == "sources");
  CHECK(names(same + "sources: [{metric: a, role: usage_gauge, resource: net, unit: byte}]\n") ==
        "sources");
  CHECK(names("backfill: {url: 'http://q', basic_auth: {username: a, password: one}}\n") ==
        "backfill");
  // Secrets are compared, though never shown.
  CHECK(names("backfill: {url: 'http://p', basic_auth: {username: a, password: hunter2}}\n") ==
        "backfill");
  CHECK(bench.in_force.Yaml().find("hunter2") == std::string::npos);
  CHECK_FALSE(bench.in_force.vpa_metrics());

  bench.file.Write(good + same);
  REQUIRE(bench.in_force.Reload());
  CHECK(bench.in_force.last_reload_successful());
  CHECK(bench.applied.size() == 1);
}

TEST_CASE("A file that is wrong, half-written, empty or gone changes nothing", "[cmd][reload]") {
  Bench bench(kFile);
  CHECK(bench.Refused("estimaton: {}\n").starts_with("1: estimaton: there is no such key"));
  CHECK(bench.Refused("estimation: {cpu: {percentile: 2}}\n")
            .starts_with("1: estimation.cpu.percentile: 2 is out of range"));
  CHECK(bench.Refused(kFile.substr(0, 30)).find("this is not YAML") != std::string::npos);
  CHECK(bench.Refused("") ==
        " the file is empty, allowed in a reload: what is to be in force, {} for the defaults");
  bench.file.Remove();
  const auto outcome = bench.in_force.Reload();
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().message ==
        bench.file.path() + ": the file cannot be read: No such file or directory");
  CHECK_FALSE(bench.in_force.last_reload_successful());
  bench.file.Write(kFile);
  REQUIRE(bench.in_force.Reload());
  CHECK(bench.applied.empty());
}

TEST_CASE("Without a file a reload succeeds and changes nothing", "[cmd][reload]") {
  ManualClock clock(FromUnixMs(5'000));
  ConfigInForce in_force("", Config{}, clock, [](const ProfileSetPtr&) { FAIL("applied"); });
  REQUIRE(in_force.Reload());
  CHECK(in_force.Yaml() == DumpConfig(Config{}));
  CHECK(in_force.last_reload_successful());
}

TEST_CASE("Reloads from many threads come one after the other", "[cmd][reload]") {
  const TemporaryFile file("{}");
  ManualClock clock(FromUnixMs(1));
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> applied{0};
  ConfigInForce in_force(file.path(), Config{}, clock, [&](const ProfileSetPtr&) {
    const int now = ++inside;
    if (now > most) most = now;
    std::this_thread::yield();
    --inside;
    ++applied;
  });
  file.Write("estimation: {mode: off}\n");
  std::vector<std::thread> threads;
  threads.reserve(10);
  std::atomic<int> good{0};
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      if (in_force.Reload()) ++good;
      if (in_force.Yaml().find("mode: off") == std::string::npos) good = -1000;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 10);
  CHECK(most == 1);
  CHECK(applied == 1);  // the others found nothing new
}

}  // namespace tidemark::cmd
