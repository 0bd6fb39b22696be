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
#include "tests/remote_write/random_request.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

/// TIDEMARK_TEST_SEED repeats a run.
uint32_t Seed() {
  const char* const text = std::getenv("TIDEMARK_TEST_SEED");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10))
                         : std::random_device{}();
}

/// By code points, unlike the one under test.
bool IsUtf8Slowly(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t size = first < 0x80   ? 1
                        : first < 0xc0 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                                       : 4;
    if (size == 0 || first >= 0xf8 || i + size > text.size()) return false;
    uint32_t point = size == 1 ? first : first & (0xffU >> (size + 1));
    for (size_t k = 1; k < size; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if (next >> 6 != 2) return false;
      point = point << 6 | (next & 0x3fU);
    }
    constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (point < kLeast[size] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
      return false;
    i += size;
  }
  return true;
}

/// The labels that a series has in the end; nothing when it must be refused.
std::optional<std::map<std::string, std::string>> GoodLabels(const oracle::TimeSeries& series) {
  const Limits limits;
  std::map<std::string, std::string> labels;
  if (static_cast<size_t>(series.labels_size()) > limits.max_labels) return std::nullopt;
  for (const oracle::Label& label : series.labels()) {
    if (label.name().empty() || label.name().size() > limits.max_label_name_bytes ||
        label.value().size() > limits.max_label_value_bytes || !IsUtf8Slowly(label.name()) ||
        !IsUtf8Slowly(label.value()) || !labels.emplace(label.name(), label.value()).second) {
      return std::nullopt;
    }
  }
  std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
  if (!labels.contains("__name__")) return std::nullopt;
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
    const auto labels = GoodLabels(series);
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

enum class Kind {
  kRequest,
  kSeries,
  kLabel,
  kSample,
  kExemplar,
  kMetadata,
  kHistogram,
  kSpan,
  kNone
};

Kind Child(Kind kind, uint64_t number) {
  switch (kind) {
    case Kind::kRequest:
      return number == 1 ? Kind::kSeries : number == 3 ? Kind::kMetadata : Kind::kNone;
    case Kind::kSeries:
      switch (number) {
        case 1: return Kind::kLabel;
        case 2: return Kind::kSample;
        case 3: return Kind::kExemplar;
        case 4: return Kind::kHistogram;
        default: return Kind::kNone;
      }
    case Kind::kExemplar: return number == 1 ? Kind::kLabel : Kind::kNone;
    case Kind::kHistogram: return number == 8 || number == 11 ? Kind::kSpan : Kind::kNone;
    default: return Kind::kNone;
  }
}

/// Whether some key or length takes five bytes or more, where libprotobuf (which reads 32 bits) and
/// this reader (which reads what a varint may hold) are known to differ. Stops at faults.
bool HasLongKeyOrLength(std::string_view bytes, Kind kind) {
  const auto take_varint = [&bytes](uint64_t& value) -> size_t {
    value = 0;
    for (size_t i = 0; i < 10 && i < bytes.size(); ++i) {
      const auto byte = static_cast<unsigned char>(bytes[i]);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        bytes.remove_prefix(i + 1);
        return i + 1;
      }
    }
    return 0;
  };
  size_t groups = 0;
  while (!bytes.empty()) {
    uint64_t key = 0;
    const size_t key_size = take_varint(key);
    if (key_size >= 5) return true;
    uint64_t value = 0;
    size_t skip = 0;
    switch (key & 7) {
      case 0:
        if (take_varint(value) == 0) return false;
        break;
      case 1: skip = 8; break;
      case 2: {
        if (take_varint(value) >= 5) return true;
        if (value > bytes.size()) return false;
        const Kind child = groups == 0 ? Child(kind, key >> 3) : Kind::kNone;
        if (child != Kind::kNone && HasLongKeyOrLength(bytes.substr(0, value), child)) return true;
        skip = value;
        break;
      }
      case 3: ++groups; break;
      case 4:
        if (groups == 0) return false;
        --groups;
        break;
      case 5: skip = 4; break;
      default: return false;
    }
    if (key_size == 0 || skip > bytes.size()) return false;
    bytes.remove_prefix(skip);
  }
  return false;
}

}  // namespace

TEST_CASE("odd but legal messages are read as libprotobuf reads them", "[remote_write][oracle]") {
  const uint32_t seed = Seed();
  INFO("seed " << seed);
  RandomRequest random(seed, kNowMs);
  size_t taken = 0;
  for (int round = 0; round < 600; ++round) {
    CAPTURE(round);
    const std::string bytes = random.Message();
    oracle::WriteRequest request;
    REQUIRE(request.ParseFromString(bytes));
    RequestShape shape;
    REQUIRE(ValidateV1(bytes, shape) == DecodeError::kNone);
    CompareTaken(bytes, request);
    taken += Expect(request).taken.size();
    // The same message as libprotobuf would write it is the same request.
    CompareTaken(request.SerializeAsString(), request);
  }
  REQUIRE(taken > 600);
}

TEST_CASE("broken messages are accepted and refused as libprotobuf does",
          "[remote_write][oracle]") {
  const uint32_t seed = Seed();
  INFO("seed " << seed);
  RandomRequest random(seed, kNowMs);
  size_t accepted = 0;
  size_t refused = 0;
  size_t explained = 0;
  for (int round = 0; round < 300; ++round) {
    const std::string message = random.Message();
    for (int i = 0; i < 40; ++i) {
      CAPTURE(round, i);
      const std::string bytes = random.Mutate(message);
      oracle::WriteRequest request;
      const bool oracle_accepts = request.ParseFromString(bytes);
      RequestShape shape;
      const DecodeError error = ValidateV1(bytes, shape);
      CAPTURE(Message(error));
      if (error == DecodeError::kNone && oracle_accepts) {
        ++accepted;
        if (!shape.looks_like_v2) CompareTaken(bytes, request);
      } else if (error != DecodeError::kNone && !oracle_accepts) {
        ++refused;
      } else if (error == DecodeError::kWrongWireType) {
        ++explained;  // libprotobuf takes it for an unknown field
      } else {
        ++explained;
        REQUIRE(HasLongKeyOrLength(bytes, Kind::kRequest));
      }
    }
  }
  REQUIRE(accepted > 500);
  REQUIRE(refused > 2000);
  REQUIRE(explained < (accepted + refused) / 5);
}
