#include "cmd/recommend_flags.h"

#include <cstdio>
#include <fstream>

#include "cmd/report_autoscalers.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kDay = 24LL * 3600 * 1000;

Result<RecommendOrder> Read(std::vector<std::string> args, bool with_url = true) {
  if (with_url) args.emplace_back("--prometheus=http://p:9090");
  const auto line = ParseCommandLine(RecommendSpec(), args);
  REQUIRE(line);
  return ReadRecommendFlags(*line, kNow);
}

RecommendOrder Good(const std::vector<std::string>& args) {
  auto order = Read(args);
  INFO((order ? "" : order.error().message));
  REQUIRE(order);
  return *std::move(order);
}

std::string Wrong(const std::vector<std::string>& args, bool with_url = true) {
  const auto order = Read(args, with_url);
  REQUIRE_FALSE(order);
  return order.error().message;
}

bool Has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

bool Matches(const Selector& selector, std::string_view label, std::string_view value) {
  const std::array<LabelView, 1> labels = {{{label, value}}};
  return selector.Matches(labels);
}

/// A file that is gone with it.
class File {
 public:
  explicit File(const std::string& content) {
    path_ = std::tmpnam(nullptr);  // NOLINT: a name is enough here
    std::ofstream(path_) << content;
  }
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("A URL is enough for a report", "[cmd][recommend]") {
  const RecommendOrder order = Good({});
  CHECK(order.backfill.http.url == "http://p:9090");
  CHECK(order.end_ms == kNow);
  CHECK(order.start_ms == kNow - 8 * kDay);
  CHECK(order.profiles == "preset tidemark");
  CHECK(order.config.engine.profiles->fallback().preset == Preset::kTidemark);
  CHECK(order.sort == report::SortBy::kSeverity);
  CHECK(order.output == report::Output::kTable);
  CHECK(order.color == Color::kAuto);
  CHECK_FALSE(order.prices.Any());
  CHECK(order.backfill.namespaces.text() == "{}");
}

TEST_CASE("Every flag of a report is read", "[cmd][recommend]") {
  const RecommendOrder order = Good({"--history=7d",
                                     "--end=1699990000",
                                     "--step=2m",
                                     "--namespace=shop,bank.*",
                                     "--workload=web,deployment/.*",
                                     "--selector={container!=\"side\"}",
                                     "--all",
                                     "--preset=vpa",
                                     "--sort=savings",
                                     "--top=5",
                                     "--output=json",
                                     "--output.file=/tmp/x",
                                     "--price.cpu-core-hour=0.03",
                                     "--price.memory-gib-hour=0.004",
                                     "--currency=EUR",
                                     "--color=always",
                                     "--progress",
                                     "--concurrency=3",
                                     "--external-labels=cluster=eu",
                                     "--username=me",
                                     "--header=X-Scope-OrgID: t",
                                     "--server-name=n",
                                     "--insecure-skip-verify"});
  CHECK(order.end_ms == 1'699'990'000'000);
  CHECK(order.start_ms == order.end_ms - 7 * kDay);
  CHECK(order.backfill.step_ms == 120'000);
  CHECK(Matches(order.backfill.namespaces, "namespace", "shop"));
  CHECK(Matches(order.backfill.namespaces, "namespace", "bank-2"));
  CHECK_FALSE(Matches(order.backfill.namespaces, "namespace", "shopping"));
  CHECK(Matches(order.filter.workloads, "name", "web"));
  CHECK(Matches(order.filter.workloads, "name", "deployment/x"));
  CHECK_FALSE(Matches(order.filter.workloads, "name", "api"));
  CHECK_FALSE(Matches(order.filter.selector, "container", "side"));
  CHECK(order.filter.without_pods);
  CHECK(order.config.engine.profiles->fallback().preset == Preset::kVpa);
  CHECK(order.profiles == "preset vpa");
  CHECK(order.sort == report::SortBy::kSavings);
  CHECK(order.top == 5);
  CHECK(order.output == report::Output::kJson);
  CHECK(order.output_file == "/tmp/x");
  CHECK(order.prices == Prices{.currency = "EUR", .cpu_core_hour = 0.03, .memory_gib_hour = 0.004});
  CHECK(order.color == Color::kAlways);
  CHECK(order.progress);
  CHECK(order.backfill.concurrency == 3);
  CHECK(order.backfill.external_labels == backfill::LabelPairs{{"cluster", "eu"}});
  CHECK(order.backfill.http.basic_auth.username == "me");
  CHECK(order.backfill.http.http_headers.front().first == "X-Scope-OrgID");
  CHECK(order.backfill.http.tls_config.server_name == "n");
  CHECK(order.backfill.http.tls_config.insecure_skip_verify);
}

TEST_CASE("The end is a time or a duration ago", "[cmd][recommend]") {
  CHECK(Good({"--end=1d"}).end_ms == kNow - kDay);
  CHECK(Good({"--end=2023-11-01T00:00:00Z"}).end_ms == 1'698'796'800'000);
  CHECK(Has(Wrong({"--end=2100-01-01T00:00:00Z"}), "--end: "));
  CHECK(Has(Wrong({"--end=soon"}), "--end: soon is no time"));
}

TEST_CASE("What is wrong with a flag is said with what is allowed", "[cmd][recommend]") {
  CHECK(Wrong({}, false).starts_with("--prometheus: it is missing, allowed: "));
  CHECK(Has(Wrong({"--prometheus=ftp://x"}, false), "--prometheus: "));
  CHECK(Has(Wrong({"--history=10m"}), "--history: 10m is no range, allowed: 1h to 400d"));
  CHECK(Has(Wrong({"--step=10m"}), "--step: 10m is no step"));
  CHECK(Wrong({"--sort=size"}) ==
        "--sort: size is not known, allowed: severity, savings, cpu, memory, name");
  CHECK(Has(Wrong({"--sort=savings"}), "--sort: savings are not known without prices"));
  CHECK(Wrong({"--output=xml"}) ==
        "--output: xml is not known, allowed: table, json, csv, markdown, html");
  CHECK(Wrong({"--preset=krr"}) == "--preset: krr is not known, allowed: tidemark, vpa, oversell");
  CHECK(Has(Wrong({"--color=blue"}), "allowed: auto, always, never"));
  CHECK(Has(Wrong({"--color=always", "--no-color"}), "--no-color: "));
  CHECK(Has(Wrong({"--top=0"}), "--top: 0 is no number of rows"));
  CHECK(Has(Wrong({"--top=-1"}), "--top: "));
  CHECK(Has(Wrong({"--concurrency=9"}), "--concurrency: 9 is out of range, allowed: 1 to 4"));
  CHECK(Has(Wrong({"--price.cpu-core-hour=-1"}), "--price.cpu-core-hour: "));
  CHECK(Has(Wrong({"--price.memory-gib-hour=nan"}), "--price.memory-gib-hour: "));
  CHECK(Has(Wrong({"--currency=US D"}), "--currency: "));
  CHECK(Has(Wrong({"--currency=\xFF"}), "--currency: "));
  CHECK(Has(Wrong({"--namespace=a("}), "--namespace: "));
  CHECK(Has(Wrong({"--namespace="}), "--namespace: it is empty"));
  CHECK(Has(Wrong({"--selector={pod=\"x\"}"}), "--selector: there is no label pod, allowed: "));
  CHECK(Has(Wrong({"--selector=x"}), "--selector: "));
  CHECK(Has(Wrong({"--external-labels=x"}), "--external-labels: "));
  CHECK(Has(Wrong({"--password-file=/nowhere/at/all", "--username=a"}), "--password-file: "));
  CHECK(Has(Wrong({"--ca-file=/nowhere/at/all"}), "--ca-file: "));
  CHECK(Has(Wrong({"--header=x"}), "--header: "));
  CHECK(Has(Wrong({"--config.file=/nowhere/at/all"}), "/nowhere/at/all: "));
}

TEST_CASE("A configuration gives profiles, prices and the way to its own server",
          "[cmd][recommend]") {
  const File file(
      "estimation: {preset: vpa}\n"
      "prices: {currency: EUR, cpu_core_hour: 0.5}\n"
      "remote_write: {ha: {replica_labels: [replica]}}\n"
      "backfill: {url: 'http://q', range: 2d, concurrency: 2, external_labels: {cluster: a},\n"
      "           basic_auth: {username: u, password: p}}\n");
  const auto line = [&](std::vector<std::string> more) {
    more.push_back("--config.file=" + file.path());
    return more;
  };
  const auto own = Read(line({}), false);
  REQUIRE(own);
  CHECK(own->backfill.http.url == "http://q");
  CHECK(own->backfill.http.basic_auth.password == "p");
  CHECK(own->backfill.external_labels.size() == 1);
  CHECK(own->backfill.concurrency == 2);
  CHECK(own->backfill.drop_labels == std::vector<std::string>{"replica"});
  CHECK(own->start_ms == kNow - 2 * kDay);
  CHECK(own->prices.cpu_core_hour == 0.5);
  CHECK(own->profiles == "profiles of " + file.path());
  // Credentials for one server are not told to another.
  const RecommendOrder other = Good(line({"--price.cpu-core-hour=0.25"}));
  CHECK(other.backfill.http.url == "http://p:9090");
  CHECK(other.backfill.http.basic_auth.username.empty());
  CHECK(other.backfill.external_labels.empty());
  CHECK(other.prices == Prices{.currency = "EUR", .cpu_core_hour = 0.25});
  const auto same = Read(line({"--prometheus=http://q/"}), false);
  REQUIRE(same);
  CHECK(same->backfill.http.basic_auth.password == "p");
  CHECK(Has(Wrong(line({"--preset=vpa"})), "--preset: the profiles are those of --config.file"));
}

TEST_CASE("A list of patterns is one pattern", "[cmd][recommend]") {
  CHECK(OneOfPatterns("shop") == "shop");
  CHECK(OneOfPatterns("a,b.*") == "(?:a)|(?:b.*)");
  CHECK(OneOfPatterns("a,,b") == "(?:a)|(?:b)");
  CHECK(OneOfPatterns("x{1,2}") == "x{1,2}");
  CHECK(OneOfPatterns("[a,b],c") == "(?:[a,b])|(?:c)");
  CHECK(OneOfPatterns("a\\,b") == "a\\,b");
}

TEST_CASE("Autoscalers are found by what they scale", "[cmd][recommend]") {
  const backfill::LabelPairs external = {{"cluster", "eu"}};
  AutoscalerReader reader(external);
  reader.Take(PastKind::kAutoscalerTarget, {.labels = {{"namespace", "shop"},
                                                       {"horizontalpodautoscaler", "web"},
                                                       {"metric_name", "cpu"},
                                                       {"metric_target_type", "utilization"}},
                                            .samples = {}});
  reader.Take(PastKind::kAutoscaler, {.labels = {{"namespace", "monitoring"},
                                                 {"exported_namespace", "shop"},
                                                 {"horizontalpodautoscaler", "web"},
                                                 {"scaletargetref_kind", "Deployment"},
                                                 {"scaletargetref_name", "frontend"}},
                                      .samples = {}});
  reader.Take(PastKind::kAutoscaler, {.labels = {{"namespace", "shop"}}, .samples = {}});
  const report::Autoscalers found = reader.Finish();
  REQUIRE(found.size() == 1);
  const auto& [key, scaler] = *found.begin();
  CHECK(key == std::tuple<std::string, std::string, std::string, std::string>(
                   "eu", "shop", "deployment", "frontend"));
  CHECK(scaler.name == "web");
  CHECK(scaler.targets == std::vector<std::string>{"cpu utilization"});
  CHECK(scaler.by_request);
}

}  // namespace tidemark::cmd
