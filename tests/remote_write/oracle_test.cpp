// The decoder against libprotobuf: random messages, whole and broken, are read by both and must say
// the same.

#include <algorithm>
#include <cstdlib>
#include <map>

#include "remote_write/batch_filler.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/histogram_check.h"
#include "remote_write_oracle/remote_write.pb.h"
#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/remote_write/oracle_common.h"
#include "tests/remote_write/oracle_rounds.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

LabelList LabelsOf(const oracle::TimeSeries& series) {
  LabelList labels;
  for (const oracle::Label& label : series.labels()) {
    labels.emplace_back(label.name(), label.value());
  }
  return labels;
}

struct Taken {
  LabelList labels;
  int64_t timestamp_ms = 0;
  uint64_t value_bits = 0;
  friend bool operator==(const Taken&, const Taken&) = default;
};

struct Expected {
  std::vector<Taken> taken;
  uint64_t samples = 0;
  uint64_t refused_series = 0;
  uint64_t good_exemplars = 0;
};

Expected Expect(const oracle::WriteRequest& request) {
  Expected expected;
  for (const oracle::TimeSeries& series : request.timeseries()) {
    expected.samples += static_cast<uint64_t>(series.samples_size());
    const auto labels = GoodLabels(LabelsOf(series));
    if (!labels) {
      ++expected.refused_series;
      continue;
    }
    expected.good_exemplars += static_cast<uint64_t>(series.exemplars_size());
    for (const oracle::Sample& sample : series.samples()) {
      if (sample.timestamp() < 1'000'000'000'000 || sample.timestamp() > kNowMs + 600'000) continue;
      expected.taken.push_back({LabelList(labels->begin(), labels->end()), sample.timestamp(),
                                std::bit_cast<uint64_t>(sample.value())});
    }
  }
  return expected;
}

/// Sends `bytes` and compares all that went into the sink and the counters with what libprotobuf
/// read.
void CompareTaken(const std::string& bytes, const oracle::WriteRequest& request) {
  const Expected expected = Expect(request);
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessage(bytes);
  std::vector<Taken> taken;
  for (const RecordedSeries& series : fixture.sink.series) {
    for (const Sample& sample : series.samples) {
      taken.push_back({series.labels, sample.timestamp_ms, std::bit_cast<uint64_t>(sample.value)});
    }
  }
  REQUIRE(taken.size() == expected.taken.size());
  REQUIRE(std::equal(taken.begin(), taken.end(), expected.taken.begin()));
  REQUIRE(fixture.counters.series_entries == static_cast<uint64_t>(request.timeseries_size()));
  REQUIRE(fixture.counters.samples_accepted == expected.taken.size());
  REQUIRE(fixture.TotalRejected() == expected.samples - expected.taken.size());
  REQUIRE(fixture.counters.exemplars == expected.good_exemplars);
  REQUIRE(fixture.counters.metadata == static_cast<uint64_t>(request.metadata_size()));
  const uint64_t bad_histograms = fixture.SeriesRejected(RejectReason::kInvalidHistogram);
  REQUIRE(fixture.Sum(fixture.counters.series_rejected) - bad_histograms ==
          expected.refused_series);
  const bool refused = fixture.TotalRejected() + expected.refused_series + bad_histograms > 0;
  REQUIRE(response.status == (refused ? 400U : 204U));
}

const MessageType kLeaf;
const MessageType kExemplar{{{1, &kLeaf}}};
const MessageType kHistogram{{{8, &kLeaf}, {11, &kLeaf}}};
const MessageType kSeries{{{1, &kLeaf}, {2, &kLeaf}, {3, &kExemplar}, {4, &kHistogram}}};
const MessageType kRequest{{{1, &kSeries}, {3, &kLeaf}}};

const Comparison<oracle::WriteRequest> kComparison{
    [](RandomRequest& random) { return random.Message(); },
    [](const std::string& bytes, RequestShape& shape) { return ValidateV1(bytes, shape); },
    CompareTaken,
    [](const oracle::WriteRequest& request) { return Expect(request).taken.size(); },
    kRequest,
};

}  // namespace

TEST_CASE("odd but legal messages are read as libprotobuf reads them", "[remote_write][oracle]") {
  CompareLegalMessages(kComparison, kNowMs);
}

TEST_CASE("broken messages are accepted and refused as libprotobuf does",
          "[remote_write][oracle]") {
  CompareBrokenMessages(kComparison, kNowMs);
}
