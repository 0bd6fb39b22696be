#include "remote_write/decoder_v2.h"

#include <limits>

#include "remote_write/batch_filler.h"
#include "remote_write/histogram_check.h"
#include "tests/catch.h"
#include "tests/remote_write/recording_sink.h"
#include "tests/remote_write/recording_visitor.h"
#include "tests/remote_write/wire_builder_v2.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

constexpr int64_t kNowMs = 1'796'004'480'000;
constexpr uint64_t kEnough = 32 << 20;

std::vector<SeenSeries> Decode(const std::string& message, size_t max_labels = 128) {
  RequestShape shape;
  REQUIRE(ValidateV2(message, shape) == DecodeError::kNone);
  RecordingVisitor recorder;
  DecoderV2 decoder(max_labels, kEnough);
  REQUIRE(decoder.Walk(message, shape, recorder) == DecodeError::kNone);
  uint64_t samples = 0;
  uint64_t exemplars = 0;
  uint64_t histograms = 0;
  for (const SeenSeries& entry : recorder.series) {
    samples += entry.samples.size();
    exemplars += entry.exemplars;
    histograms += entry.histograms;
  }
  REQUIRE(recorder.series.size() == shape.series);
  REQUIRE(samples == shape.samples);
  REQUIRE(exemplars == shape.exemplars);
  REQUIRE(histograms == shape.histograms);
  return recorder.series;
}

DecodeError ErrorOf(const std::string& message) {
  RequestShape shape;
  const DecodeError error = ValidateV2(message, shape);
  RecordingVisitor recorder;
  DecoderV2 decoder(128, kEnough);
  // The second pass may overlook faults in what it only counts, but it must end.
  static_cast<void>(decoder.Walk(message, shape, recorder));
  return error;
}

std::string Symbols3() {  // 0 "", 1 __name__, 2 up, 3 job, 4 node
  return BytesField(4, "") + BytesField(4, "__name__") + BytesField(4, "up") +
         BytesField(4, "job") + BytesField(4, "node");
}
std::string Packed(const std::vector<uint64_t>& references) {
  std::string out;
  for (const uint64_t reference : references) out += Varint(reference);
  return BytesField(1, out);
}
std::string Loose(const std::vector<uint64_t>& references) {
  std::string out;
  for (const uint64_t reference : references) out += VarintField(1, reference);
  return out;
}

const LabelList kLabels = {{"__name__", "up"}, {"job", "node"}};

}  // namespace

TEST_CASE("a message of 2.0 is counted and its series are told in order",
          "[remote_write][decoder][v2]") {
  const std::string message =
      EncodeV2({{kLabels, {{1000, 1.5, 900}}, {}, {}, {{1, "help", "unit"}}},
                {{{"__name__", "down"}}, {}, {""}, {{{{"trace_id", "1"}}, 1, 5}, {{}, 2, 6}}},
                {{}, {}}});
  RequestShape shape;
  REQUIRE(ValidateV2(message, shape) == DecodeError::kNone);
  REQUIRE(shape.series == 3);
  REQUIRE(shape.samples == 1);
  REQUIRE(shape.exemplars == 2);
  REQUIRE(shape.histograms == 1);
  REQUIRE(shape.metadata == 1);
  REQUIRE(shape.symbols == 10);
  REQUIRE_FALSE(shape.looks_like_other);

  const auto series = Decode(message);
  REQUIRE(series[0].labels == kLabels);
  REQUIRE(series[0].samples.at(0).timestamp_ms == 1000);
  REQUIRE(series[0].samples.at(0).value == 1.5);
  REQUIRE(series[0].samples.at(0).start_timestamp_ms == 900);
  REQUIRE(series[1].exemplars == 2);
  REQUIRE(series[1].histograms == 1);
  REQUIRE(series[2].label_count == 0);
  REQUIRE_FALSE(series[2].bad_reference);
}

TEST_CASE("an empty message of 2.0 is a request with nothing in it",
          "[remote_write][decoder][v2]") {
  REQUIRE(Decode("").empty());
}

TEST_CASE("labels of 2.0 get the canonical bytes of 1.0", "[remote_write][decoder][v2]") {
  const std::vector<LabelList> sets = {
      kLabels,
      {{"__name__", "x"}},
      {{"__name__", "up"}, {"id", std::string(33, 'a')}, {"z", std::string(32, 'b')}},
      {{"__name__", std::string(121, 'n')}},
      {{"__name__", std::string(122, 'n')}},
      {{"a", std::string(127, 'v')}, {"b", std::string(128, 'v')}, {"c", std::string(129, 'v')}},
      {{"long", std::string(20'000, 'v')}, {"name", std::string(16'384, 'v')}},
  };
  std::vector<Item> items;
  for (const LabelList& labels : sets) items.push_back({labels, {{kNowMs, 1}}});
  const auto series = Decode(EncodeV2(items));
  for (size_t i = 0; i < sets.size(); ++i) {
    CAPTURE(i);
    REQUIRE(series[i].in_place == Labels(sets[i]));
    REQUIRE(series[i].labels == sets[i]);
  }
}

TEST_CASE("labels that are no canonical set are left to the visitor",
          "[remote_write][decoder][v2]") {
  const auto in_place = [](const LabelList& labels) {
    return Decode(EncodeV2({{labels, {}}})).at(0).in_place;
  };
  REQUIRE(in_place({{"a", ""}}).empty());
  REQUIRE(in_place({{"", "a"}}).empty());
  REQUIRE(in_place({}).empty());
}

TEST_CASE("references may be packed, loose, mixed, in pieces and over-long",
          "[remote_write][decoder][v2]") {
  const auto labels = [](const std::string& content) {
    const auto series = Decode(Symbols3() + SeriesV2(content));
    REQUIRE_FALSE(series.at(0).bad_reference);
    return series.at(0).labels;
  };
  REQUIRE(labels(Packed({1, 2, 3, 4})) == kLabels);
  REQUIRE(labels(Loose({1, 2, 3, 4})) == kLabels);
  REQUIRE(labels(Packed({1}) + Packed({2, 3}) + Packed({}) + Packed({4})) == kLabels);
  REQUIRE(labels(Loose({1}) + Packed({2, 3, 4})) == kLabels);
  REQUIRE(labels(Packed({1, 2, 3}) + SampleField(1, 1) + Loose({4})) == kLabels);
  REQUIRE(labels(BytesField(1, Varint(1, 10) + Varint(2, 2) + Varint(3, 5) + Varint(4, 3))) ==
          kLabels);
  REQUIRE(labels(Key(1, 0) + Varint(1, 10) + Packed({2}) + Key(1, 0, 5) + Varint(3) + Loose({4})) ==
          kLabels);
  // As protobuf reads a uint32.
  REQUIRE(labels(Packed({(1ULL << 32) + 1, 2, (7ULL << 32) + 3, 4})) == kLabels);
}

TEST_CASE("references into a large table are read", "[remote_write][decoder][v2]") {
  std::string message = Symbols3();
  for (int i = 5; i < 40'000; ++i) message += BytesField(4, "s" + std::to_string(i));
  message += SeriesV2(Packed({1, 127, 128, 16383, 16384, 39'999}));
  REQUIRE(Decode(message).at(0).labels ==
          LabelList{{"__name__", "s127"}, {"s128", "s16383"}, {"s16384", "s39999"}});
}

TEST_CASE("a reference that names no symbol, or a name without a value, refuses the entry",
          "[remote_write][decoder][v2]") {
  const auto is_bad = [](const std::string& content, const std::string& symbols = Symbols3()) {
    const auto series = Decode(symbols + SeriesV2(Packed({1, 2})) + SeriesV2(content));
    return series.at(1).bad_reference;
  };
  const std::string good = Packed({1, 2});
  const auto exemplar = [](const std::string& content) { return BytesField(4, content); };
  const auto metadata = [](uint64_t help, uint64_t unit) {
    return BytesField(5, VarintField(3, help) + VarintField(4, unit));
  };
  REQUIRE_FALSE(is_bad(good + exemplar(Packed({3, 4}) + Loose({1, 2})) + metadata(4, 0)));
  REQUIRE(is_bad(Packed({1, 2, 3})));
  REQUIRE(is_bad(Packed({1})));
  REQUIRE(is_bad(Packed({1, 5})));
  REQUIRE(is_bad(Packed({5, 1})));
  REQUIRE(is_bad(Loose({1, 5})));
  REQUIRE(is_bad(Packed({1, UINT32_MAX})));
  REQUIRE(is_bad(Packed({1, UINT64_MAX})));
  REQUIRE(is_bad(good + exemplar(Packed({3, 5}))));
  REQUIRE(is_bad(good + exemplar(Packed({3}))));
  REQUIRE(is_bad(good + exemplar(Loose({3, 9}))));
  REQUIRE(is_bad(good + metadata(5, 0)));
  REQUIRE(is_bad(good + metadata(0, 5)));
  // Of a field given twice the last counts.
  REQUIRE_FALSE(is_bad(good + metadata(5, 0) + metadata(0, 0)));
  // Without a table nothing can be named; what is left out names nothing.
  REQUIRE(Decode(SeriesV2(Packed({0, 0}))).at(0).bad_reference);
  REQUIRE_FALSE(Decode(SeriesV2(BytesField(5, VarintField(1, 1)))).at(0).bad_reference);
}

TEST_CASE("symbols may come after the series, and in several places",
          "[remote_write][decoder][v2]") {
  const std::string series = SeriesV2(Packed({1, 2, 3, 4}) + SampleField(1, kNowMs));
  REQUIRE(Decode(series + Symbols3()).at(0).labels == kLabels);
  REQUIRE(Decode(BytesField(4, "") + series + BytesField(4, "__name__") + BytesField(4, "up") +
                 series + BytesField(4, "job") + BytesField(4, "node"))
              .at(1)
              .labels == kLabels);
  // A length with needless bytes.
  REQUIRE(Decode(series + Symbols3() + Key(4, 2) + Varint(3, 4) + "abc" + SeriesV2(Packed({1, 5})))
              .at(1)
              .labels == LabelList{{"__name__", "abc"}});
}

TEST_CASE("the first symbol may be any text", "[remote_write][decoder][v2]") {
  REQUIRE(Decode(BytesField(4, "__name__") + BytesField(4, "up") + SeriesV2(Packed({0, 1})))
              .at(0)
              .labels == LabelList{{"__name__", "up"}});
}

TEST_CASE("whether text is UTF-8 is seen once for all series", "[remote_write][decoder][v2]") {
  REQUIRE(Decode(EncodeV2({{kLabels, {}}})).at(0).is_utf8);
  const auto series = Decode(EncodeV2({{kLabels, {}}, {{{"a", "\xff"}}, {}}}));
  REQUIRE_FALSE(series.at(0).is_utf8);  // not known
  REQUIRE(series.at(1).in_place == Labels({{"a", "\xff"}}));
}

TEST_CASE("start times are the sample's own, else the entry's, and dropped when they can not be",
          "[remote_write][decoder][v2]") {
  const auto starts = [](int64_t created, const std::vector<Sample>& samples) {
    std::string content = Packed({1, 2});
    for (const Sample& sample : samples) content += SampleFieldV2(sample);
    if (created != 0) content += VarintField(6, static_cast<uint64_t>(created));
    std::vector<int64_t> found;
    const auto series = Decode(Symbols3() + SeriesV2(content));
    for (const Sample& sample : series.at(0).samples) {
      found.push_back(sample.start_timestamp_ms);
    }
    return found;
  };
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  using Times = std::vector<int64_t>;
  REQUIRE(starts(0, {{100, 1, 40}, {100, 1, 100}, {100, 1, 0}}) == Times{40, 100, 0});
  REQUIRE(starts(0, {{100, 1, 101}, {100, 1, -1}, {100, 1, kMin}, {100, 1, kMax}}) ==
          Times{0, 0, 0, 0});
  REQUIRE(starts(30, {{100, 1, 40}, {100, 1, 0}, {20, 1, 0}}) == Times{40, 30, 0});
  REQUIRE(starts(30, {{100, 1, 101}}) == Times{0});  // it has one of its own, if a bad one
  REQUIRE(starts(kMin, {{100, 1, 0}}) == Times{0});
  REQUIRE(starts(kMax, {{100, 1, 0}}) == Times{0});

  std::string many = VarintField(6, 30) + Packed({1, 2});
  for (int i = 0; i < 1000; ++i) many += SampleField(1, 100 + i);
  const auto series = Decode(Symbols3() + SeriesV2(many));
  for (const Sample& sample : series.at(0).samples) {
    REQUIRE(sample.start_timestamp_ms == 30);
  }
}

TEST_CASE("many samples of one series of 2.0 come in bounded pieces and in order",
          "[remote_write][decoder][v2]") {
  for (const size_t count : {DecoderV2::kPiece, DecoderV2::kPiece + 1, size_t{5000}}) {
    for (const bool with_histogram : {false, true}) {
      std::string content;
      for (size_t i = 0; i < count; ++i) {
        content += SampleField(static_cast<double>(i), static_cast<int64_t>(i));
        if (with_histogram && i == 3) content += BytesField(3, "");
      }
      const auto series = Decode(Symbols3() + SeriesV2(content + Packed({1, 2})));
      REQUIRE(series[0].samples.size() == count);
      REQUIRE(series[0].largest_piece <= DecoderV2::kPiece);
      REQUIRE(series[0].histograms == (with_histogram ? 1 : 0));
      for (size_t i = 0; i < count; ++i) {
        REQUIRE(series[0].samples[i].timestamp_ms == static_cast<int64_t>(i));
        REQUIRE(series[0].samples[i].value == static_cast<double>(i));
      }
    }
  }
}

TEST_CASE("labels of 2.0 over the limit are counted but not kept", "[remote_write][decoder][v2]") {
  for (const bool packed : {true, false}) {
    std::vector<uint64_t> references;
    for (int i = 0; i < 100; ++i) references.insert(references.end(), {3, 4});
    const std::string content = packed ? Packed(references) : Loose(references);
    const auto series = Decode(Symbols3() + SeriesV2(content), 10);
    REQUIRE(series[0].labels.size() == 10);
    REQUIRE(series[0].label_count == 100);
    REQUIRE(series[0].in_place.empty());
    REQUIRE_FALSE(series[0].bad_reference);
    references.push_back(3);
    const std::string odd = packed ? Packed(references) : Loose(references);
    REQUIRE(Decode(Symbols3() + SeriesV2(odd), 10).at(0).bad_reference);
    references.push_back(5);
    const std::string past = packed ? Packed(references) : Loose(references);
    REQUIRE(Decode(Symbols3() + SeriesV2(past), 10).at(0).bad_reference);
  }
}

TEST_CASE("labels written out are bounded, however few bytes name them",
          "[remote_write][decoder][v2]") {
  const auto walk = [](const std::string& message, uint64_t most) {
    RequestShape shape;
    REQUIRE(ValidateV2(message, shape) == DecodeError::kNone);
    RecordingVisitor recorder;
    DecoderV2 decoder(128, most);
    const DecodeError first = decoder.Walk(message, shape, recorder);
    decoder.Clear();
    REQUIRE(decoder.Walk(message, shape, recorder) == first);  // counted anew for each request
    return first;
  };
  const std::string one = EncodeV2({{kLabels, {}}});
  const size_t bytes = Labels(kLabels).size();
  REQUIRE(walk(one, bytes) == DecodeError::kNone);
  REQUIRE(walk(one, bytes - 1) == DecodeError::kLabelsTooLarge);
  REQUIRE(walk(EncodeV2({{kLabels, {}}, {kLabels, {}}}), 2 * bytes - 1) ==
          DecodeError::kLabelsTooLarge);
  // Those that the visitor has to write out count too; those that it refuses unread do not.
  const std::string untidy = EncodeV2({{{{"b", "1"}, {"a", "2"}, {"c", ""}}, {}}});
  REQUIRE(walk(untidy, 20) == DecodeError::kLabelsTooLarge);
  REQUIRE(walk(Symbols3() + SeriesV2(Packed({1, 2, 9, 9})), 1) == DecodeError::kNone);

  // 127 labels of 1 MiB in every entry of 258 bytes.
  std::string amplified = BytesField(4, std::string(1 << 20, 'v'));
  std::vector<uint64_t> references;
  for (uint64_t i = 1; i < 128; ++i) {
    amplified += BytesField(4, "n" + std::to_string(i));
    references.insert(references.end(), {i, 0});
  }
  for (int i = 0; i < 1000; ++i) amplified += SeriesV2(Packed(references));
  REQUIRE(walk(amplified, kEnough) == DecodeError::kLabelsTooLarge);
}

TEST_CASE("a fault anywhere in a message of 2.0 is found before anything is told",
          "[remote_write][decoder][v2]") {
  const std::string good = Symbols3() + SeriesV2(Packed({1, 2}) + SampleField(1, 1));
  const auto in_series = [&](const std::string& content) {
    return ErrorOf(good + SeriesV2(content));
  };
  using enum DecodeError;
  REQUIRE(ErrorOf(good) == kNone);
  REQUIRE(ErrorOf(good + Key(5, 2) + Varint(16383) + "abc") == kLengthPastEnd);
  REQUIRE(ErrorOf(good + Key(4, 2) + Varint(3) + "ab") == kLengthPastEnd);
  REQUIRE(ErrorOf(good + VarintField(5, 1)) == kWrongWireType);
  REQUIRE(ErrorOf(good + VarintField(4, 1)) == kWrongWireType);
  REQUIRE(ErrorOf(good + std::string(1, '\0')) == kBadFieldNumber);
  REQUIRE(in_series(Fixed64Field(1, 1)) == kWrongWireType);
  REQUIRE(in_series(BytesField(1, "\x80")) == kTruncated);
  REQUIRE(in_series(BytesField(1, std::string(7, '\x01') + "\x80")) == kTruncated);
  REQUIRE(in_series(BytesField(1, std::string(15, '\x01') + "\x80")) == kTruncated);
  REQUIRE(in_series(BytesField(1, std::string(6, '\x01') + Varint(1, 11))) == kVarintTooLong);
  REQUIRE(in_series(Key(1, 0) + Varint(1, 11)) == kVarintTooLong);
  REQUIRE(in_series(VarintField(2, 5)) == kWrongWireType);
  REQUIRE(in_series(BytesField(2, VarintField(1, 5))) == kWrongWireType);
  REQUIRE(in_series(BytesField(2, Fixed64Field(3, 5))) == kWrongWireType);
  REQUIRE(in_series(BytesField(2, Key(1, 1) + "1234567")) == kTruncated);
  REQUIRE(in_series(BytesField(3, VarintField(3, 1))) == kWrongWireType);
  REQUIRE(in_series(BytesField(3, Fixed64Field(17, 1))) == kWrongWireType);
  REQUIRE(in_series(BytesField(3, VarintField(17, 1))) == kNone);
  REQUIRE(in_series(VarintField(4, 1)) == kWrongWireType);
  REQUIRE(in_series(BytesField(4, BytesField(1, "\x80"))) == kTruncated);
  REQUIRE(in_series(BytesField(4, VarintField(2, 1))) == kWrongWireType);
  REQUIRE(in_series(VarintField(5, 1)) == kWrongWireType);
  REQUIRE(in_series(BytesField(5, BytesField(3, "x"))) == kWrongWireType);
  REQUIRE(in_series(BytesField(5, BytesField(4, "x"))) == kWrongWireType);
  REQUIRE(in_series(BytesField(5, BytesField(1, "x"))) == kWrongWireType);
  REQUIRE(in_series(BytesField(6, "x")) == kWrongWireType);
  REQUIRE(in_series(Fixed64Field(6, 1)) == kWrongWireType);

  RequestShape shape;
  REQUIRE(ValidateV2(good + SeriesV2("\xff"), shape) == kTruncated);
  REQUIRE(shape.fault_offset == good.size());
}

TEST_CASE("1.0 does not know the start times of 2.0 and skips their fields",
          "[remote_write][decoder][v2]") {
  bool consistent = false;
  REQUIRE(CheckHistogram(Fixed64Field(17, 1), consistent) == DecodeError::kNone);
  REQUIRE(CheckHistogram(BytesField(17, "x"), consistent) == DecodeError::kNone);
  REQUIRE(CheckHistogram(BytesField(17, "x"), consistent, true) == DecodeError::kWrongWireType);
}

TEST_CASE("unknown and reserved fields of 2.0 are skipped at every level",
          "[remote_write][decoder][v2]") {
  const std::string unknown = VarintField(100, 5) + Fixed64Field(101, 1) + BytesField(102, "\xff") +
                              Key(103, 5) + "1234" + Key(104, 3) + VarintField(1, 1) + Key(104, 4);
  const std::string reserved = VarintField(1, 1) + Fixed64Field(2, 1) + VarintField(3, 9);
  const std::string sample =
      BytesField(2, unknown + DoubleField(1, 4) + unknown + VarintField(2, 8));
  const std::string exemplar = BytesField(4, unknown + Packed({1, 2}) + unknown);
  const std::string metadata = BytesField(5, unknown + VarintField(2, 1) + VarintField(3, 4));
  const auto series = Decode(unknown + reserved + Symbols3() +
                             SeriesV2(unknown + Packed({1, 2}) + unknown + sample + exemplar +
                                      metadata + BytesField(3, unknown)) +
                             unknown);
  REQUIRE(series.size() == 1);
  REQUIRE(series[0].labels == LabelList{{"__name__", "up"}});
  REQUIRE(series[0].samples.at(0).value == 4);
  REQUIRE_FALSE(series[0].bad_reference);
}

TEST_CASE("a body of 1.0 is recognised under 2.0 and nothing else is",
          "[remote_write][decoder][v2]") {
  const auto looks_like_v1 = [](const std::string& message) {
    RequestShape shape;
    REQUIRE(ValidateV2(message, shape) == DecodeError::kNone);
    return shape.looks_like_other;
  };
  REQUIRE(looks_like_v1(Series(kLabels, 1, 1)));
  REQUIRE(looks_like_v1(Series("")));
  REQUIRE(looks_like_v1(BytesField(3, "")));
  REQUIRE_FALSE(looks_like_v1(""));
  REQUIRE_FALSE(looks_like_v1(BytesField(2, "x")));
  REQUIRE_FALSE(looks_like_v1(VarintField(1, 1)));
  REQUIRE_FALSE(looks_like_v1(Series(kLabels, 1, 1) + SeriesV2("")));
  REQUIRE_FALSE(looks_like_v1(BytesField(3, "") + BytesField(4, "")));
}
