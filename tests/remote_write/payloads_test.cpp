// Every body of the payload folder through a Handler: all of rw1 (as a stock Prometheus sent them),
// rw2 (the same data over 2.0) and bad. TIDEMARK_PAYLOADS names another folder of the same layout.

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "remote_write/decoder_v2.h"
#include "remote_write/snappy_block.h"
#include "tests/catch.h"
#include "tests/remote_write/counting_new.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/remote_write/stateful_sink.h"
#include "tests/remote_write/wire_builder_v2.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;
namespace json = boost::json;

namespace {

std::string Folder() {
  const char* const text = std::getenv("TIDEMARK_PAYLOADS");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? text : TIDEMARK_TEST_DATA "/payloads";
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO("cannot read " << path);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

json::object ReadIndex(const std::string& folder) {
  return json::parse(ReadFile(folder + "/index.json")).as_object();
}

std::string Text(const json::object& object, const char* key) {
  return std::string(object.at(key).as_string());
}

uint64_t Number(const json::object& object, const char* key) {
  return object.at(key).to_number<uint64_t>();
}

HttpRequest RequestOf(const json::object& entry, const std::string& folder) {
  HttpRequest request;
  request.method = entry.contains("method") ? Text(entry, "method") : "POST";
  request.path = "/api/v1/write";
  for (const json::value& header : entry.at("headers").as_array()) {
    request.headers.push_back(
        {std::string(header.at(0).as_string()), std::string(header.at(1).as_string())});
  }
  request.body = ReadFile(folder + "/" + Text(entry, "file"));
  request.content_length = request.body.size();
  request.peer = "192.0.2.1:4711";
  return request;
}

bool IsV2(const HttpRequest& request) {
  return request.Header("Content-Type").find("write.v2.Request") != std::string_view::npos;
}

Written ExpectedWritten(const json::object& expect) {
  const json::object& written = expect.at("written").as_object();
  return {Number(written, "samples"), Number(written, "histograms"), Number(written, "exemplars")};
}

}  // namespace

TEST_CASE("every real body is taken in whole", "[remote_write][payloads]") {
  const std::string folder = Folder() + "/rw1";
  const json::object index = ReadIndex(folder);
  HandlerFixture fixture;
  uint64_t stale_markers = 0;
  for (const json::value& value : index.at("bodies").as_array()) {
    const json::object& body = value.as_object();
    CAPTURE(Text(body, "file"));
    fixture.clock.Set(FromUnixMs(body.at("arrived_ms").to_number<int64_t>()));
    const uint64_t series = fixture.counters.series_entries;
    const uint64_t exemplars = fixture.counters.exemplars;
    const uint64_t metadata = fixture.counters.metadata;
    fixture.sink.series.clear();
    const HttpResponse response = fixture.Send(RequestOf(body, folder));
    CAPTURE(response.body);
    REQUIRE(response.status == 204);
    REQUIRE(fixture.sink.samples() == Number(body, "samples"));
    REQUIRE(fixture.counters.series_entries - series == Number(body, "series"));
    REQUIRE(fixture.counters.exemplars - exemplars == Number(body, "exemplars"));
    REQUIRE(fixture.counters.metadata - metadata == Number(body, "metadata"));
    stale_markers += Number(body, "stale_markers");

    std::map<std::string, uint64_t> metrics;
    for (const RecordedSeries& recorded : fixture.sink.series) {
      for (const auto& [name, text] : recorded.labels) {
        if (name == "__name__") ++metrics[text];
      }
    }
    // The index counts entries, those with exemplars only included.
    for (const auto& [name, count] : body.at("metrics").as_object()) {
      CAPTURE(std::string(name));
      REQUIRE(metrics[std::string(name)] <= count.to_number<uint64_t>());
      metrics.erase(std::string(name));
    }
    REQUIRE(metrics.empty());
  }
  const json::object& totals = index.at("totals").as_object();
  REQUIRE(fixture.counters.samples_accepted == Number(totals, "samples"));
  REQUIRE(fixture.counters.series_entries == Number(totals, "series_entries"));
  REQUIRE(fixture.counters.received_bytes == Number(totals, "bytes"));
  REQUIRE(fixture.counters.stale_markers == stale_markers);
  REQUIRE(fixture.counters.samples_accepted > 0);
}

TEST_CASE("every body of 2.0 is taken in whole and its answer says so",
          "[remote_write][payloads][v2]") {
  const std::string folder = Folder() + "/rw2";
  const json::object index = ReadIndex(folder);
  HandlerFixture fixture;
  // They carry no time of arrival; one that suits all is in the index of the bodies they came from.
  int64_t newest_ms = 0;
  const json::object index_of_v1 = ReadIndex(Folder() + "/rw1");
  for (const json::value& body : index_of_v1.at("bodies").as_array()) {
    newest_ms = std::max(newest_ms, body.at("arrived_ms").to_number<int64_t>());
  }
  fixture.clock.Set(FromUnixMs(newest_ms));
  uint64_t with_start = 0;
  for (const json::value& value : index.at("bodies").as_array()) {
    const json::object& body = value.as_object();
    CAPTURE(Text(body, "file"));
    const uint64_t series = fixture.counters.series_entries;
    const uint64_t metadata = fixture.counters.metadata;
    const uint64_t stale_markers = fixture.counters.stale_markers;
    fixture.sink.series.clear();
    const HttpResponse response = fixture.Send(RequestOf(body, folder));
    CAPTURE(response.body);
    REQUIRE(response.status == 204);
    REQUIRE(fixture.sink.samples() == Number(body, "samples"));
    REQUIRE(fixture.counters.series_entries - series == Number(body, "series"));
    REQUIRE(fixture.counters.metadata - metadata == Number(body, "with_metadata"));
    REQUIRE(fixture.counters.stale_markers - stale_markers == Number(body, "stale_markers"));
    REQUIRE(WrittenOf(response) == ExpectedWritten(body.at("expect").as_object()));
    REQUIRE(WrittenOf(response) == Written{Number(body, "samples"), Number(body, "histograms"),
                                           Number(body, "exemplars")});
    for (const RecordedSeries& recorded : fixture.sink.series) {
      for (const Sample& sample : recorded.samples) {
        if (sample.start_timestamp_ms != 0) ++with_start;
        REQUIRE(sample.start_timestamp_ms <= sample.timestamp_ms);
      }
    }
  }
  REQUIRE(with_start > 10'000);
  const json::object& totals = index.at("totals").as_object();
  REQUIRE(fixture.counters.samples_accepted == Number(totals, "samples"));
  REQUIRE(fixture.counters.histograms == Number(totals, "histograms"));
  REQUIRE(fixture.counters.exemplars == Number(totals, "exemplars"));
  REQUIRE(fixture.counters.received_bytes == Number(totals, "bytes"));
  REQUIRE(fixture.counters.unpacked_bytes == Number(totals, "raw_bytes"));
  REQUIRE(fixture.counters.samples_accepted > 0);
}

TEST_CASE("the bodies of 2.0 hold the series of those of 1.0, label bytes and values alike",
          "[remote_write][payloads][v2]") {
  const auto series_of = [](const std::string& folder, const std::string& file, bool v2) {
    HandlerFixture fixture;
    fixture.clock.Set(FromUnixMs(1'796'100'000'000));
    const std::string block = ReadFile(folder + "/" + file);
    REQUIRE(fixture.Send(v2 ? WriteRequestV2(block) : WriteRequest(block)).status == 204);
    std::vector<std::pair<LabelList, std::pair<int64_t, uint64_t>>> all;
    for (const RecordedSeries& series : fixture.sink.series) {
      for (const Sample& sample : series.samples) {
        const auto bits = std::bit_cast<uint64_t>(sample.value);
        all.push_back({series.labels, {sample.timestamp_ms, bits}});
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  size_t compared = 0;
  const json::object index = ReadIndex(Folder() + "/rw2");
  for (const json::value& value : index.at("bodies").as_array()) {
    const std::string file = Text(value.as_object(), "file");
    if (!std::ifstream(Folder() + "/rw1/" + file)) continue;
    CAPTURE(file);
    REQUIRE(series_of(Folder() + "/rw2", file, true) == series_of(Folder() + "/rw1", file, false));
    ++compared;
  }
  REQUIRE(compared > 0);
}

TEST_CASE("every odd or faulty body has the right answer", "[remote_write][payloads]") {
  const std::string folder = Folder() + "/bad";
  const json::object index = ReadIndex(folder);
  const int64_t base_ms = index.at("base_ts_ms").to_number<int64_t>();
  size_t seen = 0;
  for (const json::value& value : index.at("cases").as_array()) {
    const json::object& entry = value.as_object();
    CAPTURE(Text(entry, "file"));
    const HttpRequest request = RequestOf(entry, folder);
    if (request.method != "POST") continue;
    ++seen;

    StatefulSink sink;
    const ManualClock clock(FromUnixMs(base_ms));
    RemoteWriteCounters counters;
    Handler handler(sink, clock, Limits{}, counters);
    const auto send = [&] {
      auto answer = handler.Admit(request);
      return answer ? *answer : handler.Handle(request);
    };
    const HttpResponse response = send();
    CAPTURE(response.status, response.body);

    const json::object& expect = entry.at("expect").as_object();
    const json::array& allowed = expect.at("status").as_array();
    REQUIRE(std::any_of(allowed.begin(), allowed.end(), [&](const json::value& status) {
      return status.to_number<unsigned>() == response.status;
    }));
    if (expect.contains("best_status")) {
      REQUIRE(response.status == Number(expect, "best_status"));
    }
    if (expect.contains("samples_taken")) {
      REQUIRE(counters.samples_accepted == Number(expect, "samples_taken"));
    }
    if (!IsV2(request) || response.status == 415) {
      REQUIRE(WrittenOf(response) == std::nullopt);
    } else if (expect.contains("written")) {
      REQUIRE(WrittenOf(response) == ExpectedWritten(expect));
    } else {
      REQUIRE(WrittenOf(response)->samples == counters.samples_accepted);
    }
    // Sent again it is judged again, and nothing new comes of it.
    const uint64_t accepted = counters.samples_accepted;
    REQUIRE(send().status == response.status);
    REQUIRE(counters.samples_accepted == accepted);
  }
  REQUIRE(seen > 0);
}

TEST_CASE("memory follows the bytes of a request, never the number of its messages",
          "[remote_write][payloads]") {
  constexpr size_t kSlack = 256 << 10;
  const std::string folder = Folder() + "/bad";
  const json::object index = ReadIndex(folder);
  for (const json::value& value : index.at("cases").as_array()) {
    const json::object& entry = value.as_object();
    CAPTURE(Text(entry, "file"));
    const HttpRequest request = RequestOf(entry, folder);
    StatefulSink sink;
    const ManualClock clock(FromUnixMs(index.at("base_ts_ms").to_number<int64_t>()));
    RemoteWriteCounters counters;
    Handler handler(sink, clock, Limits{}, counters);
    ResetPeak();
    const size_t before = HeldBytes();
    const HttpResponse response = handler.Handle(request);
    const size_t grown = PeakBytes() - before;
    CAPTURE(grown, counters.unpacked_bytes.load());
    // Twice: the buffer is a power of two. What is refused on its claim leaves unpacked_bytes at 0.
    // The symbols of these bodies are few or long: their table needs no more.
    if (response.status == 400 && counters.unpacked_bytes == 0) {
      REQUIRE(grown <= 22 * request.body.size() + kSlack);
    } else {
      REQUIRE(grown <= 2 * counters.unpacked_bytes + kSlack);
    }
  }
}

TEST_CASE("a million empty messages of any kind cost no more than their bytes",
          "[remote_write][memory]") {
  constexpr size_t kSlack = 256 << 10;
  const auto repeat = [](const std::string& text, size_t times) {
    std::string out;
    out.reserve(text.size() * times);
    for (size_t i = 0; i < times; ++i) out += text;
    return out;
  };
  constexpr size_t kMillion = 1'000'000;
  const std::string name = Label("__name__", "up");
  for (const std::string& message :
       {repeat(Series(""), kMillion), repeat(BytesField(3, ""), kMillion),
        Series(repeat(BytesField(1, ""), kMillion)),
        Series(name + repeat(BytesField(2, ""), kMillion)),
        Series(name + repeat(BytesField(3, ""), kMillion)),
        Series(name + repeat(BytesField(4, ""), kMillion)),
        Series(name + BytesField(4, repeat(BytesField(8, ""), kMillion))),
        repeat(Series(name), kMillion / 10), repeat(BytesField(9, ""), kMillion)}) {
    StatefulSink sink;
    const ManualClock clock(FromUnixMs(kNowMs));
    RemoteWriteCounters counters;
    Handler handler(sink, clock, Limits{}, counters);
    const HttpRequest request = WriteRequest(Pack(message));
    ResetPeak();
    const size_t before = HeldBytes();
    const HttpResponse response = handler.Handle(request);
    REQUIRE((response.status == 204 || response.status == 400));
    REQUIRE(counters.unpacked_bytes == message.size());
    REQUIRE(PeakBytes() - before <= 2 * message.size() + kSlack);
  }
}

TEST_CASE("a million empty messages of any kind of 2.0 cost no more than their bytes",
          "[remote_write][memory][v2]") {
  // The buffer, at most twice the message; labels written out, in chunks.
  constexpr size_t kSlack = (256 << 10) + DecoderV2::kKeptLabelBytes;
  const auto repeat = [](const std::string& text, size_t times) {
    std::string out;
    out.reserve(text.size() * times);
    for (size_t i = 0; i < times; ++i) out += text;
    return out;
  };
  constexpr size_t kMillion = 1'000'000;
  const std::string symbols = BytesField(4, "__name__") + BytesField(4, "up");
  const std::string name = BytesField(1, std::string("\0\1", 2));
  struct {
    std::string message;
    size_t table_bytes;  ///< 4 a symbol
  } const cases[] = {
      {repeat(SeriesV2(""), kMillion), 0},
      {repeat(BytesField(4, ""), kMillion), 4 * kMillion},
      {repeat(BytesField(4, "a"), kMillion), 4 * kMillion},
      {SeriesV2(repeat(BytesField(1, ""), kMillion)), 0},
      {SeriesV2(BytesField(1, std::string(2 * kMillion, '\0'))), 0},
      {symbols + SeriesV2(name + repeat(BytesField(2, ""), kMillion)), 0},
      {symbols + SeriesV2(name + repeat(BytesField(3, ""), kMillion)), 0},
      {symbols + SeriesV2(name + repeat(BytesField(4, ""), kMillion)), 0},
      {symbols + SeriesV2(name + repeat(BytesField(5, ""), kMillion)), 0},
      {repeat(BytesField(9, ""), kMillion), 0},
  };
  for (const auto& test : cases) {
    StatefulSink sink;
    const ManualClock clock(FromUnixMs(kNowMs));
    RemoteWriteCounters counters;
    Handler handler(sink, clock, Limits{}, counters);
    const HttpRequest request = WriteRequestV2(Pack(test.message));
    ResetPeak();
    const size_t before = HeldBytes();
    const HttpResponse response = handler.Handle(request);
    REQUIRE((response.status == 204 || response.status == 400));
    REQUIRE(counters.unpacked_bytes == test.message.size());
    REQUIRE(PeakBytes() - before <= 2 * test.message.size() + test.table_bytes + kSlack);
    // And all but what is kept for the next request is given back.
    REQUIRE(HeldBytes() - before <= UnpackBuffer::kKeptBytes + kSlack);
  }
}

TEST_CASE("labels that a request of 2.0 names again and again fill no memory",
          "[remote_write][memory][v2]") {
  // 120 labels of 4 KB in 250 bytes, ten thousand times: 4.9 GB when written out.
  std::string message = BytesField(4, std::string(4096, 'v')) + BytesField(4, "__name__");
  std::string references = std::string("\1\0", 2);
  for (char name = 2; name < 122; ++name) {
    message += BytesField(4, "n" + std::to_string(100 + name));
    references += std::string({name, '\0'});
  }
  const std::string series = SeriesV2(BytesField(1, references) + SampleField(1, kNowMs));
  for (int i = 0; i < 10'000; ++i) message += series;
  StatefulSink sink;
  const ManualClock clock(FromUnixMs(kNowMs));
  RemoteWriteCounters counters;
  Handler handler(sink, clock, Limits{}, counters);
  const HttpRequest request = WriteRequestV2(Pack(message));
  ResetPeak();
  const size_t before = HeldBytes();
  REQUIRE(handler.Handle(request).status == 400);
  REQUIRE(PeakBytes() - before <= 2 * message.size() + Limits{}.max_unpacked_bytes + (8 << 20));
  REQUIRE(HeldBytes() - before <= UnpackBuffer::kKeptBytes + (2 << 20));
}

TEST_CASE("what a large request needed is given back", "[remote_write][memory]") {
  StatefulSink sink;
  const ManualClock clock(FromUnixMs(kNowMs));
  RemoteWriteCounters counters;
  Handler handler(sink, clock, Limits{}, counters);
  // Labels out of order, so that all of them are encoded anew.
  std::string message;
  for (int i = 0; message.size() < 20 << 20; ++i) {
    message += Series(Labels({{"zone", std::string(3000, 'z')}, {"__name__", "up"}}));
  }
  const HttpRequest request = WriteRequest(Pack(message));
  const size_t before = HeldBytes();
  REQUIRE(handler.Handle(request).status == 204);
  REQUIRE(HeldBytes() - before < 1 << 20);
}
