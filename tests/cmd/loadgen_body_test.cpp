// The made-up cluster and the bodies of its rounds, as our decoder and as libprotobuf read them.

#include <snappy.h>

#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cmd/loadgen/body_encoder.h"
#include "cmd/loadgen/cluster.h"
#include "model/label.h"
#include "model/sample.h"
#include "remote_write/decoder_v1.h"
#include "remote_write_oracle/remote_write.pb.h"
#include "remote_write_oracle/remote_write_v2.pb.h"
#include "tests/catch.h"
#include "workloads/identity.h"
#include "workloads/sources.h"

namespace tidemark::loadgen {
namespace {

constexpr int64_t kStartMs = 1'796'004'600'000;

struct Point {
  int64_t time_ms = 0;
  uint64_t value_bits = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
/// Label bytes and sample, in the order of the body.
using Points = std::vector<std::pair<std::string, Point>>;

ClusterOptions Small(uint64_t seed = 1, double churn = 0) {
  return {.containers = 60, .seed = seed, .start_ms = kStartMs, .churn_per_hour = churn};
}

Points Expected(const LoadCluster& cluster, int64_t time_ms) {
  Points points;
  for (const LoadSeries& series : cluster.series()) {
    const int64_t at = time_ms + series.offset_ms;
    const double value = series.ends ? StaleMarker() : ValueAt(series.shape, at);
    points.emplace_back(series.label_bytes, Point{at, std::bit_cast<uint64_t>(value)});
  }
  return points;
}

class Gatherer final : public remote_write::SeriesVisitor {
 public:
  void OnLabels(const remote_write::WireLabels& labels) override {
    all_in_place = all_in_place && !labels.in_place.empty();
    bytes = EncodeLabels(labels.labels);
  }
  void OnSamples(std::span<const Sample> samples) override {
    for (const Sample& sample : samples) {
      points.emplace_back(bytes, Point{sample.timestamp_ms, std::bit_cast<uint64_t>(sample.value)});
    }
  }
  void OnHistogram(std::string_view) override { FAIL("no histogram was sent"); }
  void OnExemplars(uint64_t) override { FAIL("no exemplar was sent"); }

  std::string bytes;
  Points points;
  bool all_in_place = true;  // tidy: canonical as it lies on the wire
};

std::string Unpacked(const std::string& block) {
  std::string message;
  REQUIRE(snappy::Uncompress(block.data(), block.size(), &message));
  return message;
}

Points ReadByUs(const std::string& message) {
  remote_write::RequestShape shape;
  REQUIRE(remote_write::ValidateV1(message, shape) == remote_write::DecodeError::kNone);
  remote_write::DecoderV1 decoder(128);
  Gatherer gatherer;
  REQUIRE(decoder.Walk(message, gatherer) == remote_write::DecodeError::kNone);
  CHECK(gatherer.all_in_place);
  CHECK(shape.samples == gatherer.points.size());
  return gatherer.points;
}

Points ReadV1ByOracle(const std::string& message) {
  oracle::WriteRequest request;
  REQUIRE(request.ParseFromString(message));
  Points points;
  for (const auto& series : request.timeseries()) {
    std::string bytes;
    for (const auto& label : series.labels())
      AppendLabelBytes({label.name(), label.value()}, bytes);
    REQUIRE(series.samples_size() == 1);
    const auto& sample = series.samples(0);
    points.emplace_back(bytes, Point{sample.timestamp(), std::bit_cast<uint64_t>(sample.value())});
  }
  return points;
}

Points ReadV2ByOracle(const std::string& message) {
  oracle::v2::Request request;
  REQUIRE(request.ParseFromString(message));
  REQUIRE(request.symbols_size() > 0);
  CHECK(request.symbols(0).empty());
  const std::set<std::string> unique(request.symbols().begin(), request.symbols().end());
  CHECK(unique.size() == static_cast<size_t>(request.symbols_size()));
  Points points;
  for (const auto& series : request.timeseries()) {
    std::string bytes;
    REQUIRE(series.labels_refs_size() % 2 == 0);
    for (int i = 0; i < series.labels_refs_size(); i += 2) {
      AppendLabelBytes({request.symbols(static_cast<int>(series.labels_refs(i))),
                        request.symbols(static_cast<int>(series.labels_refs(i + 1)))},
                       bytes);
    }
    REQUIRE(series.samples_size() == 1);
    const auto& sample = series.samples(0);
    CHECK((series.metadata().type() == 1 || series.metadata().type() == 2));
    CHECK(!request.symbols(static_cast<int>(series.metadata().help_ref())).empty());
    points.emplace_back(bytes, Point{sample.timestamp(), std::bit_cast<uint64_t>(sample.value())});
  }
  return points;
}

std::map<std::string, std::string> LabelsOf(const LoadSeries& series) {
  std::vector<LabelView> labels;
  REQUIRE(DecodeLabels(series.label_bytes, labels));
  std::map<std::string, std::string> by_name;
  for (const LabelView& label : labels) by_name.emplace(label.name, label.value);
  return by_name;
}

}  // namespace

TEST_CASE("A 1.0 body is what our decoder and libprotobuf read", "[cmd][loadgen]") {
  const LoadCluster cluster(Small());
  std::string message;
  EncodeV1(cluster.series(), kStartMs, message);
  const Points expected = Expected(cluster, kStartMs);
  CHECK(ReadByUs(message) == expected);
  CHECK(ReadV1ByOracle(Unpacked(Pack(message))) == expected);
}

TEST_CASE("A 2.0 body carries the same series and samples", "[cmd][loadgen]") {
  LoadCluster cluster(Small(3, 5));
  EncoderV2 encoder;
  std::string message;
  for (int round = 0; round < 30; ++round) {
    const int64_t time_ms = kStartMs + round * 15'000;
    if (!cluster.changed().empty()) encoder.Forget();
    encoder.Encode(cluster.series(), time_ms, message);
    CHECK(ReadV2ByOracle(Unpacked(Pack(message))) == Expected(cluster, time_ms));
    cluster.NextRound();
  }
  CHECK(cluster.pods_replaced() > 0);
}

TEST_CASE("The same seed is the same cluster, another seed another one", "[cmd][loadgen]") {
  LoadCluster one(Small(7, 3));
  LoadCluster same(Small(7, 3));
  const LoadCluster other(Small(8, 3));
  CHECK(Expected(one, kStartMs) != Expected(other, kStartMs));
  for (int round = 0; round < 40; ++round) {
    REQUIRE(Expected(one, kStartMs) == Expected(same, kStartMs));
    one.NextRound();
    same.NextRound();
  }
}

TEST_CASE("A second run with the same seed goes on with the first one's series", "[cmd][loadgen]") {
  LoadCluster first(Small());
  for (int round = 0; round < 4; ++round) first.NextRound();
  ClusterOptions later = Small();
  later.start_ms += 60'000;
  const LoadCluster second(later);
  CHECK(Expected(first, later.start_ms) == Expected(second, later.start_ms));
}

TEST_CASE("As many containers and series as asked for, each series once", "[cmd][loadgen]") {
  for (const size_t containers : {1, 2, 3, 59, 500}) {
    ClusterOptions options = Small();
    options.containers = containers;
    const LoadCluster cluster(options);
    CHECK(cluster.containers() == containers);
    std::set<std::string> series;
    size_t cpu = 0;
    for (const LoadSeries& one : cluster.series()) {
      series.insert(one.label_bytes);
      cpu += one.family->name == std::string("container_cpu_usage_seconds_total") ? 1 : 0;
    }
    CHECK(series.size() == cluster.series().size());
    CHECK(cpu == containers);
  }
  ClusterOptions options = Small();
  options.series = 10'000;
  const size_t count = LoadCluster(options).series().size();
  CHECK(count <= 10'000);
  CHECK(count > 9'500);
}

TEST_CASE("Every series has a role and an identity by default, and 7 to 13 labels",
          "[cmd][loadgen]") {
  const workloads::SourceTable table;
  const LoadCluster cluster(Small());
  size_t labels_in_all = 0;
  for (const LoadSeries& series : cluster.series()) {
    std::vector<LabelView> labels;
    REQUIRE(DecodeLabels(series.label_bytes, labels));
    const auto source = table.Find(labels);
    REQUIRE(source);
    CHECK(workloads::Identify(table.at(*source), labels));
    CHECK(labels.size() >= 7);
    CHECK(labels.size() <= 13);
    labels_in_all += labels.size();
  }
  CHECK(labels_in_all / cluster.series().size() >= 11);
}

TEST_CASE("Owners, requests and usage tell of the same pods", "[cmd][loadgen]") {
  const LoadCluster cluster(Small());
  std::map<std::string, std::set<std::string>> pods;  // by metric
  std::set<std::string> owners;
  std::set<std::string> replicasets;
  for (const LoadSeries& series : cluster.series()) {
    const auto labels = LabelsOf(series);
    const std::string& metric = labels.at("__name__");
    if (labels.contains("pod"))
      pods[metric].insert(labels.at("namespace") + "/" + labels.at("pod"));
    if (metric == "kube_pod_owner") owners.insert(labels.at("owner_name"));
    if (metric == "kube_replicaset_owner") replicasets.insert(labels.at("replicaset"));
  }
  CHECK(owners == replicasets);
  CHECK(pods.at("kube_pod_owner").size() == cluster.pods());
  for (const auto& [metric, named] : pods) {
    CAPTURE(metric);
    CHECK(named == pods.at("kube_pod_owner"));
  }
}

TEST_CASE("Counters never fall while a pod lives, and values are never negative",
          "[cmd][loadgen]") {
  const LoadCluster cluster(Small());
  for (const LoadSeries& series : cluster.series()) {
    double before = 0;
    for (int64_t time_ms = kStartMs; time_ms < kStartMs + 2 * 86'400'000; time_ms += 900'000) {
      const double value = ValueAt(series.shape, time_ms);
      REQUIRE(value >= 0);
      if (series.family->is_counter) REQUIRE(value >= before);
      before = value;
    }
  }
}

TEST_CASE("Churn ends the series of a pod with markers and begins those of another",
          "[cmd][loadgen]") {
  LoadCluster cluster(Small(1, 30));  // an eighth of the pods each round
  const std::vector<LoadSeries> before = cluster.series();
  CHECK(cluster.changed().empty());
  cluster.NextRound();
  size_t ends = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    CHECK(cluster.series()[i].label_bytes == before[i].label_bytes);
    ends += cluster.series()[i].ends ? 1 : 0;
  }
  CHECK(ends > 0);
  CHECK(cluster.pods_replaced() == cluster.pods() / 8);
  std::vector<bool> ended;
  for (const LoadSeries& series : cluster.series()) ended.push_back(series.ends);
  cluster.NextRound();
  CHECK(cluster.changed().size() == ends);
  for (size_t i = 0; i < before.size(); ++i) {
    const bool anew = cluster.series()[i].label_bytes != before[i].label_bytes;
    CHECK(anew == ended[i]);
    CHECK(cluster.series()[i].family == before[i].family);
    if (anew)
      CHECK(LabelsOf(cluster.series()[i]).at("namespace") == LabelsOf(before[i]).at("namespace"));
  }
}

}  // namespace tidemark::loadgen
