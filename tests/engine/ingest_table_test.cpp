// Rows 31 to 40, 44 and 45 of the receiver's case table, through receiver and engine: the answer,
// and in which one count each sample is.
#include <limits>

#include "remote_write/handler.h"
#include "tests/engine/feed.h"
#include "tests/remote_write/wire_builder.h"

using namespace tidemark;
using namespace tidemark::testing;
using remote_write::test::BytesField;
using remote_write::test::Pack;
using remote_write::test::SampleField;

namespace {

constexpr int64_t kNow = kT0 + 3'600'000;
constexpr int64_t kDay = 24 * 3'600'000;

std::string Entry(const LabelMap& labels, const std::vector<Sample>& samples) {
  std::string content;
  for (const auto& [name, value] : labels) content += remote_write::test::Label(name, value);
  for (const Sample& sample : samples) content += SampleField(sample.value, sample.timestamp_ms);
  return BytesField(1, content);
}

std::string Of(const std::string& pod, const std::vector<Sample>& samples) {
  return Entry(Cpu(pod), samples);
}

std::string Copy(const std::string& replica, const std::vector<Sample>& samples) {
  LabelMap labels = Cpu("a");
  labels["__replica__"] = replica;
  labels["cluster"] = "eu";
  return Entry(labels, samples);
}

struct Row {
  const char* what;
  std::vector<std::string> messages;  // the last one is judged
  unsigned status = 204;
  uint64_t accepted = 0;
  std::vector<std::pair<IgnoreReason, uint64_t>> ignored = {};
  std::vector<std::pair<RejectReason, uint64_t>> rejected = {};
  engine::Options options = {};
};

std::vector<Row> Rows() {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  using enum IgnoreReason;
  using R = RejectReason;
  engine::Options refuse;
  refuse.refuse_late = true;
  engine::Options two_series;
  two_series.max_series = 2;
  const std::string known = Of("a", {{kNow, 10}});
  return {
      {"row 31: odd values are taken",
       {Of("a", {{kNow, std::nan("")},
                 {kNow + 1, kInf},
                 {kNow + 2, -kInf},
                 {kNow + 3, -0.0},
                 {kNow + 4, std::numeric_limits<double>::denorm_min()}})},
       204,
       5},
      {"row 32: a stale marker is taken", {known, Of("a", {{kNow + 1, StaleMarker()}})}, 204, 1},
      {"row 32: of an unknown series too", {Of("b", {{kNow, StaleMarker()}})}, 204, 1},
      {"row 33: a number, then a marker",
       {known, Of("a", {{kNow, StaleMarker()}, {kNow + 1, 11}})},
       204,
       2},
      {"row 33: a marker, then a number",
       {Of("a", {{kNow - 1, 9}, {kNow, StaleMarker()}}), Of("a", {{kNow, 10}})},
       204,
       1},
      {"row 34: the same again", {known, known}, 204, 0, {{kDuplicate, 1}}},
      {"row 34: a marker again",
       {Of("a", {{kNow, 1}, {kNow + 1, StaleMarker()}}), Of("a", {{kNow + 1, StaleMarker()}})},
       204,
       0,
       {{kDuplicate, 1}}},
      {"row 35: another value for the same time",
       {known, Of("a", {{kNow, 11}, {kNow + 1, 12}})},
       400,
       1,
       {},
       {{R::kDuplicateTimestamp, 1}}},
      {"row 35: the first value is kept",
       {known + Of("a", {{kNow, 11}}), known},
       204,
       0,
       {{kDuplicate, 1}}},
      {"row 36: late is ignored",
       {known, Of("a", {{kNow - 1, 9}, {kNow + 1, 11}})},
       204,
       1,
       {{kLate, 1}}},
      {"row 36: late is refused where the policy says so",
       {known, Of("a", {{kNow - 1, 9}, {kNow + 1, 11}})},
       400,
       1,
       {},
       {{R::kLate, 1}},
       refuse},
      {"row 37: very late is late",
       {known, Of("a", {{kNow - 30 * kDay, 9}})},
       204,
       0,
       {{kLate, 1}}},
      {"row 37: likewise under the other policy",
       {known, Of("a", {{kNow - 30 * kDay, 9}})},
       400,
       0,
       {},
       {{R::kLate, 1}},
       refuse},
      {"row 37: an old sample is no late one where nothing is newer",
       {Of("b", {{kNow - 30 * kDay, 9}})},
       204,
       1,
       {},
       {},
       refuse},
      {"row 38: ten minutes ahead", {Of("a", {{kNow + 600'000, 1}})}, 204, 1},
      {"row 38: more than that",
       {Of("a", {{kNow + 600'001, 1}, {kNow, 1}})},
       400,
       1,
       {},
       {{R::kTooFarInFuture, 1}}},
      {"row 38: changes no state, so that what follows is not late",
       {Of("a", {{kNow, 1}, {4'102'444'800'000, 2}}), Of("a", {{kNow + 1, 2}})},
       204,
       1},
      {"row 39: before 1970, and the ends of time",
       {Of("a", {{-1, 1}, {kMin, 1}, {kMax, 1}, {kNow, 1}})},
       400,
       1,
       {},
       {{R::kTooOld, 2}, {R::kTooFarInFuture, 1}}},
      {"row 40: each sample of an entry is judged alone",
       {Of("a",
           {{kNow, 1}, {kNow, 1}, {kNow, 2}, {kNow - 1, 1}, {kNow + 5, 3}, {5, 1}, {kNow + 6, 4}})},
       400,
       3,
       {{kDuplicate, 1}, {kLate, 1}},
       {{R::kDuplicateTimestamp, 1}, {R::kTooOld, 1}}},
      {"row 44: the copy of the replica that does not lead",
       {Copy("a", {{kNow, 1}}), Copy("b", {{kNow, 2}, {kNow + 1, 3}})},
       204,
       0,
       {{kHaCopy, 2}}},
      {"row 44: never refused, whatever the policy on late samples",
       {Copy("a", {{kNow, 1}}), Copy("a", {{kNow, 2}, {kNow - 1, 1}, {kNow + 1, 3}})},
       204,
       1,
       {{kHaCopy, 2}},
       {},
       refuse},
      {"row 45: new series beyond the ceiling",
       {known + Of("b", {{kNow, 1}}),
        Of("a", {{kNow + 1, 11}}) + Of("c", {{kNow, 1}, {kNow + 1, 1}}) + Of("b", {{kNow + 1, 2}})},
       400,
       2,
       {},
       {{R::kSeriesLimit, 2}},
       two_series},
  };
}

}  // namespace

TEST_CASE("each row of the table has its answer and its one count", "[engine][table]") {
  for (const Row& row : Rows()) {
    CAPTURE(row.what);
    Bench bench(row.options);
    bench.clock.Set(FromUnixMs(kNow));
    RemoteWriteCounters counters;
    remote_write::HaTracker ha({});
    remote_write::Handler handler(bench.engine, bench.clock, {}, counters,
                                  {.accepting = {}, .jitter_seed = {}, .ha = &ha});
    uint64_t accepted = 0;
    std::array<uint64_t, kIgnoreReasonCount> ignored{};
    std::array<uint64_t, kRejectReasonCount> rejected{};
    HttpResponse response;
    for (const std::string& message : row.messages) {
      accepted = counters.samples_accepted;
      std::copy(counters.samples_ignored.begin(), counters.samples_ignored.end(), ignored.begin());
      std::copy(counters.samples_rejected.begin(), counters.samples_rejected.end(),
                rejected.begin());
      HttpRequest request;
      request.method = "POST";
      request.path = "/api/v1/write";
      request.headers = {{"Content-Type", "application/x-protobuf"},
                         {"Content-Encoding", "snappy"}};
      request.body = Pack(message);
      response = handler.Handle(request);
    }
    CAPTURE(response.body);
    CHECK(response.status == row.status);
    CHECK(counters.samples_accepted - accepted == row.accepted);
    for (size_t i = 0; i < kIgnoreReasonCount; ++i) {
      uint64_t expected = 0;
      for (const auto& [reason, count] : row.ignored) {
        if (static_cast<size_t>(reason) == i) expected = count;
      }
      CAPTURE(ToString(static_cast<IgnoreReason>(i)));
      CHECK(counters.samples_ignored[i] - ignored[i] == expected);
    }
    for (size_t i = 0; i < kRejectReasonCount; ++i) {
      uint64_t expected = 0;
      for (const auto& [reason, count] : row.rejected) {
        if (static_cast<size_t>(reason) == i) expected = count;
      }
      CAPTURE(ToString(static_cast<RejectReason>(i)));
      CHECK(counters.samples_rejected[i] - rejected[i] == expected);
      if (expected > 0) {
        CHECK(response.body.find(ToString(static_cast<RejectReason>(i))) != std::string::npos);
      }
    }
  }
}
