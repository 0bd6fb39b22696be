// Whether its series are known or not, a request comes to the same: the same series in the same
// order, the same verdicts, the same words.

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "remote_write/batch_filler.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/decoder_v2.h"
#include "tests/catch.h"
#include "tests/remote_write/random_request.h"
#include "tests/remote_write/wire_builder.h"
#include "tests/remote_write/wire_builder_v2.h"

namespace tidemark::remote_write {
namespace {

using test::RandomRequest;
using test::SampleField;
using test::Series;

constexpr int64_t kNowMs = 1'796'004'600'000;

/// What came out of one request.
struct Outcome {
  DecodeError error = DecodeError::kNone;
  uint64_t series = 0;
  uint64_t samples = 0;
  FillTally tally;
  /// Label bytes, times and values, whether of an HA pair: as told to the sink.
  std::vector<std::string> added;
  std::set<std::string> vetted;
  uint64_t known = 0;  // of `added`
};

/// Knows the series that it was told to know.
class KnowingBatch final : public WriteBatch {
 public:
  KnowingBatch(const std::set<std::string>& known, Outcome& outcome)
      : known_(known), outcome_(outcome) {}

  void Find(std::span<SeriesLookUp> wanted) override {
    for (SeriesLookUp& one : wanted) {
      const auto found = known_.find(std::string(one.label_bytes));
      one.token = {std::hash<std::string_view>{}(one.label_bytes), 1,
                   found == known_.end() ? 0 : std::hash<std::string_view>{}(one.label_bytes) | 1};
    }
  }
  void Add(const IncomingSeries& series) override {
    std::string told(series.label_bytes);
    for (const Sample& sample : series.samples) {
      told += "|" + std::to_string(sample.timestamp_ms) + "=" +
              std::to_string(std::bit_cast<uint64_t>(sample.value)) + "/" +
              std::to_string(sample.start_timestamp_ms);
    }
    outcome_.added.push_back(told + (series.from_ha_pair ? " copy" : ""));
    if (series.vetted) outcome_.vetted.emplace(series.label_bytes);
    if (!series.token) {
      CHECK(EncodeLabels(series.labels) == series.label_bytes);
      return;
    }
    CHECK(series.token->hash_low == std::hash<std::string_view>{}(series.label_bytes));
    if (series.token->IsKnown()) {
      ++outcome_.known;
      CHECK(known_.contains(std::string(series.label_bytes)));
    } else {
      CHECK(EncodeLabels(series.labels) == series.label_bytes);
    }
  }
  Result<WriteVerdict> Commit() override { return WriteVerdict{}; }

 private:
  const std::set<std::string>& known_;
  Outcome& outcome_;
};

Outcome Receive(const std::string& message, bool v2, const std::set<std::string>& known) {
  const Limits limits;
  Outcome outcome;
  KnowingBatch batch(known, outcome);
  LabelChecker checker(limits);
  std::vector<SeriesLookUp> seen;
  BatchFiller filler(batch, checker, limits, kNowMs, nullptr, &seen);
  RequestShape shape;
  DecoderV1 decoder(limits.max_labels);
  DecoderV2 decoder_v2(limits.max_labels, limits.max_unpacked_bytes);
  outcome.error = v2 ? ValidateV2(message, shape) : ValidateV1(message, shape, &filler);
  if (outcome.error == DecodeError::kNone) {
    outcome.error =
        v2 ? decoder_v2.Walk(message, shape, filler, &filler) : decoder.Walk(message, filler);
  }
  outcome.series = shape.series;
  outcome.samples = shape.samples;
  outcome.tally = filler.tally();
  return outcome;
}

void CheckSame(const Outcome& a, const Outcome& b) {
  REQUIRE(a.error == b.error);
  if (a.error != DecodeError::kNone) return;  // then all of it is thrown away
  REQUIRE(a.added == b.added);
  REQUIRE(a.vetted == b.vetted);
  REQUIRE(a.series == b.series);
  REQUIRE(a.samples == b.samples);
  const FillTally& x = a.tally;
  const FillTally& y = b.tally;
  REQUIRE(x.offered == y.offered);
  REQUIRE(x.samples_rejected == y.samples_rejected);
  REQUIRE(x.series_rejected == y.series_rejected);
  REQUIRE(x.stale_markers == y.stale_markers);
  REQUIRE(x.histograms == y.histograms);
  REQUIRE(x.exemplars == y.exemplars);
  REQUIRE(x.highest_timestamp_ms == y.highest_timestamp_ms);
  REQUIRE(x.first_reason == y.first_reason);
  REQUIRE(x.first_example == y.first_example);
}

/// A message as Prometheus sends it, with series that come more than once, some of them odd.
std::string TidyMessage(std::mt19937_64& random) {
  std::string message;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(random() % 10);
    std::string content =
        test::Labels({{"__name__", "up"}, {"job", std::string(random() % 40, 'j')}, {"n", number}});
    const int64_t time_ms = random() % 9 == 0 ? kNowMs * 2 : kNowMs - 15'000 * i;
    const double value = random() % 3 == 0 ? 0 : static_cast<double>(random() % 1000);
    switch (random() % 10) {
      case 0: content += test::VarintField(15, 7) + SampleField(value, time_ms); break;
      case 1: content = SampleField(value, time_ms) + content; break;
      case 2: content += SampleField(value, time_ms) + SampleField(value, time_ms + 1); break;
      case 3: content += test::BytesField(2, test::VarintField(2, kNowMs)); break;  // value 0
      case 4:
        content = test::Labels({{"z", "1"}, {"__name__", "up"}}) + SampleField(1, kNowMs);
        break;
      default: content += SampleField(value, time_ms);
    }
    message += Series(content);
  }
  return message;
}

}  // namespace

TEST_CASE("a request comes to the same whether its series are known or not",
          "[remote_write][recognized]") {
  const auto seed = GENERATE(range(1, 80));
  CAPTURE(seed);
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  RandomRequest generator(static_cast<uint32_t>(seed), kNowMs);
  for (const bool v2 : {false, true}) {
    CAPTURE(v2);
    std::vector<std::string> messages = {v2 ? generator.MessageV2() : generator.Message()};
    if (!v2) messages.push_back(TidyMessage(random));
    messages.push_back(generator.Mutate(messages.back()));
    for (const std::string& message : messages) {
      const Outcome unknown = Receive(message, v2, {});
      CheckSame(unknown, Receive(message, v2, unknown.vetted));
      std::set<std::string> half;
      for (const std::string& bytes : unknown.vetted) {
        if (random() % 2 == 0) half.insert(bytes);
      }
      CheckSame(unknown, Receive(message, v2, half));
    }
  }
}

TEST_CASE("usual series are known without a look at a label", "[remote_write][recognized]") {
  std::string message;
  for (const double value : {0.0, 1.5}) {
    for (const char* job : {"a", "b"}) {
      const int64_t time_ms = kNowMs + static_cast<int64_t>(value);
      std::string sample = SampleField(value, time_ms);
      if (value == 0) sample = test::BytesField(2, test::VarintField(2, kNowMs));
      message += Series(test::Labels({{"__name__", "up"}, {"job", job}}) + sample);
    }
  }
  const Outcome unknown = Receive(message, false, {});
  CHECK(unknown.vetted.size() == 2);
  CHECK(unknown.known == 0);
  const Outcome known = Receive(message, false, unknown.vetted);
  CHECK(known.known == 4);
  CheckSame(unknown, known);
}

TEST_CASE("usual series of 2.0 are known by the bytes of their labels",
          "[remote_write][recognized]") {
  std::vector<test::Item> items;
  for (int i = 0; i < 100; ++i) {
    test::Item item;
    item.labels = {{"__name__", "up"}, {"n", std::to_string(i)}};
    item.samples = {{kNowMs, static_cast<double>(i)}};
    items.push_back(item);
    if (i == 50) items.back().samples.push_back({kNowMs + 1, 7});  // not usual: in its turn
  }
  const std::string message = test::EncodeV2(items);
  const Outcome unknown = Receive(message, true, {});
  CHECK(unknown.vetted.size() == 100);
  CHECK(unknown.added.size() == 100);
  const Outcome known = Receive(message, true, unknown.vetted);
  CHECK(known.known == 100);
  CheckSame(unknown, known);
}

TEST_CASE("a sample's bytes within a label value are no sample", "[remote_write][recognized]") {
  // The last label's value ends like a series: in a sample in its usual form.
  const std::string tail = SampleField(7, kNowMs);
  const std::string labels = test::Labels({{"__name__", "up"}, {"z", "x" + tail}});
  const std::string message = Series(labels) + Series(labels + SampleField(1, kNowMs));
  const std::string front = labels.substr(0, labels.size() - tail.size());
  // Even where the bytes before it are taken for known, it is for the sink to say so: it never can,
  // as no series with these bytes was ever vetted.
  const Outcome unknown = Receive(message, false, {});
  CHECK_FALSE(unknown.vetted.contains(front));
  CheckSame(unknown, Receive(message, false, unknown.vetted));
  CHECK(unknown.series == 2);
}

TEST_CASE("more series than are remembered come to the same", "[remote_write][recognized]") {
  std::string message;
  for (size_t i = 0; i < BatchFiller::kMaxSeen + 100; ++i) {
    message += Series({{"__name__", "up"}, {"n", std::to_string(i)}}, 1, kNowMs);
  }
  const Outcome unknown = Receive(message, false, {});
  const Outcome known = Receive(message, false, unknown.vetted);
  CHECK(known.known == unknown.added.size());
  CheckSame(unknown, known);
}

}  // namespace tidemark::remote_write
