// The cases of the receiver's table by their numbers, one request each and, where both protocols
// can say it, over both: what is answered, what is taken in, and why the rest is not.

#include <limits>

#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/remote_write/wire_builder_v2.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

/// A request over both protocols, or over one.
struct Messages {
  std::optional<std::string> v1;
  std::optional<std::string> v2;
};

/// What is the same over both protocols, but for the Written headers.
struct Case {
  int row;  ///< 0: of no row
  const char* what;
  Messages messages;
  unsigned status;
  size_t taken;
  std::optional<RejectReason> reason = std::nullopt;
  uint64_t samples_refused = 1;
  uint64_t histograms = 0;  ///< taken in
  uint64_t exemplars = 0;
};

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr double kInf = std::numeric_limits<double>::infinity();

const Item kGood = {{{"__name__", "up"}, {"job", "good"}}, {{kNowMs, 1}}};
const LabelList kPodA = {{"__name__", "up"}, {"pod", "a"}};

Messages Both(const std::vector<Item>& items) { return {EncodeV1(items), EncodeV2(items)}; }
/// With a good series in front.
Messages GoodAnd(const Item& item) { return Both({kGood, item}); }
Messages OnlyV2(std::string message) { return {std::nullopt, std::move(message)}; }

Item With(const LabelList& labels) { return {labels, {{kNowMs, 1}}}; }
Item At(int64_t timestamp_ms) { return {kPodA, {{timestamp_ms, 1}}}; }

Item ManyLabels(size_t count) {
  LabelList labels = {{"__name__", "kube_pod_labels"}};
  while (labels.size() < count) {
    labels.emplace_back("label_" + std::to_string(100000 + labels.size()), "x");
  }
  return With(labels);
}

Item Values(const std::vector<double>& values) {
  Item item{kPodA, {}};
  int64_t time = kNowMs - 1000;
  for (const double value : values) item.samples.push_back({time++, value});
  return item;
}

std::string Repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string Packed(const std::vector<uint64_t>& references) {
  std::string out;
  for (const uint64_t reference : references) out += Varint(reference);
  return BytesField(1, out);
}

/// Series of 2.0 whose labels are these references, each after a good series; symbols are 0 "",
/// 1 __name__, 2 up, 3 pod, 4 a.
std::string References(const std::string& references, const std::string& rest = "") {
  std::string out;
  for (const char* text : {"", "__name__", "up", "pod", "a"}) out += BytesField(4, text);
  const std::string sample = SampleField(1, kNowMs);
  return out + SeriesV2(Packed({1, 2}) + sample) + SeriesV2(references + sample + rest);
}

const std::string kUnknown = BytesField(77, "x") + Key(78, 3) + Key(79, 3) + VarintField(80, 1) +
                             Key(79, 4) + Key(78, 4) + Fixed64Field(81, 1);

/// One bucket with 2 observations; good with a count of 2.
std::string Histogram(uint64_t count) {
  return VarintField(1, count) + DoubleField(3, 1) +
         BytesField(11, VarintField(1, 0) + VarintField(2, 1)) + BytesField(12, Varint(4)) +
         VarintField(15, kNowMs);
}

std::vector<Case> ShapeCases() {
  const std::string v1 = EncodeV1({kGood});
  const std::string v2 = EncodeV2({kGood});
  const auto and_both = [&](const std::string& tail) { return Messages{v1 + tail, v2 + tail}; };
  return {
      {1, "an empty message", Both({}), 204, 0},
      {12,
       "many empty series",
       {Repeat(Series(""), 1000), Repeat(SeriesV2(""), 1000)},
       400,
       0,
       RejectReason::kMissingName,
       0},
      {12, "many empty symbols", OnlyV2(v2 + Repeat(BytesField(4, ""), 100'000)), 204, 1},
      {13, "a field number of 0", and_both(std::string(1, '\0')), 400, 0},
      {13, "a wire type of 7", and_both("\x0f"), 400, 0},
      {13, "a length past the end", and_both(Key(9, 2) + Varint(5) + "abc"), 400, 0},
      {13, "a varint of eleven bytes", and_both(Key(9, 0) + Varint(1, 11)), 400, 0},
      {13,
       "a value as a varint",
       {v1 + Series(Labels(kPodA) + BytesField(2, VarintField(1, 1))),
        References(Packed({1, 2}), BytesField(2, VarintField(1, 1)))},
       400,
       0},
      {14, "unknown fields", and_both(kUnknown), 204, 1},
      {14,
       "unknown fields within",
       {v1 + Series(kUnknown + Labels(kPodA) + SampleField(1, kNowMs) + kUnknown),
        References(kUnknown + Packed({1, 2, 3, 4}), kUnknown)},
       204,
       2},
      {15,
       "labels after samples",
       {v1 + Series(SampleField(1, kNowMs) + Labels(kPodA)), References("", Packed({1, 2, 3, 4}))},
       204,
       2},
      {15,
       "a value before its name",
       {v1 + Series(Label("__name__", "up") +
                    BytesField(1, BytesField(2, "a") + BytesField(1, "pod")) +
                    SampleField(1, kNowMs)),
        std::nullopt},
       204,
       2},
      {15, "symbols after series",
       OnlyV2(SeriesV2(Packed({0, 1}) + SampleField(1, kNowMs)) + BytesField(4, "__name__") +
              BytesField(4, "up")),
       204, 1},
      {16, "a body of the other protocol", {v2, v1}, 400, 0},
      {25, "an odd number of references", OnlyV2(References(Packed({1, 2, 3}))), 400, 1,
       RejectReason::kBadLabelReference},
      {25, "a label past the table", OnlyV2(References(Packed({1, 2, 3, 5}))), 400, 1,
       RejectReason::kBadLabelReference},
      {25, "a help past the table",
       OnlyV2(References(Packed({1, 2}), BytesField(5, VarintField(3, 5)))), 400, 1,
       RejectReason::kBadLabelReference},
      {25, "a unit past the table",
       OnlyV2(References(Packed({1, 2}), BytesField(5, VarintField(4, 5)))), 400, 1,
       RejectReason::kBadLabelReference},
      {25, "an exemplar's label past the table",
       OnlyV2(References(Packed({1, 2}), BytesField(4, Packed({3, 5})))), 400, 1,
       RejectReason::kBadLabelReference},
      {25, "an exemplar's name without a value",
       OnlyV2(References(Packed({1, 2}), BytesField(4, Packed({3})))), 400, 1,
       RejectReason::kBadLabelReference},
      {26, "a first symbol that is not empty",
       OnlyV2(BytesField(4, "__name__") + BytesField(4, "up") +
              SeriesV2(Packed({0, 1}) + SampleField(1, kNowMs))),
       204, 1},
      {27, "a reference over 2^32, cut to 32 bits",
       OnlyV2(References(Packed({(1ULL << 32) + 1, 2}))), 204, 2},
      {27, "a reference over 2^32 that stays too large",
       OnlyV2(References(Packed({(1ULL << 40) - 1, 2}))), 400, 1, RejectReason::kBadLabelReference},
      {0, "references packed, loose and in pieces",
       OnlyV2(References(Packed({1}) + VarintField(1, 2) + Packed({3, 4}))), 204, 2},
      {0,
       "no value: an honest zero",
       {Series(Labels(kPodA) + BytesField(2, VarintField(2, kNowMs))),
        BytesField(4, "__name__") + BytesField(4, "up") +
            SeriesV2(Packed({0, 1}) + BytesField(2, VarintField(2, kNowMs)))},
       204,
       1},
  };
}

std::vector<Case> LabelCases() {
  using enum RejectReason;
  return {
      {17, "no name", GoodAnd(With({{"pod", "a"}})), 400, 1, kMissingName},
      {17, "an empty name", GoodAnd(With({{"__name__", ""}, {"pod", "a"}})), 400, 1, kMissingName},
      {17, "no labels at all", GoodAnd(With({})), 400, 1, kMissingName},
      {18, "a label name twice", GoodAnd(With({{"__name__", "up"}, {"a", "1"}, {"a", "2"}})), 400,
       1, kDuplicateLabel},
      {18, "a label twice", GoodAnd(With({{"__name__", "up"}, {"a", "1"}, {"a", "1"}})), 400, 1,
       kDuplicateLabel},
      {18, "two names", GoodAnd(With({{"__name__", "up"}, {"__name__", "down"}})), 400, 1,
       kDuplicateLabel},
      {19, "an empty label name", GoodAnd(With({{"", "x"}, {"__name__", "up"}})), 400, 1,
       kEmptyLabelName},
      {20, "an empty label value", GoodAnd(With({{"__name__", "up"}, {"image", ""}})), 204, 2},
      {21, "labels not sorted", GoodAnd(With({{"pod", "a"}, {"__name__", "up"}})), 204, 2},
      {22, "a value that is not UTF-8", GoodAnd(With({{"__name__", "up"}, {"a", "\xff"}})), 400, 1,
       kInvalidUtf8},
      {22, "a name that is not UTF-8", GoodAnd(With({{"__name__", "\xc3("}})), 400, 1,
       kInvalidUtf8},
      {23, "names outside the old set",
       Both({With({{"__name__", "name with.dots"}, {"\xc3\xbc mlaut", std::string(1, '\0')}})}),
       204, 1},
      {24, "41 labels", Both({ManyLabels(41)}), 204, 1},
      {24, "128 labels", Both({ManyLabels(128)}), 204, 1},
      {24, "129 labels", GoodAnd(ManyLabels(129)), 400, 1, kTooManyLabels},
      {24, "far too many labels", GoodAnd(ManyLabels(3000)), 400, 1, kTooManyLabels},
      {24, "a value of the greatest length",
       GoodAnd(With({{"__name__", "up"}, {"a", std::string(4096, 'v')}})), 204, 2},
      {24, "a long value", GoodAnd(With({{"__name__", "up"}, {"a", std::string(4097, 'v')}})), 400,
       1, kLabelValueTooLong},
      {24, "a huge value", GoodAnd(With({{"__name__", "up"}, {"a", std::string(1 << 20, 'v')}})),
       400, 1, kLabelValueTooLong},
      {24, "a name of the greatest length",
       GoodAnd(With({{"__name__", "up"}, {std::string(1024, 'n'), "a"}})), 204, 2},
      {24, "a long name", GoodAnd(With({{"__name__", "up"}, {std::string(1025, 'n'), "a"}})), 400,
       1, kLabelNameTooLong},
      {0, "an entry with labels only", GoodAnd({kPodA, {}}), 204, 1},
      {0, "an entry with bad labels only", GoodAnd({{{"pod", "a"}}, {}}), 400, 1, kMissingName, 0},
  };
}

std::vector<Case> ContentCases() {
  using enum RejectReason;
  const Item::OneExemplar exemplar = {{{"trace_id", "1"}}, 1, kNowMs};
  const Item::OneExemplar long_one = {{{"trace_id", std::string(500, 'x')}}, 1, kNowMs};
  const auto only_metadata = [](const char* help) {
    return Item{kPodA, {}, {}, {}, {{99, help, ""}}};
  };
  return {
      {28, "samples and histograms in one entry",
       Both({{kPodA, {{kNowMs, 1}}, {Histogram(2), Histogram(2)}}}), 204, 1, std::nullopt, 0, 2},
      {29, "an entry with exemplars only", GoodAnd({kPodA, {}, {}, {exemplar, exemplar}}), 204, 1,
       std::nullopt, 0, 0, 2},
      {30, "entries with metadata only", Both({only_metadata("help"), only_metadata("")}), 204, 0},
      {31, "odd values",
       Both({Values({std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, -0.0,
                     std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
                     -1})}),
       204, 7},
      {32, "a stale marker", Both({Values({StaleMarker()})}), 204, 1},
      {38, "ten minutes ahead", GoodAnd(At(kNowMs + 600'000)), 204, 2},
      {38, "more than ten minutes ahead", GoodAnd(At(kNowMs + 600'001)), 400, 1, kTooFarInFuture},
      {38, "the year 2100", GoodAnd(At(4'102'444'800'000)), 400, 1, kTooFarInFuture},
      {39, "a negative time", GoodAnd(At(-1)), 400, 1, kTooOld},
      {39, "the least time", GoodAnd(At(kMin)), 400, 1, kTooOld},
      {39, "the greatest time", GoodAnd(At(kMax)), 400, 1, kTooFarInFuture},
      {39, "seconds for milliseconds", GoodAnd(At(kNowMs / 1000)), 400, 1, kTooOld},
      {39, "nanoseconds for milliseconds", GoodAnd(At(kNowMs * 1'000'000)), 400, 1,
       kTooFarInFuture},
      {39, "no time at all", GoodAnd(At(0)), 400, 1, kTooOld},
      {39, "the first time that can be", Both({At(1'000'000'000'000)}), 204, 1},
      {39, "just before the first time that can be", Both({At(999'999'999'999)}), 400, 0, kTooOld},
      {40, "each sample of an entry is judged alone",
       Both({{kPodA, {{kNowMs, 1}, {-5, 2}, {kNowMs + 1, 3}, {7, 4}, {kNowMs + 2, 5}}}}), 400, 3,
       kTooOld, 2},
      {41, "a native histogram", GoodAnd({kPodA, {}, {Histogram(2)}}), 204, 1, std::nullopt, 0, 1},
      {41, "an empty native histogram", GoodAnd({kPodA, {}, {""}}), 204, 1, std::nullopt, 0, 1},
      {41, "a histogram that contradicts itself",
       Both({{kPodA, {{kNowMs, 1}}, {Histogram(99), Histogram(2), Histogram(99)}}}), 400, 1,
       kInvalidHistogram, 0, 1},
      {42,
       "start times of every kind",
       {std::nullopt,
        EncodeV2({{kPodA,
                   {{kNowMs, 1, kNowMs - 1},
                    {kNowMs + 1, 1, -1},
                    {kNowMs + 2, 1, kNowMs + 3},
                    {kNowMs + 3, 1, kMax}}}}) +
            SeriesV2(VarintField(6, kNowMs) + Packed({1, 2}) + SampleField(1, kNowMs + 4))},
       204,
       5},
      {43, "an exemplar of more than 128 characters", GoodAnd({kPodA, {}, {}, {long_one}}), 204, 1,
       std::nullopt, 0, 0, 1},
      {43, "an exemplar without labels or time", GoodAnd({kPodA, {}, {}, {{{}, 0, 0}}}), 204, 1,
       std::nullopt, 0, 0, 1},
      {43, "exemplars of a series that is refused", GoodAnd({{{"pod", "a"}}, {}, {}, {exemplar}}),
       400, 1, kMissingName, 0},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases = ShapeCases();
  for (const auto& more : {LabelCases(), ContentCases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

void CheckCase(const Case& test, const HttpRequest& request, bool v2) {
  CAPTURE(test.row, test.what, v2);
  HandlerFixture fixture;
  const HttpResponse response = fixture.Send(request);
  CAPTURE(response.body);
  REQUIRE(response.status == test.status);
  REQUIRE(fixture.sink.samples() == test.taken);
  REQUIRE(fixture.counters.samples_accepted == test.taken);
  REQUIRE(fixture.TotalRejected() == (test.reason ? test.samples_refused : 0));
  REQUIRE(fixture.counters.histograms == test.histograms);
  REQUIRE(fixture.counters.exemplars == test.exemplars);
  if (v2) {
    REQUIRE(WrittenOf(response) == Written{test.taken, test.histograms, test.exemplars});
  } else {
    REQUIRE(response.headers.size() == (test.status == 204 ? 0 : 1));  // Content-Type of the text
  }
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

}  // namespace

TEST_CASE("each case of the table has its answer over 1.0 and 2.0", "[remote_write][table]") {
  for (const Case& test : Cases()) {
    if (test.messages.v1) CheckCase(test, WriteRequest(Pack(*test.messages.v1)), false);
    if (test.messages.v2) CheckCase(test, WriteRequestV2(Pack(*test.messages.v2)), true);
  }
}

TEST_CASE("a good request after any case of the table is taken in", "[remote_write][table]") {
  HandlerFixture fixture;
  const std::string v1 = EncodeV1({kGood});
  const std::string v2 = EncodeV2({kGood});
  for (const Case& test : Cases()) {
    CAPTURE(test.row, test.what);
    if (test.messages.v1) fixture.SendMessage(*test.messages.v1);
    if (test.messages.v2) fixture.SendMessageV2(*test.messages.v2);
    const size_t before = fixture.sink.samples();
    REQUIRE(fixture.SendMessage(v1).status == 204);
    REQUIRE(fixture.SendMessageV2(v2).status == 204);
    REQUIRE(fixture.sink.samples() == before + 2);
  }
}

TEST_CASE("each row that concerns the content type has its answer", "[remote_write][table]") {
  struct {
    int row;
    std::optional<std::string> type;
    int speaks;  ///< 1, 2, or 0: refused
  } const cases[] = {
      {4, std::nullopt, 1},
      {4, "", 1},
      {4, "application/x-protobuf", 1},
      {4, "application/x-protobuf;proto=prometheus.WriteRequest", 1},
      {4, "application/x-protobuf;proto=io.prometheus.write.v2.Request", 2},
      {4, "Application/X-Protobuf; Proto=\"io.prometheus.write.v2.Request\"; charset=utf-8", 2},
      {5, "application/json", 0},
      {5, "image/png", 0},
      {5, "application/vnd.google.protobuf", 0},
      {6, "application/x-protobuf;proto=prometheus.WriteRequestV9", 0},
      {6, "application/x-protobuf;proto=io.prometheus.write.v3.Request", 0},
  };
  for (const auto& test : cases) {
    CAPTURE(test.row, test.type.value_or("(absent)"));
    for (const int written : {1, 2}) {
      HandlerFixture fixture;
      HttpRequest request =
          WriteRequest(Pack(written == 1 ? EncodeV1({kGood}) : EncodeV2({kGood})));
      if (test.type) {
        SetHeader(request, "Content-Type", *test.type);
      } else {
        std::erase_if(request.headers,
                      [](const HttpHeader& header) { return header.name == "Content-Type"; });
      }
      const HttpResponse response = fixture.Send(request);
      REQUIRE(response.status == (test.speaks == 0 ? 415 : test.speaks == written ? 204 : 400));
      REQUIRE(fixture.sink.samples() == (test.speaks == written ? 1 : 0));
      REQUIRE(WrittenOf(response).has_value() == (test.speaks == 2));
      if (test.speaks == 0) {
        REQUIRE(fixture.handler.Admit(request).has_value());  // before the body is read
        REQUIRE(fixture.counters.received_bytes == 0);
        for (const char* message : {"prometheus.WriteRequest", "io.prometheus.write.v2.Request"}) {
          REQUIRE(response.body.find(message) != std::string::npos);
        }
      }
    }
  }
}

TEST_CASE("each row that concerns encoding and block has its answer", "[remote_write][table]") {
  const auto framed = [](const std::string& block) {
    return std::string("\xff\x06\x00\x00sNaPpY", 10) + block;
  };
  for (const bool v2 : {false, true}) {
    const std::string message = v2 ? EncodeV2({kGood}) : EncodeV1({kGood});
    const std::string block = Pack(message);
    const std::string flipped = "\xff" + block.substr(1);
    struct {
      int row;
      std::optional<std::string> encoding;
      std::string body;
      unsigned status;
    } const cases[] = {
        {2, "snappy", "", 400},
        {7, "gzip", block, 415},
        {7, "deflate", block, 415},
        {7, "zstd", block, 415},
        {8, std::nullopt, block, 204},
        {8, "SNAPPY", block, 204},
        {9, "snappy", flipped, 400},
        {9, "snappy", block.substr(0, block.size() / 2), 400},
        {9, "snappy", block.substr(0, block.size() - 1), 400},
        {9, "snappy", block + "x", 400},
        {9, "snappy", framed(block), 400},
        {9, "snappy", message, 400},
        {9, "snappy", "{\"json\": true}", 400},
        {10, "snappy", Varint((32 << 20) + 1) + block.substr(1), 400},
        {10, "snappy", Varint(UINT32_MAX) + block.substr(1), 400},
        {10, "snappy", Varint(1 << 20) + block.substr(1), 400},
        {11, "snappy", std::string((16 << 20) + 1, 'x'), 400},
    };
    for (const auto& test : cases) {
      CAPTURE(v2, test.row, test.encoding.value_or("(absent)"), test.body.size());
      HandlerFixture fixture;
      HttpRequest request = v2 ? WriteRequestV2(test.body) : WriteRequest(test.body);
      if (test.encoding) {
        SetHeader(request, "Content-Encoding", *test.encoding);
      } else {
        std::erase_if(request.headers,
                      [](const HttpHeader& header) { return header.name == "Content-Encoding"; });
      }
      const HttpResponse response = fixture.Send(request);
      REQUIRE(response.status == test.status);
      const uint64_t taken = test.status == 204 ? 1 : 0;
      REQUIRE(fixture.sink.samples() == taken);
      if (v2 && test.status != 415) {
        REQUIRE(WrittenOf(response) == Written{taken, 0, 0});
      } else {
        REQUIRE(WrittenOf(response) == std::nullopt);
      }
    }
  }
}

TEST_CASE("a clock at either end of time overflows nothing", "[remote_write][table]") {
  Limits limits;
  limits.max_future_ms = kMax;
  HandlerFixture fixture(limits);
  REQUIRE(fixture.SendMessage(EncodeV1({At(kMax)})).status == 204);
  REQUIRE(fixture.SendMessage(EncodeV1({At(kMin)})).status == 400);

  HandlerFixture early;
  early.clock.Set(FromUnixMs(kMin));
  REQUIRE(early.SendMessage(EncodeV1({At(kNowMs)})).status == 400);
  REQUIRE(early.Rejected(RejectReason::kTooFarInFuture) == 1);
}
