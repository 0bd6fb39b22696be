// Texts of queries, and what servers say to those that are too large.

#include "backfill/query_text.h"

#include <re2/re2.h>

#include "backfill/fetch.h"
#include "backfill/query_fault.h"
#include "tests/backfill/fake_past.h"
#include "tests/catch.h"

namespace tidemark::backfill {

TEST_CASE("names are quoted so that they match themselves alone", "[backfill][query]") {
  CHECK(Quoted("a\"b\\c") == R"("a\"b\\c")");
  CHECK(Quoted("a\nb\x7f") == R"("a\x0ab\x7f")");
  CHECK(QuotedMeta("a.b|c") == R"(a\.b\|c)");
  for (const std::string name :
       {"shop", "a.b", "a|b", "(x)", "[y]", "z{2}", "^$", "a*b+c?", "\\d", "\xC3\xA4"}) {
    CHECK(RE2::FullMatch(name, QuotedMeta(name)));
    CHECK_FALSE(RE2::FullMatch(name + "x", QuotedMeta(name)));
  }
  CHECK_FALSE(RE2::FullMatch("axb", QuotedMeta("a.b")));
}

TEST_CASE("a unit's query asks for its namespaces and for containers only", "[backfill][query]") {
  const std::vector<PastMetric> metrics = ClusterMetrics();
  const std::vector<FoundNamespace> one = {{{"", "shop"}, "", 1}};
  const std::vector<FoundNamespace> two = {{{"eu", "a.b"}, "eu", 1}, {{"eu", "c"}, "eu", 1}};
  CHECK(
      UnitQuery(metrics[0], one, 60'000) ==
      R"(last_over_time(container_cpu_usage_seconds_total{namespace!="",pod!="",container!="",container!="POD",)"
      R"(cluster="",namespace="shop"}[59999ms]))");
  CHECK(
      UnitQuery(metrics[2], two, 300'000) ==
      R"(last_over_time(kube_pod_owner{namespace!="",pod!="",cluster="eu",namespace=~"a\\.b|c"}[299999ms]))");
  PastMetric process;
  process.metric = "namedprocess_namegroup_memory_bytes";
  process.namespace_label = "instance";
  process.matchers = R"(memtype="resident")";
  CHECK(
      UnitQuery(process, one, 60'000) ==
      R"(last_over_time(namedprocess_namegroup_memory_bytes{memtype="resident",instance!="",instance="shop"}[59999ms]))");
  CHECK(CountBy({"", "namespace"}, "m{}") == "count by (namespace) (m{})");
  CHECK(SecondsText(1700000000050) == "1700000000.050");
  CHECK(TimeText(1700000000000) == "2023-11-14T22:13:20Z");
}

TEST_CASE("limits of every known server are told from overload", "[backfill][fault]") {
  for (const char* const text :
       {// Prometheus
        "query processing would load too many samples into memory in query execution",
        "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query "
        "resolution (?step=XX)",
        // Mimir and Cortex
        "the query exceeded the maximum number of chunks (limit: 2000000 chunks) "
        "(err-mimir-max-chunks-per-query)",
        "expanding series: the query hit the max number of series limit (limit: 100000 series)",
        "the query time range exceeds the limit (query length: 800h, limit: 768h)",
        // Thanos
        "rpc error: code = ResourceExhausted desc = exceeded series limit: limit 1000 violated "
        "(got 1001)",
        "exceeded samples limit",
        // VictoriaMetrics
        "too many points for the given step=1000, start=0, end=1: 40000; cannot exceed "
        "-search.maxPointsPerTimeseries=30000",
        "cannot select more than -search.maxSamplesPerQuery=1000000000 samples",
        "the number of matching timeseries exceeds 300000; either narrow down the search or "
        "increase -search.max* command-line flag values",
        "not enough memory for processing 100 data points across 2 time series"}) {
    CAPTURE(text);
    CHECK(SaysTooLarge(422, text));
    CHECK(SaysTooLarge(500, text));
    CHECK_FALSE(SaysTooLarge(401, text));
  }
  CHECK(SaysTooLarge(413, ""));
  for (const char* const text : {"", "too many outstanding requests",
                                 "the limit of concurrent queries is exceeded: "
                                 "exceeded the limit",
                                 "parse error: unexpected character", "no org id"}) {
    CAPTURE(text);
    CHECK_FALSE(SaysTooLarge(422, text));
  }
  const auto kind = [](unsigned status, const std::string& text) {
    client::Fault fault;
    fault.kind = client::FaultKind::kStatus;
    fault.status = status;
    fault.server_text = text;
    return JudgeFault(fault).kind;
  };
  CHECK(kind(401, "") == QueryFaultKind::kDenied);
  CHECK(kind(403, "too many samples") == QueryFaultKind::kDenied);
  CHECK(kind(404, "") == QueryFaultKind::kNotTheApi);
  CHECK(kind(400, "parse error") == QueryFaultKind::kRefused);
  CHECK(kind(429, "slow down") == QueryFaultKind::kPassing);
  CHECK(kind(503, "") == QueryFaultKind::kPassing);
  CHECK(kind(422, "too many samples") == QueryFaultKind::kTooLarge);
  client::Fault slow;
  slow.kind = client::FaultKind::kStatus;
  slow.status = 503;
  slow.server_text = "query timed out in expression evaluation";
  CHECK(JudgeFault(slow).slow);
}

}  // namespace tidemark::backfill
