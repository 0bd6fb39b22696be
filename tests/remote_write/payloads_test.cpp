// Every body of the payload folder through a Handler: all of rw1 (as a stock Prometheus sent them)
// and all 1.0 bodies of bad. TIDEMARK_PAYLOADS names another folder of the same layout.

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/catch.h"
#include "tests/remote_write/counting_new.h"
#include "tests/remote_write/handler_fixture.h"

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

/// Says of each sample what an engine that has just started would say, by the time and value of its
/// series' newest sample.
class StatefulSink final : public SampleSink {
 public:
  std::unique_ptr<WriteBatch> Begin() override { return std::make_unique<Batch>(*this); }

 private:
  class Batch final : public WriteBatch {
   public:
    explicit Batch(StatefulSink& sink) : sink_(sink) {}

    void Add(const IncomingSeries& series) override {
      auto& newest = sink_.newest_[std::string(series.label_bytes)];
      for (const Sample& sample : series.samples) Judge(newest, sample);
    }
    Result<WriteVerdict> Commit() override { return verdict_; }

   private:
    void Judge(std::optional<Sample>& newest, const Sample& sample) {
      const auto bits = [](const Sample& of) { return std::bit_cast<uint64_t>(of.value); };
      if (!newest || sample.timestamp_ms > newest->timestamp_ms) {
        ++verdict_.accepted;
        newest = sample;
      } else if (sample.timestamp_ms < newest->timestamp_ms) {
        verdict_.Ignore(IgnoreReason::kLate);
      } else if (bits(sample) == bits(*newest) || IsStaleMarker(sample.value)) {
        verdict_.Ignore(IgnoreReason::kDuplicate);
      } else {
        verdict_.Reject(RejectReason::kDuplicateTimestamp);
      }
    }
    StatefulSink& sink_;
    WriteVerdict verdict_;
  };
  std::map<std::string, std::optional<Sample>> newest_;
};

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

TEST_CASE("every odd or faulty body of 1.0 has the right answer", "[remote_write][payloads]") {
  const std::string folder = Folder() + "/bad";
  const json::object index = ReadIndex(folder);
  const int64_t base_ms = index.at("base_ts_ms").to_number<int64_t>();
  size_t seen = 0;
  for (const json::value& value : index.at("cases").as_array()) {
    const json::object& entry = value.as_object();
    CAPTURE(Text(entry, "file"));
    const HttpRequest request = RequestOf(entry, folder);
    if (IsV2(request) || request.method != "POST") continue;
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
