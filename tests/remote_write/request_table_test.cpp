// The cases of the receiver's table, one request each: what is answered, what is taken in, and why
// the rest is not.

#include <limits>

#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

struct Case {
  const char* what;
  std::string message;
  unsigned status;
  size_t taken;
  std::optional<RejectReason> reason = std::nullopt;
  uint64_t samples_refused = 1;
};

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

const std::string kGood = Series({{"__name__", "up"}, {"job", "good"}}, 1, kNowMs);

std::string At(int64_t timestamp_ms) {
  return Series({{"__name__", "up"}, {"pod", "a"}}, 1, timestamp_ms);
}
std::string With(const LabelList& labels) { return Series(labels, 1, kNowMs); }

std::string ManyLabels(size_t count) {
  LabelList labels = {{"__name__", "kube_pod_labels"}};
  while (labels.size() < count) {
    labels.emplace_back("label_" + std::to_string(100000 + labels.size()), "x");
  }
  return With(labels);
}

std::string Values(const std::vector<double>& values) {
  std::string content = Labels({{"__name__", "up"}, {"pod", "a"}});
  int64_t time = kNowMs - 1000;
  for (const double value : values) content += SampleField(value, time++);
  return Series(content);
}

std::string Repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<Case> Cases() {
  const std::string metadata = BytesField(3, VarintField(1, 99) + BytesField(2, "up"));
  const std::string exemplar = BytesField(3, Label("trace_id", "1") + DoubleField(2, 1));
  const std::string labels = Labels({{"__name__", "up"}, {"pod", "a"}});
  const std::string bad_histogram = BytesField(4, VarintField(1, 99));
  using enum RejectReason;
  return {
      {"row 1: an empty message", "", 204, 0},
      {"row 12: many empty series", Repeat(Series(""), 1000), 400, 0, kMissingName, 0},
      {"row 14: unknown fields", kGood + BytesField(77, "x") + Key(78, 3) + Key(78, 4), 204, 1},
      {"row 15: labels after samples", kGood + Series(SampleField(1, kNowMs) + labels), 204, 2},
      {"row 17: no name", kGood + With({{"pod", "a"}}), 400, 1, kMissingName},
      {"row 17: an empty name", kGood + With({{"__name__", ""}, {"pod", "a"}}), 400, 1,
       kMissingName},
      {"row 17: no labels at all", kGood + With({}), 400, 1, kMissingName},
      {"row 18: a label name twice", kGood + With({{"__name__", "up"}, {"a", "1"}, {"a", "2"}}),
       400, 1, kDuplicateLabel},
      {"row 18: a label twice", kGood + With({{"__name__", "up"}, {"a", "1"}, {"a", "1"}}), 400, 1,
       kDuplicateLabel},
      {"row 19: an empty label name", kGood + With({{"", "x"}, {"__name__", "up"}}), 400, 1,
       kEmptyLabelName},
      {"row 20: an empty label value", kGood + With({{"__name__", "up"}, {"image", ""}}), 204, 2},
      {"row 21: labels not sorted", kGood + With({{"pod", "a"}, {"__name__", "up"}}), 204, 2},
      {"row 22: a value that is not UTF-8", kGood + With({{"__name__", "up"}, {"a", "\xff"}}), 400,
       1, kInvalidUtf8},
      {"row 22: a name that is not UTF-8", kGood + With({{"__name__", "\xc3("}}), 400, 1,
       kInvalidUtf8},
      {"row 23: names outside the old set",
       With({{"__name__", "name with.dots"}, {"\xc3\xbc mlaut", std::string(1, '\0')}}), 204, 1},
      {"row 24: 41 labels", ManyLabels(41), 204, 1},
      {"row 24: as many labels as allowed", ManyLabels(128), 204, 1},
      {"row 24: one label too many", kGood + ManyLabels(129), 400, 1, kTooManyLabels},
      {"row 24: 100,000 labels", kGood + ManyLabels(100000), 400, 1, kTooManyLabels},
      {"row 24: a huge value", kGood + With({{"__name__", "up"}, {"a", std::string(1 << 20, 'v')}}),
       400, 1, kLabelValueTooLong},
      {"row 24: a long name", kGood + With({{"__name__", "up"}, {std::string(1025, 'n'), "a"}}),
       400, 1, kLabelNameTooLong},
      {"row 28: samples and histograms in one entry",
       Series(labels + SampleField(1, kNowMs) + BytesField(4, "")), 204, 1},
      {"row 29: an entry with exemplars only", kGood + Series(labels + exemplar), 204, 1},
      {"row 43: exemplars with long labels, without labels, without a time",
       kGood + Series(labels +
                      BytesField(3, Label("trace_id", std::string(200, 'x')) + DoubleField(2, 1)) +
                      BytesField(3, DoubleField(2, 1)) + BytesField(3, "")),
       204, 1},
      {"an entry with labels only", kGood + Series(labels), 204, 1},
      {"an entry with bad labels only", kGood + Series(Label("pod", "a")), 400, 1, kMissingName, 0},
      {"row 30: metadata only", metadata + metadata, 204, 0},
      {"row 31: odd values",
       Values({std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, -0.0,
               std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(), -1}),
       204, 7},
      {"row 32: a stale marker", Values({StaleMarker()}), 204, 1},
      {"row 38: ten minutes ahead", kGood + At(kNowMs + 600'000), 204, 2},
      {"row 38: more than ten minutes ahead", kGood + At(kNowMs + 600'001), 400, 1,
       kTooFarInFuture},
      {"row 38: the year 2100", kGood + At(4'102'444'800'000), 400, 1, kTooFarInFuture},
      {"row 39: a negative time", kGood + At(-1), 400, 1, kTooOld},
      {"row 39: the least time", kGood + At(kMin), 400, 1, kTooOld},
      {"row 39: the greatest time", kGood + At(kMax), 400, 1, kTooFarInFuture},
      {"seconds for milliseconds", kGood + At(kNowMs / 1000), 400, 1, kTooOld},
      {"nanoseconds for milliseconds", kGood + At(kNowMs * 1'000'000), 400, 1, kTooFarInFuture},
      {"no time at all", kGood + Series(labels + BytesField(2, DoubleField(1, 1))), 400, 1,
       kTooOld},
      {"the first time that can be", At(1'000'000'000'000), 204, 1},
      {"just before the first time that can be", At(999'999'999'999), 400, 0, kTooOld},
      {"no value: an honest zero", Series(labels + BytesField(2, VarintField(2, kNowMs))), 204, 1},
      {"row 40: each sample of an entry is judged alone",
       Series(labels + SampleField(1, kNowMs) + SampleField(2, -5) + SampleField(3, kNowMs + 1) +
              SampleField(4, 7) + SampleField(5, kNowMs + 2)),
       400, 3, kTooOld, 2},
      {"row 41: a histogram that contradicts itself",
       Series(labels + SampleField(1, kNowMs) + bad_histogram + bad_histogram), 400, 1,
       kInvalidHistogram, 0},
  };
}

}  // namespace

TEST_CASE("each case of the table has its answer", "[remote_write][table]") {
  for (const Case& test : Cases()) {
    CAPTURE(test.what);
    HandlerFixture fixture;
    const HttpResponse response = fixture.SendMessage(test.message);
    CAPTURE(response.body);
    REQUIRE(response.status == test.status);
    REQUIRE(fixture.sink.samples() == test.taken);
    REQUIRE(fixture.counters.samples_accepted == test.taken);
    REQUIRE(fixture.TotalRejected() == (test.reason ? test.samples_refused : 0));
    REQUIRE(HeaderOf(response, "X-Prometheus-Remote-Write-Samples-Written").empty());
    if (test.status == 204) {
      REQUIRE(response.body.empty());
      REQUIRE(fixture.Sum(fixture.counters.series_rejected) == 0);
    }
    if (test.reason) {
      REQUIRE(fixture.Rejected(*test.reason) == test.samples_refused);
      REQUIRE(response.body.starts_with(ToString(*test.reason)));
      REQUIRE(response.body.size() <= 1024);
    }
  }
}

TEST_CASE("a good request after any case of the table is taken in", "[remote_write][table]") {
  HandlerFixture fixture;
  for (const Case& test : Cases()) {
    CAPTURE(test.what);
    fixture.SendMessage(test.message);
    const size_t before = fixture.sink.samples();
    REQUIRE(fixture.SendMessage(kGood).status == 204);
    REQUIRE(fixture.sink.samples() == before + 1);
  }
}

TEST_CASE("a clock at either end of time overflows nothing", "[remote_write][table]") {
  Limits limits;
  limits.max_future_ms = kMax;
  HandlerFixture fixture(limits);
  REQUIRE(fixture.SendMessage(At(kMax)).status == 204);
  REQUIRE(fixture.SendMessage(At(kMin)).status == 400);

  HandlerFixture early;
  early.clock.Set(FromUnixMs(kMin));
  REQUIRE(early.SendMessage(At(kNowMs)).status == 400);
  REQUIRE(early.Rejected(RejectReason::kTooFarInFuture) == 1);
}
