#include "remote_write/decoder_v1.h"

#include "tests/catch.h"
#include "tests/remote_write/wire_builder.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

struct SeenSeries {
  LabelList labels;
  uint64_t label_count = 0;
  std::string in_place;
  std::vector<Sample> samples;
  size_t largest_piece = 0;
  size_t histograms = 0;
  uint64_t exemplars = 0;
  bool ended = false;
};

class Recorder final : public SeriesVisitor {
 public:
  void OnLabels(const WireLabels& labels) override {
    SeenSeries& entry = series.emplace_back();
    for (const LabelView& label : labels.labels) entry.labels.emplace_back(label.name, label.value);
    entry.label_count = labels.count;
    entry.in_place = labels.in_place;
  }
  void OnSamples(std::span<const Sample> samples) override {
    SeenSeries& entry = series.back();
    entry.samples.insert(entry.samples.end(), samples.begin(), samples.end());
    entry.largest_piece = std::max(entry.largest_piece, samples.size());
  }
  void OnHistogram(std::string_view) override { ++series.back().histograms; }
  void OnExemplars(uint64_t count) override { series.back().exemplars += count; }
  void OnSeriesEnd() override { series.back().ended = true; }

  std::vector<SeenSeries> series;
};

std::vector<SeenSeries> Decode(const std::string& message, size_t max_labels = 128) {
  RequestShape shape;
  REQUIRE(ValidateV1(message, shape) == DecodeError::kNone);
  Recorder recorder;
  DecoderV1 decoder(max_labels);
  REQUIRE(decoder.Walk(message, recorder) == DecodeError::kNone);
  uint64_t samples = 0;
  for (const SeenSeries& entry : recorder.series) {
    REQUIRE(entry.ended);
    samples += entry.samples.size();
  }
  REQUIRE(recorder.series.size() == shape.series);
  REQUIRE(samples == shape.samples);
  return recorder.series;
}

DecodeError ErrorOf(const std::string& message) {
  RequestShape shape;
  const DecodeError error = ValidateV1(message, shape);
  Recorder recorder;
  DecoderV1 decoder(128);
  // The second pass may overlook faults in what it only counts, but it must end.
  static_cast<void>(decoder.Walk(message, recorder));
  return error;
}

const LabelList kLabels = {{"__name__", "up"}, {"job", "node"}};

}  // namespace

TEST_CASE("a message is counted and its series are told in order", "[remote_write][decoder]") {
  const std::string exemplar =
      BytesField(3, Label("trace_id", "1") + DoubleField(2, 1) + VarintField(3, 5));
  const std::string message =
      Series(kLabels, 1.5, 1000) + BytesField(3, VarintField(1, 1) + BytesField(2, "up")) +
      Series(Labels({{"__name__", "down"}}) + exemplar + exemplar + BytesField(4, "")) + Series("");
  RequestShape shape;
  REQUIRE(ValidateV1(message, shape) == DecodeError::kNone);
  REQUIRE(shape.series == 3);
  REQUIRE(shape.samples == 1);
  REQUIRE(shape.exemplars == 2);
  REQUIRE(shape.histograms == 1);
  REQUIRE(shape.metadata == 1);
  REQUIRE_FALSE(shape.looks_like_other);

  const auto series = Decode(message);
  REQUIRE(series[0].labels == kLabels);
  REQUIRE(series[0].samples.size() == 1);
  REQUIRE(series[0].samples[0].timestamp_ms == 1000);
  REQUIRE(series[0].samples[0].value == 1.5);
  REQUIRE(series[1].exemplars == 2);
  REQUIRE(series[1].histograms == 1);
  REQUIRE(series[2].label_count == 0);
}

TEST_CASE("an empty message is a request with nothing in it", "[remote_write][decoder]") {
  REQUIRE(Decode("").empty());
}

TEST_CASE("canonical labels are offered where they lie, others are not",
          "[remote_write][decoder]") {
  const auto in_place = [](const std::string& content) {
    return Decode(Series(content)).at(0).in_place;
  };
  const std::string tidy = Labels(kLabels);
  const std::string sample = SampleField(1, 1);
  REQUIRE(in_place(tidy + sample) == tidy);
  REQUIRE(in_place(sample + tidy) == tidy);
  REQUIRE(in_place(BytesField(9, "x") + tidy + sample) == tidy);
  REQUIRE(in_place("").empty());
  const std::string long_value = Label("long", std::string(300, 'v'));
  REQUIRE(in_place(long_value) == long_value);

  REQUIRE(in_place(Label("a", "1") + sample + Label("b", "2")).empty());
  REQUIRE(in_place(Label("a", "")).empty());
  REQUIRE(in_place(BytesField(1, BytesField(1, "a"))).empty());
  REQUIRE(in_place(BytesField(1, BytesField(2, "v") + BytesField(1, "a"))).empty());
  REQUIRE(
      in_place(BytesField(1, BytesField(1, "a") + BytesField(2, "v") + VarintField(3, 1))).empty());
  REQUIRE(in_place(BytesField(1, BytesField(1, "a") + BytesField(1, "a") + BytesField(2, "v")))
              .empty());
  const std::string overlong = Key(1, 2) + Varint(1, 2) + "a" + BytesField(2, "v");
  REQUIRE(in_place(BytesField(1, overlong)).empty());
  REQUIRE(in_place(Key(1, 2, 2) + Label("a", "v").substr(1)).empty());
}

TEST_CASE("field order is free and the last of a repeated scalar counts",
          "[remote_write][decoder]") {
  const std::string sample =
      BytesField(2, VarintField(2, 5) + DoubleField(1, 1) + DoubleField(1, 2) + VarintField(2, 9));
  const std::string label = BytesField(1, BytesField(2, "v") + BytesField(1, "wrong") +
                                              BytesField(1, "job") + BytesField(2, "node"));
  const auto series = Decode(Series(sample + label + SampleField(3, 10) + Label("b", "c")));
  REQUIRE(series[0].labels == LabelList{{"job", "node"}, {"b", "c"}});
  REQUIRE(series[0].samples.size() == 2);
  REQUIRE(series[0].samples[0].value == 2);
  REQUIRE(series[0].samples[0].timestamp_ms == 9);
  REQUIRE(series[0].samples[1].timestamp_ms == 10);
}

TEST_CASE("fields that are left out are zero", "[remote_write][decoder]") {
  const auto series = Decode(Series(Labels(kLabels) + BytesField(2, VarintField(2, 7)) +
                                    BytesField(2, "") + BytesField(1, "")));
  REQUIRE(series[0].samples.size() == 2);
  REQUIRE(series[0].samples[0].value == 0);
  REQUIRE(series[0].samples[0].timestamp_ms == 7);
  REQUIRE(series[0].samples[1].timestamp_ms == 0);
  REQUIRE(series[0].labels.back() == LabelList::value_type{"", ""});
}

TEST_CASE("unknown fields are skipped at every level", "[remote_write][decoder]") {
  const std::string unknown = VarintField(100, 5) + Fixed64Field(101, 1) + BytesField(102, "\xff") +
                              Key(103, 5) + "1234" + Key(104, 3) + VarintField(1, 1) + Key(104, 4);
  const std::string label =
      BytesField(1, unknown + BytesField(1, "a") + unknown + BytesField(2, "b"));
  const std::string sample =
      BytesField(2, unknown + DoubleField(1, 4) + unknown + VarintField(2, 8));
  const auto series =
      Decode(unknown + VarintField(2, 1) + Series(unknown + label + unknown + sample) + unknown);
  REQUIRE(series.size() == 1);
  REQUIRE(series[0].labels == LabelList{{"a", "b"}});
  REQUIRE(series[0].samples.at(0).value == 4);
}

TEST_CASE("the bits of a value come through as they are", "[remote_write][decoder]") {
  const std::vector<uint64_t> values = {kStaleMarkerBits,
                                        0x7ff8000000000001ULL,
                                        0x7ff0000000000003ULL,
                                        0xfff0000000000002ULL,
                                        0x8000000000000000ULL,
                                        0x7ff0000000000000ULL,
                                        1};
  std::string content = Labels(kLabels);
  for (const uint64_t bits : values) content += BytesField(2, Fixed64Field(1, bits));
  const auto series = Decode(Series(content));
  for (size_t i = 0; i < values.size(); ++i) {
    REQUIRE(std::bit_cast<uint64_t>(series[0].samples.at(i).value) == values[i]);
  }
}

TEST_CASE("many samples of one series come in bounded pieces and in order",
          "[remote_write][decoder]") {
  for (const size_t count : {DecoderV1::kPiece, DecoderV1::kPiece + 1, size_t{5000}}) {
    std::string content = Labels(kLabels);
    for (size_t i = 0; i < count; ++i) {
      content += SampleField(static_cast<double>(i), static_cast<int64_t>(i));
    }
    const auto series = Decode(Series(content));
    REQUIRE(series[0].samples.size() == count);
    REQUIRE(series[0].largest_piece <= DecoderV1::kPiece);
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(series[0].samples[i].timestamp_ms == static_cast<int64_t>(i));
    }
  }
}

TEST_CASE("labels over the limit are counted but not kept", "[remote_write][decoder]") {
  std::string content;
  for (int i = 0; i < 100; ++i) content += Label("l" + std::to_string(i), "v");
  const auto series = Decode(Series(content), 10);
  REQUIRE(series[0].labels.size() == 10);
  REQUIRE(series[0].label_count == 100);
  REQUIRE(series[0].in_place.empty());
}

// row 13 of docs/remote-write.md.
TEST_CASE("a fault anywhere in the message is found before anything is told",
          "[remote_write][decoder]") {
  const std::string good = Series(kLabels, 1, 1);
  const auto in_series = [&](const std::string& content) {
    return ErrorOf(good + Series(content));
  };
  REQUIRE(ErrorOf(good + Key(1, 2) + Varint(16383) + "abc") == DecodeError::kLengthPastEnd);
  REQUIRE(ErrorOf(good + VarintField(1, 1)) == DecodeError::kWrongWireType);
  REQUIRE(ErrorOf(good + VarintField(3, 1)) == DecodeError::kWrongWireType);
  REQUIRE(ErrorOf(good + std::string(1, '\0')) == DecodeError::kBadFieldNumber);
  REQUIRE(in_series(VarintField(4, 1)) == DecodeError::kWrongWireType);
  REQUIRE(in_series(BytesField(1, Key(1, 2) + Varint(9) + "a")) == DecodeError::kLengthPastEnd);
  REQUIRE(in_series(BytesField(1, VarintField(1, 1))) == DecodeError::kWrongWireType);
  REQUIRE(in_series(BytesField(2, VarintField(1, 5))) == DecodeError::kWrongWireType);
  REQUIRE(in_series(BytesField(2, Key(1, 1) + "1234567")) == DecodeError::kTruncated);
  REQUIRE(in_series(BytesField(2, Key(2, 0) + Varint(1, 11))) == DecodeError::kVarintTooLong);
  REQUIRE(in_series(BytesField(3, BytesField(1, "\x0a"))) == DecodeError::kTruncated);
  REQUIRE(in_series(BytesField(3, VarintField(2, 1))) == DecodeError::kWrongWireType);
  REQUIRE(in_series(BytesField(4, VarintField(3, 1))) == DecodeError::kWrongWireType);
  REQUIRE(ErrorOf(good + BytesField(3, VarintField(2, 1))) == DecodeError::kWrongWireType);
  REQUIRE(ErrorOf(good + BytesField(3, BytesField(1, "x"))) == DecodeError::kWrongWireType);

  RequestShape shape;
  REQUIRE(ValidateV1(good + Series("\xff"), shape) == DecodeError::kTruncated);
  REQUIRE(shape.fault_offset == good.size());
}

TEST_CASE("a body of 2.0 is recognised and nothing else is", "[remote_write][decoder]") {
  const auto looks_like_other = [](const std::string& message) {
    RequestShape shape;
    REQUIRE(ValidateV1(message, shape) == DecodeError::kNone);
    return shape.looks_like_other;
  };
  REQUIRE(looks_like_other(BytesField(4, "") + BytesField(4, "__name__") + BytesField(5, "x")));
  REQUIRE(looks_like_other(BytesField(4, "")));
  REQUIRE(looks_like_other(BytesField(5, "")));
  REQUIRE_FALSE(looks_like_other(""));
  REQUIRE_FALSE(looks_like_other(BytesField(6, "x")));
  REQUIRE_FALSE(looks_like_other(VarintField(4, 1)));
  REQUIRE_FALSE(looks_like_other(Series(kLabels, 1, 1) + BytesField(5, "x")));
  REQUIRE_FALSE(looks_like_other(BytesField(3, "") + BytesField(4, "x")));
}
