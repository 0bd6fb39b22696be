// What the Prometheus project asks of a receiver of remote write 2.0 (prometheus/compliance,
// remotewrite/receiver), written anew. That suite takes 400 for an answer almost everywhere; here
// the answer must be the one it says a receiver should give. As there, references of labels stand
// in random order, and every case is sent twice, the second time later.

#include <algorithm>
#include <limits>
#include <random>

#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/remote_write/stateful_sink.h"
#include "tests/remote_write/wire_builder_v2.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kMinuteMs = 60'000;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A receiver that remembers its series, and a clock that goes on with each request.
class Receiver {
 public:
  explicit Receiver(uint32_t seed) : random_(seed) {}

  int64_t now_ms() const { return ToUnixMs(clock_.Now()); }

  HttpResponse Send(HttpRequest request) {
    ++requests_;
    clock_.Set(FromUnixMs(now_ms() + 10));
    if (auto answer = handler_.Admit(request)) return *answer;
    return handler_.Handle(request);
  }
  HttpResponse Send(std::vector<Item> items, int64_t created_ms = 0) {
    for (Item& item : items) {
      std::shuffle(item.labels.begin(), item.labels.end(), random_);
      for (Item::OneExemplar& exemplar : item.exemplars) {
        std::shuffle(exemplar.labels.begin(), exemplar.labels.end(), random_);
      }
    }
    std::string message = EncodeV2(items);
    if (created_ms != 0) {
      // The entry's time stamp of the drafts: its fields again with one more.
      message = WithCreated(items, created_ms);
    }
    return Send(WriteRequestV2(Pack(message)));
  }
  /// The answer must be 204 with exactly these counts, both times.
  template <class MakeItems>
  void Takes(MakeItems make, Written written, int64_t created_before_ms = 0) {
    for (int run = 0; run < 2; ++run) {
      CAPTURE(run);
      const int64_t created = created_before_ms == 0 ? 0 : now_ms() - created_before_ms;
      const HttpResponse response = Send(make(now_ms()), created);
      CAPTURE(response.body);
      REQUIRE(response.status == 204);
      REQUIRE(WrittenOf(response) == written);
    }
  }
  /// The answer must be 400 with exactly these counts, both times.
  template <class MakeItems>
  void Refuses(MakeItems make, Written written = {}) {
    for (int run = 0; run < 2; ++run) {
      CAPTURE(run);
      const HttpResponse response = Send(make(now_ms()));
      CAPTURE(response.body);
      REQUIRE(response.status == 400);
      REQUIRE(WrittenOf(response) == written);
    }
  }
  size_t requests() const { return requests_; }

 private:
  static std::string WithCreated(const std::vector<Item>& items, int64_t created_ms) {
    Symbols symbols;
    std::string out;
    for (const Item& item : items) {
      std::string series = symbols.Refs(item.labels);
      for (const Sample& sample : item.samples) series += SampleFieldV2(sample);
      out += SeriesV2(series + VarintField(6, static_cast<uint64_t>(created_ms)));
    }
    return symbols.Fields() + out;
  }

  std::mt19937 random_;
  StatefulSink sink_;
  ManualClock clock_{FromUnixMs(kNowMs)};
  RemoteWriteCounters counters_;
  Handler handler_{sink_, clock_, Limits{}, counters_};
  size_t requests_ = 0;
};

uint32_t Seed() {
  const uint32_t seed = tidemark::testing::Seed();
  UNSCOPED_INFO("seed " << seed);
  return seed;
}

LabelList Named(const std::string& name, LabelList labels = {}) {
  labels.emplace_back("__name__", name);
  return labels;
}

std::string Spans(uint32_t number, int64_t offset, uint64_t length) {
  const uint64_t zigzag = static_cast<uint64_t>(offset) << 1 ^ static_cast<uint64_t>(offset >> 63);
  return BytesField(number, VarintField(1, zigzag) + VarintField(2, length));
}
std::string Deltas(uint32_t number, const std::vector<int64_t>& deltas) {
  std::string packed;
  for (const int64_t delta : deltas) {
    packed += Varint(static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63));
  }
  return BytesField(number, packed);
}
std::string Doubles(uint32_t number, const std::vector<double>& values) {
  std::string packed;
  for (const double value : values) packed += DoubleField(1, value).substr(1);
  return BytesField(number, packed);
}
std::string At(int64_t timestamp_ms) {
  return VarintField(15, static_cast<uint64_t>(timestamp_ms));
}
std::string Schema(int32_t schema) {
  return VarintField(4, static_cast<uint32_t>(schema) << 1 ^ static_cast<uint32_t>(schema >> 31));
}

std::string PositiveHistogram(int64_t at) {  // 1, 3, 2
  return VarintField(1, 6) + DoubleField(3, 12.5) + Schema(0) + DoubleField(5, 1e-128) +
         Spans(11, 0, 3) + Deltas(12, {1, 2, -1}) + At(at);
}
std::string NegativeHistogram(int64_t at) {
  return VarintField(1, 3) + DoubleField(3, -4) + Schema(2) + Spans(8, 1, 2) + Deltas(9, {1, 1}) +
         At(at);
}
std::string ZeroHistogram(int64_t at) {
  return VarintField(1, 5) + DoubleField(5, 0.001) + VarintField(6, 5) + At(at);
}
std::string EmptyHistogram(int64_t at) { return At(at); }
std::string FloatHistogram(int64_t at) {
  return DoubleField(2, 4.5) + DoubleField(3, 9) + Schema(3) + DoubleField(7, 0.5) +
         Spans(11, -2, 2) + Doubles(13, {1.5, 2.5}) + At(at);
}
std::string CustomHistogram(int64_t at) {  // six bounds, the last bucket without one
  return VarintField(1, 7) + DoubleField(3, 3) + Schema(-53) + Spans(11, 0, 7) +
         Deltas(12, {1, 0, 0, 0, 0, 0, 0}) + Doubles(16, {0.005, 0.01, 0.1, 1, 5, 10}) + At(at);
}
std::string WrongHistogram(int64_t at) {
  return VarintField(1, 99) + DoubleField(3, 12.5) + Spans(11, 0, 3) + Deltas(12, {1, 2, -1}) +
         At(at);
}

const std::vector<double> kValues = {1.0, StaleMarker(), kNaN, kInf, -kInf};

}  // namespace

TEST_CASE("headers are judged before the body, and a body that cannot be read is 400",
          "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const std::string good = Pack(EncodeV2({{Named("up"), {{kNowMs, 1}}}}));
  std::string corrupt = good;
  corrupt[0] = static_cast<char>(~corrupt[0]);
  for (int run = 0; run < 2; ++run) {
    for (const auto& [header, value] : LabelList{{"Content-Type", "application/json"},
                                                 {"Content-Type", "image/png"},
                                                 {"Content-Encoding", "gzip"},
                                                 {"Content-Encoding", "deflate"}}) {
      CAPTURE(header, value);
      HttpRequest request = WriteRequestV2(corrupt);
      SetHeader(request, header, value);
      const HttpResponse response = receiver.Send(request);
      REQUIRE(response.status == 415);
      REQUIRE(WrittenOf(response) == std::nullopt);
    }
    const HttpResponse response = receiver.Send(WriteRequestV2(corrupt));
    REQUIRE(response.status == 400);
    REQUIRE(WrittenOf(response) == Written{});
  }
}

TEST_CASE("every value under every shape of labels is written", "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const std::vector<LabelList> shapes = {
      {},
      {{"job", "test"}},
      {{"job", "test"}, {"instance", "a:80"}, {"zone", "z"}, {"_x", "1"}},
      {{"text", "two\nlines\n"}},
      {{"dotted.name", "v"}, {"name with spaces", "v"}, {"\xe6\x97\xa5", "\xe6\x9c\xac"}},
  };
  for (const double value : kValues) {
    for (size_t shape = 0; shape < shapes.size(); ++shape) {
      CAPTURE(value, shape);
      const std::string name = shape == 4 ? "a metric.with dots" : "test_metric";
      const auto series = [&](int64_t now) {
        return std::vector<Item>{{Named(name, shapes[shape]), {{now, value}}}};
      };
      receiver.Takes(series, {1, 0, 0});
    }
    const auto nameless = [&](int64_t now) {
      return std::vector<Item>{{{{"job", "test"}}, {{now, value}}}};
    };
    receiver.Refuses(nameless);
    receiver.Refuses([&](int64_t now) { return std::vector<Item>{{{}, {{now, value}}}}; });
  }
  REQUIRE(receiver.requests() == 2 * 5 * 7);
}

TEST_CASE("of several series the good ones are written", "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const auto four = [](int64_t now, size_t nameless) {
    std::vector<Item> items;
    for (size_t i = 0; i < 4; ++i) {
      LabelList labels = {{"number", std::to_string(i)}};
      if (i >= nameless) labels = Named("test_metric", labels);
      items.push_back({labels, {{now, static_cast<double>(i)}}});
    }
    return items;
  };
  receiver.Takes([&](int64_t now) { return four(now, 0); }, {4, 0, 0});
  receiver.Refuses([&](int64_t now) { return four(now, 1); }, {3, 0, 0});
  receiver.Refuses([&](int64_t now) { return four(now, 4); }, {0, 0, 0});
}

TEST_CASE("old samples and start times are written", "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const auto counter = [](int64_t now) {
    return std::vector<Item>{{Named("requests_total"), {{now, 100}}}};
  };
  receiver.Takes(counter, {1, 0, 0}, kHourMs);
  const auto with_start = [](int64_t now) {
    return std::vector<Item>{{Named("started_total"), {{now, 100, now - kHourMs}}}};
  };
  receiver.Takes(with_start, {1, 0, 0});
  // Out of order the second time, when an hour ago is before what is known.
  const auto three = [](int64_t now) {
    return std::vector<Item>{
        {Named("three"), {{now - kHourMs, 1}, {now - kMinuteMs, 2}, {now, 3}}}};
  };
  receiver.Takes(three, {3, 0, 0});
  const auto old_and_new = [](int64_t now) {
    return std::vector<Item>{{Named("old"), {{now - kHourMs, 1}}}, {Named("new"), {{now, 1}}}};
  };
  receiver.Takes(old_and_new, {2, 0, 0});
}

TEST_CASE("native histograms are written, but for those that contradict themselves",
          "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const auto one = [](std::string (*make)(int64_t)) {
    return [make](int64_t now) {
      return std::vector<Item>{{Named("latency", {{"job", "a"}}), {}, {make(now)}}};
    };
  };
  for (const auto make : {PositiveHistogram, NegativeHistogram, ZeroHistogram, EmptyHistogram,
                          FloatHistogram, CustomHistogram}) {
    receiver.Takes(one(make), {0, 1, 0});
  }
  const auto several = [](int64_t now) {
    return std::vector<Item>{
        {Named("a"), {}, {PositiveHistogram(now), CustomHistogram(now + 1)}},
        {Named("b"), {}, {ZeroHistogram(now)}},
        {Named("c"), {{now, 1}}, {EmptyHistogram(now)}},
    };
  };
  receiver.Takes(several, {1, 4, 0});
  receiver.Refuses(one(WrongHistogram));
  const auto nameless = [](int64_t now) {
    return std::vector<Item>{{{{"job", "a"}}, {}, {PositiveHistogram(now)}}};
  };
  receiver.Refuses(nameless);
}

TEST_CASE("exemplars are written with their series and refused with it",
          "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const std::vector<LabelList> labels = {
      {{"trace_id", "4bf92f3577b34da6a3ce929d0e0e4736"}, {"span_id", "00f067aa0ba902b7"}},
      {{"user", "x"}},
      {},
      {{"\xe7\x94\xa8\xe6\x88\xb7", "\xf0\x9f\x8c\x8a"}},
  };
  for (const LabelList& of_exemplar : labels) {
    for (const double value : {1.0, kNaN, kInf, -kInf}) {
      const auto with = [&](const LabelList& of_series, std::vector<Sample> samples) {
        return [&of_exemplar, value, of_series, samples](int64_t now) {
          std::vector<Item> items = {{of_series, samples, {}, {{of_exemplar, value, now}}}};
          for (Sample& sample : items[0].samples) sample.timestamp_ms = now;
          return items;
        };
      };
      receiver.Takes(with(Named("latency_count"), {{0, 1}}), {1, 0, 1});
      receiver.Takes(with(Named("latency_count"), {}), {0, 0, 1});
      receiver.Refuses(with({{"job", "a"}}, {{0, 1}}));
      receiver.Refuses(with({{"__name__", ""}, {"job", "a"}}, {{0, 1}}));
    }
  }
}

TEST_CASE("metadata of all types is taken, with a series that has a name",
          "[remote_write][compliance]") {
  Receiver receiver(Seed());
  const std::vector<Item::Metadata> texts = {
      {0, "Help.", "seconds"}, {0, "", ""}, {0, "odd \"text\"\n\\ \xc3\xbc", "\xc2\xb5s"}};
  for (uint64_t type = 0; type < 8; ++type) {
    for (Item::Metadata metadata : texts) {
      metadata.type = type;
      const auto with = [&](const LabelList& labels, bool sample) {
        return [=](int64_t now) {
          Item item{labels, {}, {}, {}, {metadata}};
          if (sample) item.samples.push_back({now, 1});
          return std::vector<Item>{item};
        };
      };
      receiver.Takes(with(Named("m" + std::to_string(type)), true), {1, 0, 0});
      receiver.Takes(with(Named("m" + std::to_string(type)), false), {0, 0, 0});
      receiver.Refuses(with({{"job", "a"}}, true));
      receiver.Refuses(with({{"__name__", ""}}, false));
    }
  }
}

TEST_CASE("many of everything in one request are written", "[remote_write][compliance]") {
  Receiver receiver(Seed());
  for (const bool histograms : {false, true}) {
    const auto fifty = [histograms](int64_t now) {
      std::vector<Item> items;
      for (int i = 0; i < 50; ++i) {
        Item item{Named("m" + std::to_string(i), {{"number", std::to_string(i)}}), {}};
        if (histograms) {
          item.histograms.push_back(PositiveHistogram(now));
        } else {
          item.samples.push_back({now, static_cast<double>(i)});
        }
        item.exemplars.push_back({{{"trace_id", std::to_string(i)}}, 1, now});
        item.metadata.push_back({1, "Help " + std::to_string(i), "bytes"});
        items.push_back(item);
      }
      return items;
    };
    receiver.Takes(fifty, histograms ? Written{0, 50, 50} : Written{50, 0, 50});
  }
}

TEST_CASE("a request of 1.0 is taken too, without counts", "[remote_write][compliance]") {
  Receiver receiver(Seed());
  for (int run = 0; run < 2; ++run) {
    const std::string block =
        Pack(EncodeV1({{Named("up", {{"job", "a"}}), {{receiver.now_ms(), 1}}}}));
    HttpResponse response = receiver.Send(WriteRequest(block));
    REQUIRE(response.status == 204);
    REQUIRE(response.headers.empty());
    std::string corrupt = block;
    corrupt[0] = static_cast<char>(~corrupt[0]);
    response = receiver.Send(WriteRequest(corrupt));
    REQUIRE(response.status == 400);
    REQUIRE(WrittenOf(response) == std::nullopt);
  }
}
