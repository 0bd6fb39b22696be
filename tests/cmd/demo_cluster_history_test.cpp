// The past of the demo cluster, and how the present goes on from it.

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cmd/demo_cluster/cluster.h"
#include "cmd/demo_cluster/command.h"
#include "cmd/demo_cluster/history.h"
#include "cmd/demo_cluster/pages.h"
#include "cmd/demo_cluster/text_page.h"
#include "model/log.h"
#include "tests/catch.h"
#include "tests/cmd/exposition_parser.h"

namespace tidemark::demo_cluster {
namespace {

using namespace std::chrono_literals;

// A Monday at noon UTC, with milliseconds.
constexpr int64_t kEndMs = 1796040000250;
constexpr std::string_view kInstance = "127.0.0.1:9850";

/// A file name that is free for this test's process.
std::string TemporaryFile(std::string_view name) {
  return (std::filesystem::temp_directory_path() /
          ("tidemark-" + std::to_string(getpid()) + "-" + std::string(name)))
      .string();
}

std::string Content(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Row {
  int64_t time_ms = 0;
  double value = 0;
};

/// What was written: rows by series, in the order of the file.
struct Written {
  std::vector<std::string> comments;
  std::map<std::string, std::vector<Row>> rows;
};

struct Past {
  Cluster cluster;
  Written written;
  std::string text;
};

std::string Family(const std::string& series) { return series.substr(0, series.find('{')); }

std::string Label(const std::string& series, const std::string& name) {
  const std::string key =
      (series.find('{' + name + "=\"") != std::string::npos ? "{" : ",") + name + "=\"";
  const size_t begin = series.find(key);
  if (begin == std::string::npos) return "";
  const size_t from = begin + key.size();
  return series.substr(from, series.find('"', from) - from);
}

Written ReadText(const std::string& text) {
  Written written;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      written.comments.push_back(line);
      continue;
    }
    const size_t end = line.rfind("} ");
    REQUIRE(end != std::string::npos);
    const std::string numbers = line.substr(end + 2);
    const size_t blank = numbers.find(' ');
    REQUIRE(blank != std::string::npos);
    written.rows[line.substr(0, end + 1)].push_back(
        {std::llround(std::stod(numbers.substr(blank + 1)) * 1000),
         std::stod(numbers.substr(0, blank))});
  }
  return written;
}

Past MakePast(uint64_t seed, std::chrono::milliseconds length, std::chrono::minutes step) {
  History history;
  Cluster cluster = MakeClusterWithHistory(seed, 10, FromUnixMs(kEndMs), length, step, history);
  const std::string path = TemporaryFile("history.om");
  REQUIRE(history.Write(path, kInstance));
  Past past{std::move(cluster), {}, Content(path)};
  std::filesystem::remove(path);
  past.written = ReadText(past.text);
  size_t rows = 0;
  for (const auto& [series, points] : past.written.rows) rows += points.size();
  REQUIRE(rows == history.samples());
  return past;
}

}  // namespace

TEST_CASE("the past is OpenMetrics text: families whole, times in order, an end", "[cmd][demo]") {
  const Past past = MakePast(1, 3h, 5min);
  CHECK(past.text.ends_with("\n# EOF\n"));
  // A family is announced once and its rows come right after, counters without their suffix.
  std::set<std::string> seen;
  std::set<std::string> series_seen;
  std::istringstream lines(past.text);
  std::string family;
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string type;
      words >> family >> type;
      CHECK(seen.insert(family).second);
      CHECK_FALSE(family.ends_with("_total"));
      if (type == "counter") family += "_total";
    } else if (!line.starts_with('#')) {
      REQUIRE(Family(line) == family);
      const std::string series = line.substr(0, line.rfind("} "));
      // Every series in one piece.
      if (series != last) REQUIRE(series_seen.insert(series).second);
      last = series;
    }
  }
  std::set<int64_t> times;
  for (const auto& [series, rows] : past.written.rows) {
    INFO(series);
    CHECK(Label(series, "instance") == kInstance);
    CHECK(Label(series, "job") ==
          (series.starts_with("kube_") ? "kube-state-metrics" : "cadvisor"));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i > 0) REQUIRE(rows[i].time_ms > rows[i - 1].time_ms);
      times.insert(rows[i].time_ms);
    }
  }
  CHECK(times.size() == 37);
  CHECK(*times.begin() == kEndMs - 3 * 3600 * 1000);
  CHECK(*times.rbegin() == kEndMs);
}

TEST_CASE("the present goes on where the past ends", "[cmd][demo]") {
  Past past = MakePast(1, 6h, 5min);
  past.cluster.AdvanceTo(FromUnixMs(kEndMs + 10'000));
  TextPage page;
  AppendCadvisorPage(past.cluster, page);
  AppendKubeStatePage(past.cluster, page);
  size_t same = 0;
  size_t fresh = 0;
  for (const test::ExposedSample& sample : test::ParseExposition(page.Take()).samples) {
    if (sample.name != "container_cpu_usage_seconds_total" || sample.Label("container").empty() ||
        sample.Label("container") == "POD") {
      continue;
    }
    std::string labels = sample.series;
    labels.insert(labels.size() - 1,
                  ",instance=\"" + std::string(kInstance) + "\",job=\"cadvisor\"");
    const auto found = past.written.rows.find(labels);
    if (found == past.written.rows.end()) {
      ++fresh;
      continue;
    }
    ++same;
    INFO(labels);
    const Row& before = found->second.back();
    REQUIRE(before.time_ms == kEndMs);
    CHECK(sample.value >= before.value);
    CHECK(sample.value <= before.value + 10 * 4);  // no container may use more than four cores
  }
  CHECK(same > 90);
  // The runs of CronJobs and Jobs begin anew; a pod or two may have been moved meanwhile.
  CHECK(fresh >= 8);
  CHECK(fresh <= 12);
}

TEST_CASE("the same seed gives the same past, another one another", "[cmd][demo]") {
  const Past past = MakePast(1, 1h, 5min);
  CHECK(past.text == MakePast(1, 1h, 5min).text);
  CHECK(past.text != MakePast(2, 1h, 5min).text);
}

TEST_CASE("the past has rollouts, kills, runs of jobs and pods that come and go", "[cmd][demo]") {
  const Past past = MakePast(1, std::chrono::days(2), 5min);
  std::set<std::string> versions;
  std::map<std::string, size_t> runs;
  std::set<std::string> search_pods;
  std::set<double> search_replicas;
  size_t kills = 0;
  for (const auto& [series, rows] : past.written.rows) {
    const std::string family = Family(series);
    if (family == "kube_replicaset_owner" && Label(series, "owner_name") == "gateway") {
      versions.insert(Label(series, "replicaset"));
    } else if (family == "container_cpu_usage_seconds_total") {
      INFO(series);
      for (size_t i = 1; i < rows.size(); ++i) {
        REQUIRE(rows[i].value >= rows[i - 1].value);
        REQUIRE(rows[i].time_ms - rows[i - 1].time_ms == 300'000);
      }
      const std::string pod = Label(series, "pod");
      if (Label(series, "namespace") == "batch" && pod.starts_with("report-") &&
          rows.back().time_ms < kEndMs && rows.front().time_ms > kEndMs - 47 * 3600 * 1000) {
        ++runs[pod];
        CHECK(rows.size() >= 2);  // else nothing could be learned of its CPU
      }
      if (pod.starts_with("search-")) search_pods.insert(pod);
    } else if (family == "kube_deployment_spec_replicas" &&
               Label(series, "deployment") == "search") {
      for (const Row& row : rows) search_replicas.insert(row.value);
    } else if (family == "kube_pod_container_status_last_terminated_timestamp") {
      std::set<double> times;
      for (const Row& row : rows) times.insert(row.value);
      kills += times.size();
    }
  }
  CHECK(versions.size() >= 8);  // every four hours on average
  CHECK(runs.size() > 80);      // about every 27 minutes
  CHECK(search_pods.size() > 100);
  CHECK(search_replicas.size() == 4);
  CHECK(kills > 20);
}

TEST_CASE("every pod of the past has its owners at every time", "[cmd][demo]") {
  const Past past = MakePast(3, 12h, 10min);
  std::map<int64_t, std::set<std::string>> upper;  // of each time: ReplicaSets and Jobs
  for (const auto& [series, rows] : past.written.rows) {
    const std::string family = Family(series);
    if (family != "kube_replicaset_owner" && family != "kube_job_owner") continue;
    const std::string name = Label(series, "replicaset") + Label(series, "job_name");
    for (const Row& row : rows) upper[row.time_ms].insert(Label(series, "namespace") + "/" + name);
  }
  size_t pods = 0;
  for (const auto& [series, rows] : past.written.rows) {
    if (Family(series) != "kube_pod_owner") continue;
    const std::string kind = Label(series, "owner_kind");
    if (kind != "ReplicaSet" && kind != "Job") continue;
    ++pods;
    for (const Row& row : rows) {
      INFO(series);
      REQUIRE(upper[row.time_ms].count(Label(series, "namespace") + "/" +
                                       Label(series, "owner_name")) == 1);
    }
  }
  CHECK(pods > 100);
}

TEST_CASE("a day of the past has its wave", "[cmd][demo]") {
  const Past past = MakePast(1, std::chrono::days(1), 10min);
  // Cores of all containers of the shop's frontend, by hour.
  std::map<int64_t, double> by_hour;
  for (const auto& [series, rows] : past.written.rows) {
    if (Family(series) != "container_cpu_usage_seconds_total" ||
        Label(series, "container") != "frontend") {
      continue;
    }
    for (size_t i = 1; i < rows.size(); ++i) {
      by_hour[rows[i].time_ms / 3'600'000] += (rows[i].value - rows[i - 1].value) / 3600;
    }
  }
  double least = 1e9;
  double most = 0;
  for (const auto& [hour, cores] : by_hour) {
    if (hour == kEndMs / 3'600'000 || hour == kEndMs / 3'600'000 - 24) continue;  // not whole
    least = std::min(least, cores);
    most = std::max(most, cores);
  }
  INFO(least << " to " << most);
  CHECK(most > 2 * least);  // ±60 % around the mean
  CHECK(most < 2.5);        // four pods of 0.22 cores, and the wave
}

TEST_CASE("a past that cannot be written is an error, not half a demo", "[cmd][demo]") {
  History history;
  history.Scrape(kEndMs, "cadvisor");
  const auto written = history.Write("/nowhere/at/all", kInstance);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == ErrorCode::kIo);
  CHECK(written.error().message.find("/nowhere/at/all: cannot be written") == 0);

  std::string log;
  SetLogSink([&](std::string_view line) { log.append(line); });
  DemoClusterOptions options;
  options.listen_address = "127.0.0.1:0";
  options.history_file = "/dev/full";
  options.history_length = 1h;
  CHECK(RunDemoCluster(options) == 1);
  CHECK(log.find("/dev/full: cannot be written") != std::string::npos);
  log.clear();
  options.history_step = std::chrono::minutes(0);
  CHECK(RunDemoCluster(options) == 2);
  SetLogSink({});
}

TEST_CASE("the command writes the past before it serves", "[cmd][demo]") {
  std::string log;
  SetLogSink([&](std::string_view line) {
    log.append(line);
    // Held back by the command, so that it ends it as soon as it waits.
    if (line.find("demo cluster listening") != std::string_view::npos) raise(SIGTERM);
  });
  DemoClusterOptions options;
  options.listen_address = "127.0.0.1:0";
  options.history_file = TemporaryFile("command.om");
  options.history_length = 30min;
  CHECK(RunDemoCluster(options) == 0);
  SetLogSink({});
  const std::string text = Content(options.history_file);
  std::filesystem::remove(options.history_file);
  CHECK(log.find("demo cluster wrote its history") < log.find("demo cluster listening"));
  CHECK(ReadText(text).rows.size() > 500);
}

}  // namespace tidemark::demo_cluster
