// Slices of a window, and labels as the live stream would carry them.

#include "backfill/window.h"

#include "tests/backfill/fake_past.h"
#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

std::string Live(const LabelPairs& labels, const Options& options) {
  const std::string bytes = LiveLabelBytes(labels, options);
  std::vector<LabelView> views;
  if (bytes.empty() || !DecodeLabels(bytes, views)) return "";
  return FormatLabels(views);
}

AnswerSeries Series(const std::string& name, const std::vector<int64_t>& times) {
  AnswerSeries out;
  out.labels = {{"__name__", name}, {"namespace", "shop"}};
  for (const int64_t time : times) out.samples.push_back({.timestamp_ms = time, .value = 1});
  return out;
}

}  // namespace

TEST_CASE("labels are those of the live stream", "[backfill][window]") {
  Options options;
  options.external_labels = {{"cluster", "eu-1"}, {"region", "eu"}};
  options.drop_labels = {"__replica__"};
  CHECK(Live({{"__name__", "up"}, {"region", "us"}, {"__replica__", "a"}, {"empty", ""}},
             options) == R"(up{cluster="eu-1", region="us"})");
  CHECK(Live({{"a", "b"}}, options).empty());  // no name
  options.label_limits = {.max_labels = 4, .max_name_bytes = 10, .max_value_bytes = 5};
  CHECK_FALSE(Live({{"__name__", "up"}, {"a", "12345"}}, options).empty());
  CHECK(Live({{"__name__", "up"}, {"a", "123456"}}, options).empty());
  CHECK(Live({{"__name__", "up"}, {"a2345678901", "1"}}, options).empty());
  CHECK(Live({{"__name__", "up"}, {"a", "1"}, {"b", "1"}}, options).empty());
}

TEST_CASE("each slice has one step of every series, owners first", "[backfill][window]") {
  const Options options;
  Window window(options);
  QueryAnswer owners;
  owners.series = {Series("kube_pod_owner", {60'000, 120'000, 180'000})};
  QueryAnswer usage;
  usage.series = {Series("usage", {120'000, 60'000, 240'000}),
                  {{{"no", "name"}}, {{.timestamp_ms = 60'000}}}};
  window.Take(std::move(owners));
  window.Take(std::move(usage));
  CHECK(window.Series() == 2);
  CHECK(window.LeftOut() == 1);

  struct Recorder final : Past {
    std::vector<std::string> calls;
    void Add(const IncomingSeries& series) override {
      for (const Sample& sample : series.samples) {
        calls.push_back(std::string(FindLabel(series.labels, kMetricNameLabel)) + "@" +
                        std::to_string(sample.timestamp_ms / 60'000));
      }
    }
    WriteVerdict ApplySlice() override {
      calls.emplace_back("|");
      return {};
    }
    uint64_t MemoryBytes() const override { return 0; }
    Result<PastOutcome> Merge(std::string_view) override { return PastOutcome{}; }
  } past;
  window.ApplyTo(past, 60'000, 180'000, 60'000);
  CHECK(past.calls == std::vector<std::string>{"kube_pod_owner@1", "usage@1", "|",
                                               "kube_pod_owner@2", "usage@2", "|",
                                               "kube_pod_owner@3", "|"});
}

}  // namespace tidemark::backfill
