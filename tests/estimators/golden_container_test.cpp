#include <iostream>
#include <optional>

#include "estimators/cpu_samples.h"
#include "estimators/memory_peak_window.h"
#include "tests/catch.h"
#include "tests/estimators/golden.h"

using namespace tidemark::estimators;
using golden::Json;
using golden::Number;

namespace {

std::chrono::nanoseconds Seconds(const Json& config, const char* key) {
  return golden::ToTime(config.at(key)).time_since_epoch();
}

std::optional<Time> ToOptionalTime(const Json& seconds) {
  if (seconds.is_null()) return std::nullopt;
  return golden::ToTime(seconds);
}

std::string Kind(const Json& step) { return std::string(step.at("event").at(0).as_string()); }

}  // namespace

TEST_CASE("one container's samples are taken and refused as in the reference",
          "[estimators][golden]") {
  const Json file = golden::Read("container_memory.json");
  const HistogramOptions cpu_options = HistogramOptions::Cpu();
  const HistogramOptions memory_options = HistogramOptions::Memory();
  int steps_compared = 0;
  int sensitive_steps = 0;
  int kills = 0;
  for (const Json& test_case : file.at("cases").as_array()) {
    const auto& steps = test_case.at("steps").as_array();
    INFO("case " << golden::Text(test_case, "name"));
    const Json& config = test_case.at("config");
    DecayingHistogram cpu(&cpu_options, Seconds(config, "cpu_half_life_seconds"));
    DecayingHistogram memory(&memory_options, Seconds(config, "memory_half_life_seconds"));
    CpuSamples cpu_samples;
    MemoryPeakWindow window(Seconds(config, "memory_aggregation_interval_seconds"),
                            WindowRule::kVpa);
    const KillPolicy policy{.bump_ratio = Number(config.at("oom_bump_up_ratio")),
                            .min_bump_bytes = Number(config.at("oom_min_bump_up_bytes")),
                            .as_vpa = true};
    for (size_t i = 0; i < steps.size(); ++i) {
      INFO("step " << i);
      const Json& step = steps[i];
      const Time time = golden::ToTime(step.at("event").at(1));
      const double amount = Number(step.at("event").at(2));
      bool accepted = false;
      if (Kind(step) == "m") {
        accepted = window.AddSample(memory, time, amount);
      } else if (Kind(step) == "c") {
        accepted = cpu_samples.AddSample(cpu, time, amount / 1000);
      } else {
        REQUIRE(Kind(step) == "o");
        accepted = window.AddKill(memory, time, amount, policy).has_value();
        ++kills;
      }
      CHECK(accepted == step.at("accepted").as_bool());
      CHECK(window.WindowEnd() == ToOptionalTime(step.at("window_end")));
      CHECK(window.Peak() == Number(step.at("memory_peak")));
      CHECK(window.KillPeak() == Number(step.at("oom_peak")));
      CHECK(window.LastSample() == ToOptionalTime(step.at("last_memory_sample")));
      CHECK(cpu_samples.span().Last() == ToOptionalTime(step.at("last_cpu_sample")));
      CHECK(cpu_samples.span().Count() == step.at("cpu_samples").to_number<uint64_t>());
      CHECK(memory.IsEmpty() == step.at("memory_empty").as_bool());
      CHECK(golden::Close(memory.TotalWeight(), Number(step.at("memory_total_weight"))));

      const bool sensitive = step.at("ulp_sensitive").as_bool();
      const double points[] = {0.5, 0.9, 0.95};
      for (size_t p = 0; p < 3; ++p) {
        const double wanted = Number(step.at("memory_p50_p90_p95").at(p));
        INFO("percentile " << points[p] << " is " << memory.Percentile(points[p]) << ", reference "
                           << wanted);
        // The neighbouring bucket, where the last bit may decide, is 5 % away for amounts of this
        // size.
        CHECK((golden::Close(memory.Percentile(points[p]), wanted) ||
               (sensitive && memory.Percentile(points[p]) == Approx(wanted).epsilon(0.12))));
      }
      ++steps_compared;
      sensitive_steps += sensitive ? 1 : 0;
    }
  }
  std::cout << "container_memory.json: " << steps_compared << " states compared, "
            << sensitive_steps << " of them sensitive to the last bit; " << kills << " kills\n";
  CHECK(steps_compared > 0);
}
