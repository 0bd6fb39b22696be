#include <deque>

#include "tests/catch.h"
#include "tests/estimators/golden.h"

using namespace tidemark::estimators;
using golden::Comparison;
using golden::Json;

namespace {

std::chrono::nanoseconds HalfLife(const Json& test_case) {
  return golden::ToTime(test_case.at("half_life_seconds")).time_since_epoch();
}

}  // namespace

TEST_CASE("decaying histograms equal the reference after every recorded step",
          "[estimators][golden]") {
  const Json file = golden::Read("decaying_histogram.json");
  const golden::OptionsByName layouts(file);
  Comparison comparison("decaying_histogram.json", file);
  Comparison checkpoints("decaying_histogram.json, checkpoints", file);
  Comparison reloaded("decaying_histogram.json, after reload", file);
  for (const Json& test_case : file.at("cases").as_array()) {
    INFO("case " << golden::Text(test_case, "name"));
    const HistogramOptions& options = layouts.at(golden::Text(test_case, "options"));
    DecayingHistogram histogram(&options, HalfLife(test_case));
    const auto& ops = test_case.at("ops").as_array();
    size_t done = 0;
    for (const Json& check : test_case.at("checks").as_array()) {
      const auto after_ops = check.at("after_ops").to_number<size_t>();
      INFO("after " << after_ops << " operations");
      REQUIRE(after_ops >= done);
      REQUIRE(after_ops <= ops.size());
      while (done < after_ops) golden::Apply(ops[done++], histogram);
      comparison.CheckState(histogram, check);

      const HistogramCheckpoint checkpoint = histogram.SaveCheckpoint();
      const bool sensitive = check.at("checkpoint_ulp_sensitive").as_bool();
      checkpoints.CheckCheckpoint(checkpoint, check.at("checkpoint"), sensitive);
      DecayingHistogram other(&options, HalfLife(test_case));
      REQUIRE(other.LoadCheckpoint(checkpoint));
      reloaded.CheckState(other, check.at("after_reload"));
    }
  }
  comparison.Finish();
  checkpoints.Finish();
  reloaded.Finish();
}

TEST_CASE("merged histograms equal the reference, on both sides", "[estimators][golden]") {
  const Json file = golden::Read("merge.json");
  const golden::OptionsByName layouts(file);
  Comparison comparison("merge.json", file);
  Comparison checkpoints("merge.json, checkpoints", file);
  Comparison others("merge.json, merged side", file);
  for (const Json& test_case : file.at("cases").as_array()) {
    INFO("case " << golden::Text(test_case, "name"));
    std::deque<DecayingHistogram> parts;
    for (const Json& ops : test_case.at("parts").as_array()) {
      parts.emplace_back(&layouts.at(golden::Text(test_case, "options")), HalfLife(test_case));
      for (const Json& op : ops.as_array()) golden::Apply(op, parts.back());
    }
    const auto& states = test_case.at("after_each_merge").as_array();
    REQUIRE(states.size() + 1 == parts.size());
    for (size_t i = 0; i < states.size(); ++i) {
      INFO("after merge " << i + 1);
      REQUIRE(parts[0].Merge(parts[i + 1]));
      comparison.CheckState(parts[0], states[i]);
      checkpoints.CheckCheckpoint(parts[0].SaveCheckpoint(), states[i].at("checkpoint"),
                                  states[i].at("checkpoint_ulp_sensitive").as_bool());
      others.CheckState(parts[i + 1], states[i].at("other_after"));
    }
  }
  comparison.Finish();
  checkpoints.Finish();
  others.Finish();
}

TEST_CASE("loaded checkpoints, also broken ones, do what they do in the reference",
          "[estimators][golden]") {
  const Json file = golden::Read("checkpoint_load.json");
  const golden::OptionsByName layouts(file);
  Comparison comparison("checkpoint_load.json", file);
  for (const Json& test_case : file.at("cases").as_array()) {
    INFO("case " << golden::Text(test_case, "name"));
    DecayingHistogram histogram(&layouts.at(golden::Text(test_case, "options")),
                                HalfLife(test_case));
    for (const Json& op : test_case.at("before").as_array()) golden::Apply(op, histogram);
    const auto loaded = histogram.LoadCheckpoint(golden::ToCheckpoint(test_case.at("checkpoint")));
    CHECK(loaded.has_value() != test_case.at("error").as_bool());
    comparison.CheckState(histogram, test_case.at("after"));
    golden::Apply(test_case.at("then_add"), histogram);
    comparison.CheckState(histogram, test_case.at("after_add"));
  }
  comparison.Finish();
}
