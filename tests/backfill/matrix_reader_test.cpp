// Answers of query APIs, whole and in pieces, good and bad.

#include "backfill/matrix_reader.h"

#include <cmath>

#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

constexpr std::string_view kMatrix =
    R"({"status":"success","data":{"resultType":"matrix","result":[)"
    R"({"metric":{"__name__":"up","job":"a\"\u00e4"},"values":[[1700000000,"1"],[1700000060.5,"2.5e3"]]},)"
    R"({"metric":{},"values":[[1700000000.123,"NaN"],[1700000001,"+Inf"],[1700000002,"-Inf"]]}]},)"
    R"("warnings":["half of the stores are away"],"infos":["x"]})";

struct Outcome {
  bool good = false;
  ReadFault fault = ReadFault::kNone;
  std::string message;
  QueryAnswer answer;
};

Outcome ReadText(std::string_view text, size_t piece = std::string_view::npos,
                 const ReaderLimits& limits = {}) {
  MatrixReader reader(limits);
  for (size_t i = 0; i < text.size(); i += std::min(piece, text.size())) {
    if (!reader.Feed(text.substr(i, piece))) break;
  }
  Outcome outcome;
  outcome.good = reader.Finish();
  outcome.fault = reader.fault();
  outcome.message = reader.message();
  outcome.answer = std::move(reader.answer());
  return outcome;
}

std::string WithResult(const std::string& result) {
  return R"({"status":"success","data":{"resultType":"matrix","result":)" + result + "}}";
}

void CheckMatrix(const Outcome& outcome) {
  REQUIRE(outcome.good);
  const QueryAnswer& answer = outcome.answer;
  REQUIRE(answer.series.size() == 2);
  CHECK(answer.samples == 5);
  const AnswerSeries& up = answer.series[0];
  REQUIRE(up.labels.size() == 2);
  CHECK(up.labels[0] == std::pair<std::string, std::string>("__name__", "up"));
  CHECK(up.labels[1] == std::pair<std::string, std::string>("job", "a\"\xC3\xA4"));
  REQUIRE(up.samples.size() == 2);
  CHECK(up.samples[0].timestamp_ms == 1700000000000);
  CHECK(up.samples[1].timestamp_ms == 1700000060500);
  CHECK(up.samples[1].value == 2500);
  const AnswerSeries& bare = answer.series[1];
  CHECK(bare.labels.empty());
  REQUIRE(bare.samples.size() == 3);
  CHECK(bare.samples[0].timestamp_ms == 1700000000123);
  CHECK(std::isnan(bare.samples[0].value));
  CHECK(bare.samples[1].value == std::numeric_limits<double>::infinity());
  CHECK(bare.samples[2].value == -std::numeric_limits<double>::infinity());
  CHECK(answer.warnings == std::vector<std::string>{"half of the stores are away"});
  CHECK_FALSE(answer.partial);
  CHECK_FALSE(answer.is_error);
}

}  // namespace

TEST_CASE("a matrix is read the same in pieces of every size", "[backfill][reader]") {
  CheckMatrix(ReadText(kMatrix));
  for (size_t piece = 1; piece < kMatrix.size(); ++piece) {
    CAPTURE(piece);
    CheckMatrix(ReadText(kMatrix, piece));
  }
}

TEST_CASE("members may come in any order, and others are passed over", "[backfill][reader]") {
  const Outcome outcome = ReadText(
      R"({"isPartial":true,"stats":{"seriesFetched":"1","data":{"result":[{"values":7}]}},"data":{)"
      R"("result":[{"values":[[1,"2"]],"extra":[{"values":[1]}],"metric":{"b":"2","a":"1"}}],)"
      R"("resultType":"matrix","x":null},"trace":null,"n":-1.5,"status":"success"})");
  REQUIRE(outcome.good);
  REQUIRE(outcome.answer.series.size() == 1);
  CHECK(outcome.answer.series[0].labels[0].first == "a");
  CHECK(outcome.answer.series[0].samples[0].value == 2);
  CHECK(outcome.answer.partial);
}

TEST_CASE("a vector is read, and a series without samples is none", "[backfill][reader]") {
  const Outcome outcome = ReadText(
      R"({"status":"success","data":{"resultType":"vector","result":[)"
      R"({"metric":{"a":"1"},"value":[1700000000,"3"]},{"metric":{"a":"2"},"values":[]}]}})");
  REQUIRE(outcome.good);
  REQUIRE(outcome.answer.series.size() == 1);
  CHECK(outcome.answer.series[0].samples[0].value == 3);
}

TEST_CASE("native histograms are left out and counted", "[backfill][reader]") {
  const Outcome outcome = ReadText(WithResult(
      R"([{"metric":{"a":"1"},"histograms":[[1,{"count":"1","buckets":[[0,"1","2","3"]]}]]}])"));
  REQUIRE(outcome.good);
  CHECK(outcome.answer.series.empty());
  CHECK(outcome.answer.native_histograms == 1);
}

TEST_CASE("an error is read with its type", "[backfill][reader]") {
  const Outcome outcome =
      ReadText(R"({"status":"error","errorType":"execution","error":"too much","data":null})");
  REQUIRE(outcome.good);
  CHECK(outcome.answer.is_error);
  CHECK(outcome.answer.error_type == "execution");
  CHECK(outcome.answer.error == "too much");
}

TEST_CASE("what is no JSON is told from what is no answer", "[backfill][reader]") {
  for (const std::string& text :
       {std::string(), std::string("<html>"), std::string(kMatrix.substr(0, 200)),
        std::string(kMatrix) + "x", std::string("{\"status\":\"suc"), std::string("\xff\xfe"),
        "[" + std::string(100'000, '['), std::string("{\"a\":\"\xC3\x28\"}")}) {
    CAPTURE(text.substr(0, 40));
    const Outcome outcome = ReadText(text);
    CHECK_FALSE(outcome.good);
    CHECK((outcome.fault == ReadFault::kNotJson || outcome.fault == ReadFault::kShape));
    CHECK_FALSE(outcome.message.empty());
  }
  CHECK(ReadText(std::string(kMatrix.substr(0, 200))).fault == ReadFault::kNotJson);
  for (const std::string& text :
       {std::string("{}"),
        std::string("[]"),
        std::string("1"),
        std::string("null"),
        std::string(R"({"status":"success"})"),
        std::string(R"({"status":"success","data":[]})"),
        WithResult("{}"),
        WithResult("null"),
        WithResult("[1,\"2\"]"),
        WithResult("[[]]"),
        WithResult(R"([{"metric":[]}])"),
        WithResult(R"([{"metric":{"a":1}}])"),
        WithResult(R"([{"metric":{"a":{"b":"c"}}}])"),
        WithResult(R"([{"metric":{},"values":[1]}])"),
        WithResult(R"([{"values":[["1","2"]]}])"),
        WithResult(R"([{"values":[[1,2]]}])"),
        WithResult(R"([{"values":[[1]]}])"),
        WithResult(R"([{"values":[[1,"2","3"]]}])"),
        WithResult(R"([{"values":[[1,"x"]]}])"),
        WithResult(R"([{"values":[[1,""]]}])"),
        WithResult(R"([{"values":[[1,"0x10"]]}])"),
        WithResult(R"([{"values":[[1,"1e999"]]}])"),
        WithResult(R"([{"values":[[1,"+-1"]]}])"),
        WithResult(R"([{"values":[[1,"nan"]]}])"),
        WithResult(R"([{"values":[[-1,"1"]]}])"),
        WithResult(R"([{"values":[[1e300,"1"]]}])"),
        WithResult(R"([{"values":[[null,"1"]]}])"),
        WithResult(R"([{"values":[[1,[]]]}])"),
        WithResult(R"([{"metric":{"a":"1","a":"2"},"values":[[1,"1"]]}])"),
        WithResult(R"([{"metric":{"a":"1"},"metric":{"b":"1"},"values":[[1,"1"]]}])")}) {
    CAPTURE(text);
    const Outcome outcome = ReadText(text);
    CHECK_FALSE(outcome.good);
    CHECK(outcome.fault == ReadFault::kShape);
  }
}

TEST_CASE("what is kept is bounded", "[backfill][reader]") {
  const std::string three = WithResult(
      R"([{"metric":{"a":"1"},"values":[[1,"1"],[2,"2"]]},{"metric":{"a":"2"},"values":[[1,"1"]]}])");
  CHECK(ReadText(three, 7, {.max_samples = 3, .max_series = 2}).good);
  CHECK(ReadText(three, 7, {.max_samples = 2}).fault == ReadFault::kTooLarge);
  CHECK(ReadText(three, 7, {.max_samples = 3, .max_series = 1}).fault == ReadFault::kTooLarge);
  const std::string text = WithResult(R"([{"metric":{"a":")" + std::string(5000, 'x') + "\"}}]");
  CHECK(ReadText(text, 100, {.max_samples = 1, .max_series = 1, .max_text_bytes = 4999}).fault ==
        ReadFault::kTooLarge);
  // But not what nobody asked for.
  CHECK(ReadText(R"({"x":[")" + std::string(5000, 'x') +
                     R"("],"status":"success","data":{"result":[]}})",
                 100, {.max_samples = 1, .max_series = 1, .max_text_bytes = 100})
            .good);
}

}  // namespace tidemark::backfill
