// The decoder of 2.0 against libprotobuf: random messages, whole and broken, are read by both and
// must say the same.

#include <algorithm>
#include <map>

#include "remote_write/decoder_v2.h"
#include "remote_write_oracle/remote_write_v2.pb.h"
#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/remote_write/oracle_common.h"
#include "tests/remote_write/oracle_rounds.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;
namespace v2 = tidemark::oracle::v2;

namespace {

struct Taken {
  LabelList labels;
  int64_t timestamp_ms = 0;
  int64_t start_ms = 0;
  uint64_t value_bits = 0;
  friend bool operator==(const Taken&, const Taken&) = default;
};

struct Expected {
  std::vector<Taken> taken;
  uint64_t samples = 0;
  uint64_t bad_references = 0;
  uint64_t refused_series = 0;
  uint64_t good_histograms = 0;
  uint64_t good_exemplars = 0;
  uint64_t metadata = 0;
};

/// The labels that references name; nothing when one of them names nothing.
template <class References>
std::optional<LabelList> Resolve(const v2::Request& request, const References& references) {
  if (references.size() % 2 != 0) return std::nullopt;
  for (const uint32_t reference : references) {
    if (reference >= static_cast<uint32_t>(request.symbols_size())) return std::nullopt;
  }
  LabelList labels;
  for (int i = 0; i < references.size(); i += 2) {
    labels.emplace_back(request.symbols(static_cast<int>(references[i])),
                        request.symbols(static_cast<int>(references[i + 1])));
  }
  return labels;
}

bool AreReferencesGood(const v2::Request& request, const v2::TimeSeries& series) {
  const auto lies_within = [&](uint32_t reference) {
    return reference == 0 || reference < static_cast<uint32_t>(request.symbols_size());
  };
  return Resolve(request, series.labels_refs()) && lies_within(series.metadata().help_ref()) &&
         lies_within(series.metadata().unit_ref()) &&
         std::all_of(series.exemplars().begin(), series.exemplars().end(),
                     [&](const v2::Exemplar& exemplar) {
                       return Resolve(request, exemplar.labels_refs()).has_value();
                     });
}

int64_t StartOf(const v2::TimeSeries& series, const v2::Sample& sample) {
  const int64_t start =
      sample.start_timestamp() != 0 ? sample.start_timestamp() : series.created_timestamp();
  return start < 0 || start > sample.timestamp() ? 0 : start;
}

Expected Expect(const v2::Request& request) {
  Expected expected;
  for (const v2::TimeSeries& series : request.timeseries()) {
    expected.samples += static_cast<uint64_t>(series.samples_size());
    if (series.has_metadata()) ++expected.metadata;
    std::optional<std::map<std::string, std::string>> labels;
    if (AreReferencesGood(request, series)) {
      labels = GoodLabels(*Resolve(request, series.labels_refs()));
    } else {
      ++expected.bad_references;
    }
    if (!labels) {
      ++expected.refused_series;
      continue;
    }
    expected.good_exemplars += static_cast<uint64_t>(series.exemplars_size());
    for (const v2::Sample& sample : series.samples()) {
      if (sample.timestamp() < 1'000'000'000'000 || sample.timestamp() > kNowMs + 600'000) continue;
      expected.taken.push_back({LabelList(labels->begin(), labels->end()), sample.timestamp(),
                                StartOf(series, sample), std::bit_cast<uint64_t>(sample.value())});
    }
  }
  return expected;
}

/// Sends `bytes` and compares all that went into the sink, the counters and the answer with what
/// libprotobuf read.
void CompareTaken(const std::string& bytes, const v2::Request& request) {
  const Expected expected = Expect(request);
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessageV2(bytes);
  std::vector<Taken> taken;
  for (const RecordedSeries& series : fixture.sink.series) {
    for (const Sample& sample : series.samples) {
      taken.push_back({series.labels, sample.timestamp_ms, sample.start_timestamp_ms,
                       std::bit_cast<uint64_t>(sample.value)});
    }
  }
  REQUIRE(taken.size() == expected.taken.size());
  REQUIRE(std::equal(taken.begin(), taken.end(), expected.taken.begin()));
  REQUIRE(fixture.counters.series_entries == static_cast<uint64_t>(request.timeseries_size()));
  REQUIRE(fixture.counters.samples_accepted == expected.taken.size());
  REQUIRE(fixture.TotalRejected() == expected.samples - expected.taken.size());
  REQUIRE(fixture.counters.exemplars == expected.good_exemplars);
  REQUIRE(fixture.counters.metadata == expected.metadata);
  REQUIRE(fixture.SeriesRejected(RejectReason::kBadLabelReference) == expected.bad_references);
  const uint64_t bad_histograms = fixture.SeriesRejected(RejectReason::kInvalidHistogram);
  REQUIRE(fixture.Sum(fixture.counters.series_rejected) - bad_histograms ==
          expected.refused_series);
  const bool refused = fixture.TotalRejected() + expected.refused_series + bad_histograms > 0;
  REQUIRE(response.status == (refused ? 400U : 204U));
  REQUIRE(WrittenOf(response) ==
          Written{expected.taken.size(), fixture.counters.histograms, expected.good_exemplars});
}

const MessageType kLeaf;
const MessageType kHistogram{{{8, &kLeaf}, {11, &kLeaf}}};
const MessageType kSeries{{{2, &kLeaf}, {3, &kHistogram}, {4, &kLeaf}, {5, &kLeaf}}};
const MessageType kRequest{{{5, &kSeries}}};

const Comparison<v2::Request> kComparison{
    [](RandomRequest& random) { return random.MessageV2(); },
    [](const std::string& bytes, RequestShape& shape) { return ValidateV2(bytes, shape); },
    CompareTaken,
    [](const v2::Request& request) { return Expect(request).taken.size(); },
    kRequest,
};

}  // namespace

TEST_CASE("odd but legal messages of 2.0 are read as libprotobuf reads them",
          "[remote_write][oracle][v2]") {
  CompareLegalMessages(kComparison, kNowMs);
}

TEST_CASE("broken messages of 2.0 are accepted and refused as libprotobuf does",
          "[remote_write][oracle][v2]") {
  CompareBrokenMessages(kComparison, kNowMs);
}
