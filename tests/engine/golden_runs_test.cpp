// Whole runs of the original recommender, through a shard.
#include <array>
#include <cmath>
#include <iostream>

#include "tests/engine/golden_world.h"

using namespace tidemark;
using namespace tidemark::testing;
using estimators::golden::Close;
using estimators::golden::Json;
using estimators::golden::Number;
using estimators::golden::Text;

namespace {

int64_t ToMs(const Json& seconds) { return std::llround(Number(seconds) * 1000); }

/// One run, tick by tick.
class Run {
 public:
  Run(const Json& test_case, const Json& points)
      : case_(test_case),
        points_(points),
        world_(StrictProfile(test_case.at("config"), Text(test_case, "cpu_weight_rule"))),
        start_ms_(ToMs(test_case.at("start"))),
        step_ms_(ToMs(test_case.at("step_seconds"))) {}

  void Go() {
    const auto ticks = case_.at("ticks").to_number<int64_t>();
    const auto& results = case_.at("results").as_array();
    size_t next_result = 0;
    for (int64_t tick = 0; tick < ticks; ++tick) {
      if (const Json* restart = case_.as_object().if_contains("restart");
          restart != nullptr && restart->at("before_tick").to_number<int64_t>() == tick) {
        world_.Restart(ToMs(restart->at("now")));
      }
      for (const Json& stream : case_.at("streams").as_array()) Feed(stream, tick);
      for (const Json& kill : case_.at("ooms").as_array()) {
        if (kill.at("deliver_tick").to_number<int64_t>() != tick) continue;
        world_.Kill(Text(kill, "pod"), Text(kill, "container"), ToMs(kill.at("time")),
                    Number(kill.at("requested_memory_bytes")));
      }
      if (next_result < results.size() &&
          results[next_result].at("after_tick").to_number<int64_t>() == tick) {
        Compare(results[next_result++]);
      }
    }
    CHECK(next_result == results.size());
  }

  int compared = 0;
  int sensitive = 0;

 private:
  int64_t TimeOf(int64_t tick) const { return start_ms_ + tick * step_ms_; }

  void Feed(const Json& stream, int64_t tick) {
    const int64_t at = tick - stream.at("first_tick").to_number<int64_t>();
    const auto& cpu = stream.at("cpu_millicores").as_array();
    const auto& memory = stream.at("memory_bytes").as_array();
    const auto samples = static_cast<int64_t>(std::max(cpu.size(), memory.size()));
    // A pod of which no usage ever comes is there from the beginning.
    const bool lives = samples == 0 || (at >= 0 && at < samples);
    if (!lives) return;
    const std::string pod = Text(stream, "pod");
    const std::string container = Text(stream, "container");
    const int64_t time_ms = TimeOf(tick);
    world_.AddPod(pod, Text(stream, "labels"), time_ms);
    double cores = 0;
    double bytes = 0;
    for (const Json& request : stream.at("requests").as_array()) {
      if (request.at(0).to_number<int64_t>() > tick) break;
      cores = Number(request.at(1)) / 1000;
      bytes = Number(request.at(2));
    }
    world_.SetRequests(pod, container, cores, bytes, time_ms);
    const auto use = [&](const auto& values, Resource resource, double scale) {
      if (at < 0 || at >= static_cast<int64_t>(values.size())) return;
      const Json& value = values[static_cast<size_t>(at)];
      if (!value.is_null()) world_.Use(pod, container, resource, time_ms, Number(value) / scale);
    };
    use(cpu, Resource::kCpu, 1000);
    use(memory, Resource::kMemory, 1);
  }

  void Compare(const Json& result) {
    INFO("after tick " << result.at("after_tick"));
    const int64_t now_ms = ToMs(result.at("time"));
    for (const auto& [name, expected] : result.at("containers").as_object()) {
      const std::string container(name);
      INFO("container " << container);
      const ContainerAdvice* const advice = world_.Advice(container, now_ms);
      REQUIRE(advice != nullptr);
      ++compared;
      const bool may_differ = expected.at("ulp_sensitive").as_bool();
      sensitive += may_differ ? 1 : 0;
      REQUIRE(advice->resources.size() == 2);
      CompareAmounts(advice->resources[0], expected, "cpu_millicores", 1000, may_differ);
      CompareAmounts(advice->resources[1], expected, "memory_bytes", 1, may_differ);
      CompareHistogram(container, Resource::kCpu, expected, "cpu", may_differ);
      CompareHistogram(container, Resource::kMemory, expected, "memory", may_differ);
      const auto cpu = world_.Reading(container, Resource::kCpu);
      CHECK(cpu.minutes.Count() == expected.at("samples").to_number<uint64_t>());
      CHECK(Seconds(cpu.minutes.First()) == Seconds(expected.at("first_sample")));
      CHECK(Seconds(cpu.minutes.Last()) == Seconds(expected.at("last_sample")));
      // Ours is in days, the reference's in its interval.
      const double interval_days =
          Number(case_.at("config").at("confidence_interval_cpu_seconds")) / 86'400;
      CHECK(Close(advice->resources[0].confidence_days,
                  Number(expected.at("confidence_cpu")) * interval_days));
    }
  }

  static std::optional<double> Seconds(const std::optional<estimators::Time>& time) {
    if (!time) return std::nullopt;
    return std::chrono::duration<double>(time->time_since_epoch()).count();
  }
  static std::optional<double> Seconds(const Json& time) {
    if (time.is_null()) return std::nullopt;
    return Number(time);
  }

  static void CompareAmounts(const ResourceAdvice& advice, const Json& expected, const char* key,
                             double amounts, bool may_differ) {
    const auto same = [&](const std::optional<double>& actual, const char* field) {
      REQUIRE(actual);
      const double wanted = Number(expected.at(field).at(key));
      INFO(field << " of " << key << " is " << *actual * amounts << ", reference " << wanted);
      const double amount = std::round(*actual * amounts);
      CHECK((amount == wanted || (may_differ && std::abs(amount - wanted) <= 1e-7 * wanted + 1)));
    };
    same(advice.recommended_request, "target");
    same(advice.lower_bound, "lower_bound");
    same(advice.upper_bound, "upper_bound");
  }

  void CompareHistogram(const std::string& container, Resource resource, const Json& expected,
                        const std::string& key, bool may_differ) {
    INFO(key << " histogram");
    const auto reading = world_.Reading(container, resource);
    const auto& wanted = expected.at(key + "_percentiles").as_array();
    if (reading.one == nullptr && !reading.merged) {
      CHECK(Number(expected.at(key + "_total_weight")) == 0);
      return;
    }
    const estimators::DecayingHistogram& histogram = reading.histogram();
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double p = Number(points_.at(i));
      const double value = histogram.Percentile(p);
      INFO("percentile " << p << " is " << value << ", reference " << Number(wanted[i]));
      CHECK((Close(value, Number(wanted[i])) ||
             (may_differ && value == Approx(Number(wanted[i])).epsilon(0.12))));
    }
    CHECK(Close(histogram.TotalWeight(), Number(expected.at(key + "_total_weight"))));
    CHECK(Seconds(histogram.ReferenceTime()) == Seconds(expected.at(key + "_reference")));
  }

  const Json& case_;
  const Json& points_;
  GoldenWorld world_;
  const int64_t start_ms_;
  const int64_t step_ms_;
};

void Replay(const char* name) {
  const Json file = estimators::golden::Read(name);
  int compared = 0;
  int sensitive = 0;
  for (const Json& test_case : file.at("cases").as_array()) {
    INFO(name << ": " << Text(test_case, "name"));
    Run run(test_case, file.at("percentile_points"));
    run.Go();
    compared += run.compared;
    sensitive += run.sensitive;
  }
  std::cout << name << ": " << file.at("cases").as_array().size() << " runs, " << compared
            << " states of containers compared, " << sensitive
            << " of them sensitive to the last bit\n";
  CHECK(compared > 0);
}

}  // namespace

TEST_CASE("whole runs recommend to the last unit what the original recommends",
          "[engine][golden]") {
  Replay("recommender.json");
}

TEST_CASE("eight days of minutes recommend to the last unit what the original recommends",
          "[engine][golden]") {
  Replay("recommender_minutely.json");
}

TEST_CASE("one container's samples and kills leave in a shard the histograms of the original",
          "[engine][golden]") {
  const Json file = estimators::golden::Read("container_memory.json");
  int steps = 0;
  for (const Json& test_case : file.at("cases").as_array()) {
    INFO(Text(test_case, "name"));
    GoldenWorld world(StrictProfile(test_case.at("config"), "constant"));
    world.AddPod("p", "app=x", 1'600'000'000'000);
    world.SetRequests("p", "main", 0, 0, 1'600'000'000'000);
    for (const Json& step : test_case.at("steps").as_array()) {
      INFO("step " << step.at("event"));
      const std::string kind(step.at("event").at(0).as_string());
      const int64_t time_ms = ToMs(step.at("event").at(1));
      const double amount = Number(step.at("event").at(2));
      if (kind == "o") {
        world.Kill("p", "main", time_ms, amount);
      } else {
        world.Use("p", "main", kind == "m" ? Resource::kMemory : Resource::kCpu, time_ms,
                  kind == "m" ? amount : amount / 1000);
      }
      ++steps;
      const auto cpu = world.Reading("main", Resource::kCpu);
      CHECK(cpu.minutes.Count() == step.at("cpu_samples").to_number<uint64_t>());
      const auto memory = world.Reading("main", Resource::kMemory);
      const auto& wanted = step.at("memory_p50_p90_p95");
      if (memory.one == nullptr && !memory.merged) {
        CHECK(step.at("memory_empty").as_bool());
        continue;
      }
      CHECK(memory.histogram().IsEmpty() == step.at("memory_empty").as_bool());
      CHECK(Close(memory.histogram().TotalWeight(), Number(step.at("memory_total_weight"))));
      const std::array points = {0.5, 0.9, 0.95};
      for (size_t i = 0; i < points.size(); ++i) {
        const double value = memory.histogram().Percentile(points[i]);
        CHECK((Close(value, Number(wanted.at(i))) ||
               (step.at("ulp_sensitive").as_bool() &&
                value == Approx(Number(wanted.at(i))).epsilon(0.12))));
      }
    }
  }
  std::cout << "container_memory.json: " << steps << " steps through a shard\n";
  CHECK(steps > 0);
}
