// The flags of `tidetool replay`.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cmd/command_line.h"
#include "cmd/replay_policies_flags.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kDay = 24LL * 60 * 60 * 1000;

Result<ReplayPoliciesOrder> Read(std::vector<std::string> args) {
  const auto line = ParseCommandLine(ReplayPoliciesSpec(), args);
  INFO((line ? "" : line.error().message));
  REQUIRE(line);
  return ReadReplayPoliciesFlags(*line, kNow);
}

ReplayPoliciesOrder Good(std::vector<std::string> args) {
  args.insert(args.begin(), "--traces=x.csv");
  const auto order = Read(std::move(args));
  INFO((order ? "" : order.error().message));
  REQUIRE(order);
  return *order;
}

std::string WrongAlone(std::vector<std::string> args) {
  const auto order = Read(std::move(args));
  REQUIRE_FALSE(order);
  CHECK(order.error().code == ErrorCode::kInvalidArgument);
  CHECK(order.error().message.find("allowed: ") != std::string::npos);
  return order.error().message;
}

std::string Wrong(std::vector<std::string> args) {
  args.insert(args.begin(), "--traces=x.csv");
  return WrongAlone(std::move(args));
}

}  // namespace

TEST_CASE("Without flags the usual holds", "[replay_policies][flags]") {
  const ReplayPoliciesOrder order = Good({});
  CHECK(order.traces == "x.csv");
  CHECK(order.plan.policies.size() == 5);
  CHECK(order.plan.startup_ms == 120'000);
  CHECK(order.plan.period_minutes == 1);
  CHECK_FALSE(order.plan.request);
  CHECK(order.plan.bounds == ReplicaBounds{1, 50});
  CHECK(order.plan.warm_up_minutes == 1440);
  CHECK_FALSE(order.plan.trains_networks);
  CHECK_FALSE(order.plan.draws);
  CHECK(order.output == PoliciesOutput::kTable);
}

TEST_CASE("All flags are read", "[replay_policies][flags]") {
  const ReplayPoliciesOrder order = Good({"--policy=debi,tidemark,bilstm-hpa",
                                          "--startup=90s",
                                          "--period",
                                          "5m",
                                          "--request=500m",
                                          "--min-replicas=2",
                                          "--max-replicas=20",
                                          "--tolerance=5%",
                                          "--window=10m",
                                          "--utilization-low=0.4",
                                          "--utilization-high=80%",
                                          "--slo-utilization=0.8",
                                          "--slo-time=1%",
                                          "--high-water-risk=0.01",
                                          "--warm-up=2d",
                                          "--networks",
                                          "--seed=7",
                                          "--output=html",
                                          "--output.file=y.html",
                                          "--minutes=m.csv"});
  CHECK(order.plan.startup_ms == 90'000);
  CHECK(order.plan.StartupMinutes() == 2);
  CHECK(order.plan.period_minutes == 5);
  CHECK(order.plan.request == 0.5);
  CHECK(order.plan.bounds == ReplicaBounds{2, 20});
  CHECK(order.plan.perfect_window_minutes == 10);
  CHECK(order.plan.warm_up_minutes == 2880);
  CHECK(order.plan.trains_networks);
  CHECK(order.plan.seed == 7);
  CHECK(order.plan.draws);
  CHECK(order.output_file == "y.html");
  CHECK(order.minutes_file == "m.csv");
  const PolicySettings& settings = order.plan.policies[1].settings;
  CHECK(settings.tolerance_ratio == 0.05);
  CHECK(settings.window_minutes == 10);
  CHECK(settings.utilization_low_ratio == 0.4);
  CHECK(settings.utilization_high_ratio == 0.8);
  CHECK(settings.slo_utilization_ratio == 0.8);
  CHECK(settings.slo_time_ratio == 0.01);
  CHECK(settings.high_water_risk == 0.01);
}

TEST_CASE("A query goes eight days back and needs the request", "[replay_policies][flags]") {
  const auto order = Read({"--prometheus=http://h:9090", "--query=up", "--request=2"});
  REQUIRE(order);
  REQUIRE(order->prometheus);
  CHECK(order->prometheus->end_ms == kNow);
  CHECK(order->prometheus->start_ms == kNow - 8 * kDay);
  CHECK(WrongAlone({"--prometheus=http://h:9090", "--query=up"}).find("--request: it is missing") ==
        0);
  CHECK(WrongAlone({"--prometheus=http://h:9090", "--request=1"}).find("--query: it is missing") ==
        0);
  CHECK(WrongAlone({"--prometheus=h", "--query=up"}).find("--prometheus: ") == 0);
  CHECK(WrongAlone({"--prometheus=http://h", "--query=up", "--start=1h"}).find("--start: ") == 0);
}

TEST_CASE("Wrong flags are named, with what is allowed", "[replay_policies][flags]") {
  CHECK(WrongAlone({}).find("nothing to replay, allowed: --traces=PATH or --prometheus=URL") == 0);
  CHECK(Wrong({"--prometheus=http://h", "--query=up"}) ==
        "--prometheus: it does not go with --traces, allowed: one of them");
  CHECK(Wrong({"--query=up"}) ==
        "--query: it does not go with --traces, allowed: with --prometheus");
  CHECK(Wrong({"--username=me"}).find("--username: it does not go with --traces") == 0);
  CHECK(Wrong({"scaling"}).find("scaling cannot be replayed, allowed: requests") == 0);
  CHECK(Wrong({"--policy=vpa"}).find("--policy: vpa is no policy, allowed: hpa, arima-hpa") == 0);
  CHECK(Wrong({"--policy="}).find("--policy: \"\" is no policy") == 0);
  CHECK(Wrong({"--policy=hpa@0.6"}).find("did you mean hpa@60?") != std::string::npos);
  CHECK(Wrong({"--min-replicas=9", "--max-replicas=3"}) ==
        "--min-replicas: 9 is above --max-replicas, 3, allowed: up to that");
  CHECK(Wrong({"--min-replicas=0"}).find("--min-replicas: 0 is no number of replicas") == 0);
  CHECK(Wrong({"--max-replicas=1e3"}).find("--max-replicas: ") == 0);
  for (const std::string bad : {"0", "-1", "x", "", "inf", "1e300"}) {
    CHECK(Wrong({"--request=" + bad}).find("--request: ") == 0);
  }
  for (const std::string bad : {"-1s", "31m", "2", "x", ""}) {
    CHECK(Wrong({"--startup=" + bad}).find("--startup: ") == 0);
  }
  for (const std::string bad : {"0", "61m", "90s"}) {
    CHECK(Wrong({"--period=" + bad}).find("--period: ") == 0);
    CHECK(Wrong({"--window=" + bad}).find("--window: ") == 0);
  }
  CHECK(Wrong({"--tolerance=1"})
            .find("--tolerance: 1 is no such share, allowed: from 0 and below "
                  "1, such as 10% or 0.1") == 0);
  CHECK(Wrong({"--tolerance=nan"}).find("--tolerance: ") == 0);
  CHECK(Wrong({"--slo-time=50%"}).find("--slo-time: ") == 0);
  CHECK(Wrong({"--slo-utilization=90"}).find("--slo-utilization: 90 is no such share") == 0);
  CHECK(Wrong({"--utilization-low=80%"})
            .find("--utilization-low: 0.8 is above "
                  "--utilization-high, 0.7") == 0);
  CHECK(Wrong({"--warm-up=90s"}).find("--warm-up: ") == 0);
  CHECK(Wrong({"--seed=-1"}).find("--seed: ") == 0);
  CHECK(Wrong({"--output=xml"}) ==
        "--output: xml is no form of output, allowed: table, json, csv, html");
  CHECK(Wrong({"--minutes="}).find("--minutes: it is empty") == 0);
  CHECK(Wrong({"--minutes=a.csv", "--output.file=./a.csv"}).find("--minutes: it is the same") == 0);
}

TEST_CASE("What no policy reads is refused", "[replay_policies][flags]") {
  CHECK(Wrong({"--policy=debi", "--slo-time=1%"}) ==
        "--slo-time: no policy reads it, allowed: with tidemark among --policy");
  CHECK(Wrong({"--policy=hpa", "--slo-utilization=80%"}).find("--slo-utilization: no policy") == 0);
  CHECK(Wrong({"--policy=tidemark", "--utilization-high=80%"}).find("with debi or debi-paper") !=
        std::string::npos);
  CHECK(Wrong({"--policy=tidemark", "--high-water-risk=0.01"}).find("--high-water-risk: no") == 0);
  CHECK(Wrong({"--policy=tidemark", "--networks"}).find("--networks: no policy reads it") == 0);
  for (const std::string policy : {"lstm-hpa", "bilstm-hpa@60", "evt-bilstm-hpa"}) {
    CHECK(Wrong({"--policy=hpa," + policy}).find("--policy: " + policy + " goes by a network") ==
          0);
    CHECK(Good({"--policy=" + policy, "--networks"}).plan.trains_networks);
  }
  CHECK(Good({"--policy=arima-hpa"}).plan.Models().back() == ForecastModel::kArima);
}

TEST_CASE("Nothing is written among the traces", "[replay_policies][flags]") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "tidemark-replay-flags-test";
  fs::remove_all(folder);
  fs::create_directories(folder / "traces");
  fs::create_directory_symlink(folder / "traces", folder / "link");
  std::ofstream(folder / "traces" / "a.csv") << "unix_seconds,value\n";
  const std::string traces = "--traces=" + (folder / "traces").string();
  for (const std::string flag : {"--minutes=", "--output.file="}) {
    for (const std::string inner : {"traces/new.csv", "traces/sub/new.csv", "link/new.csv",
                                    "traces/../traces/new.csv", "traces/a.csv"}) {
      INFO(flag << inner);
      CHECK(WrongAlone({traces, flag + (folder / inner).string()})
                .find("lies within, what is "
                      "replayed") != std::string::npos);
    }
    CHECK(Read({traces, flag + (folder / "traces2.csv").string()}));
    const std::string file = (folder / "traces" / "a.csv").string();
    CHECK(WrongAlone({"--traces=" + file, flag + file}).find("allowed: a file elsewhere") !=
          std::string::npos);
    CHECK(Read({"--traces=" + file, flag + (folder / "traces" / "b.csv").string()}));
  }
  fs::remove_all(folder);
}

}  // namespace tidemark::cmd
