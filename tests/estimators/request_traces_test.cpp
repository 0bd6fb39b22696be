// The estimators of requests on recorded use, against what VPA, oversell and a KRR-like rule reach
// there. The definitions are those of Judge; the figures of the others were measured by the same
// definitions, each with the best setting of its own knob.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "estimators/adaptive_request.h"
#include "estimators/memory_shape.h"
#include "estimators/peak_request.h"
#include "tests/catch.h"
#include "tests/estimators/request_traces.h"

using namespace tidemark;
using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr size_t kHour = kStepsAnHour;
constexpr size_t kDay = 24 * kStepsAnHour;

Time At(const UsageTrace& trace, size_t step) {
  return Time(
      std::chrono::seconds(trace.start_seconds + static_cast<int64_t>(step) * kStepSeconds));
}

/// The requests for the periods of `period` steps, each by what came before it.
std::vector<double> CpuRequests(const UsageTrace& trace, const AdaptiveRequestOptions& options) {
  AdaptiveRequest estimator;
  std::vector<double> requests;
  for (size_t step = 0; step < trace.steps(); ++step) {
    if (step >= kWarmUpSteps && (step - kWarmUpSteps) % kHour == 0) {
      estimator.Close(At(trace, step), options);
      requests.push_back(*estimator.Request());
    }
    for (size_t pod = 0; pod < trace.pods; ++pod) {
      REQUIRE(estimator.AddSample(At(trace, step), trace.cpu[step * trace.pods + pod], options));
    }
  }
  return requests;
}

/// Likewise, for days; one list for each knob.
std::vector<std::vector<double>> CpuRequestsForADay(
    const UsageTrace& trace, const std::vector<AdaptiveRequestOptions>& knobs) {
  const auto layout = HistogramOptions::Exponential(1000, 0.001, 1.05, 0.0001);
  DecayingHistogram histogram(&*layout, 24h);
  AdaptiveRequest estimator;
  std::vector<std::vector<double>> requests(knobs.size());
  for (size_t step = 0; step < trace.steps(); ++step) {
    if (step >= kWarmUpSteps && (step - kWarmUpSteps) % kDay == 0) {
      estimator.Close(At(trace, step), knobs.front());
      for (size_t i = 0; i < knobs.size(); ++i) {
        requests[i].push_back(*estimator.RequestForADay(histogram, knobs[i]));
      }
    }
    for (size_t pod = 0; pod < trace.pods; ++pod) {
      const double usage = trace.cpu[step * trace.pods + pod];
      REQUIRE(estimator.AddSample(At(trace, step), usage, knobs.front()));
      REQUIRE(histogram.Add(usage, 0.1, At(trace, step)));
    }
  }
  return requests;
}

std::vector<double> MemoryRequests(const UsageTrace& trace, const PeakRequestOptions& options,
                                   size_t period) {
  PeakRequest estimator;
  std::vector<double> requests;
  for (size_t step = 0; step < trace.steps(); ++step) {
    if (step >= kWarmUpSteps && (step - kWarmUpSteps) % period == 0) {
      estimator.Close(At(trace, step), options);
      requests.push_back(*estimator.Request());
    }
    for (size_t pod = 0; pod < trace.pods; ++pod) {
      REQUIRE(estimator.AddSample(At(trace, step), trace.memory[step * trace.pods + pod], options));
    }
  }
  return requests;
}

/// Of all real ones, of the half that the options were chosen on, of the other half.
enum Part : uint8_t { kAll, kTuned, kReported };
constexpr const char* kPartNames[] = {"all", "tuned on", "reported"};

bool IsIn(const UsageTrace& trace, Part part) {
  return trace.is_real && (part == kAll || trace.tuned_on == (part == kTuned));
}

/// worth[trace][knob] → the curve of the part.
std::vector<Summary> CurveOf(const std::vector<UsageTrace>& traces,
                             const std::vector<std::vector<Worth>>& worth, Part part) {
  std::vector<Summary> curve;
  for (size_t knob = 0; knob < worth.front().size(); ++knob) {
    std::vector<Worth> of_part;
    for (size_t i = 0; i < traces.size(); ++i) {
      if (IsIn(traces[i], part)) of_part.push_back(worth[i][knob]);
    }
    curve.push_back(Mean(of_part));
  }
  return curve;
}

std::vector<double> Spread(double from, double to, size_t count) {
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(from *
                     std::pow(to / from, static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  return values;
}

void Print(const char* title, const std::vector<UsageTrace>& traces,
           const std::vector<std::vector<Worth>>& worth, double Summary::*what,
           const std::vector<double>& targets) {
  for (const Part part : {kAll, kTuned, kReported}) {
    std::printf("%-34s %-9s", title, kPartNames[part]);
    for (const double target : targets) {
      const auto at = CrossingOf(CurveOf(traces, worth, part), what, target);
      if (at) {
        std::printf("  %g: %.2f (%.0f)", target, at->slack, at->changes);
      } else {
        std::printf("  %g: -", target);
      }
    }
    std::printf("\n");
  }
}

void PrintOne(const char* title, const std::vector<UsageTrace>& traces,
              const std::vector<std::vector<Worth>>& worth) {
  for (const Part part : {kAll, kTuned, kReported}) {
    const Summary mean = CurveOf(traces, worth, part).front();
    std::printf("%-34s %-9s slack %.3f breach %.2f %% kills %.3f changes %.1f\n", title,
                kPartNames[part], mean.slack, mean.breach * 100, mean.kills_per_pod_day,
                mean.changes);
  }
  for (size_t i = 0; i < traces.size(); ++i) {
    const Worth& of = worth[i].front();
    std::printf("  %-26s %s slack %.2f breach %.2f %% depth %.2f kills %d changes %d\n",
                traces[i].name.c_str(), traces[i].tuned_on ? "t" : " ", of.slack, of.breach * 100,
                of.depth, of.kills, of.changes);
  }
}

}  // namespace

TEST_CASE("an hourly CPU request needs less slack than VPA, oversell and KRR for the same breaches",
          "[estimators][traces]") {
  const auto traces = ReadRequestTraces();
  if (!traces) return;
  const auto knobs = Spread(0.4, 0.0005, 40);
  std::vector<std::vector<Worth>> worth;
  std::vector<std::vector<Worth>> shipped;
  for (const UsageTrace& trace : *traces) {
    auto& of_trace = worth.emplace_back();
    for (const double knob : knobs) {
      of_trace.push_back(
          Judge(trace.cpu, trace.pods, CpuRequests(trace, {.target_exceedance = knob}), kHour));
    }
    shipped.push_back({Judge(trace.cpu, trace.pods, CpuRequests(trace, {}), kHour)});
  }
  Print("CPU hourly, slack (changes) at breach", *traces, worth, &Summary::breach,
        {0.06, 0.0413, 0.03, 0.02, 0.01, 0.005});
  for (size_t i = 0; i < knobs.size(); i += 3) {
    const Summary mean = CurveOf(*traces, worth, kAll)[i];
    std::printf("  target %.4f: breach %.4f slack %.2f changes %.0f\n", knobs[i], mean.breach,
                mean.slack, mean.changes);
  }
  PrintOne("CPU as shipped", *traces, shipped);

  const auto at = CrossingOf(CurveOf(*traces, worth, kAll), &Summary::breach, 0.01);
  REQUIRE(at);
  CHECK(at->slack <= 2.2);  // VPA 3.16, oversell 3.14, KRR 3.68
  CHECK(at->changes <= 40);
  const Summary as_shipped = CurveOf(*traces, shipped, kAll).front();
  CHECK(as_shipped.breach <= 0.0413);  // VPA's own
  CHECK(as_shipped.slack <= 1.1);      // VPA 1.36
  // Also on the half that nothing was chosen by, where VPA has 1.32 at 4.68 %.
  const Summary reported = CurveOf(*traces, shipped, kReported).front();
  CHECK(reported.breach <= 0.0468);
  CHECK(reported.slack <= 1.32);
}

TEST_CASE("a CPU request for days needs no more slack than VPA and oversell",
          "[estimators][traces]") {
  const auto traces = ReadRequestTraces();
  if (!traces) return;
  std::vector<AdaptiveRequestOptions> knobs;
  for (const double knob : Spread(0.6, 0.00002, 70)) {
    knobs.push_back({.target_exceedance = knob});
  }
  std::vector<std::vector<Worth>> worth;
  for (const UsageTrace& trace : *traces) {
    auto& of_trace = worth.emplace_back();
    for (const auto& of_knob : CpuRequestsForADay(trace, knobs)) {
      of_trace.push_back(Judge(trace.cpu, trace.pods, of_knob, kDay));
    }
  }
  Print("CPU daily, slack (changes) at breach", *traces, worth, &Summary::breach,
        {0.04, 0.02, 0.01, 0.005});
  const auto curve = CurveOf(*traces, worth, kAll);
  const auto slack_at = [&](double breach) {
    const auto at = CrossingOf(curve, &Summary::breach, breach);
    return at ? at->slack : 1e9;
  };
  CHECK(slack_at(0.02) <= 3.13);   // VPA 3.23, oversell 3.13
  CHECK(slack_at(0.01) <= 4.22);   // VPA 4.25, oversell 4.22
  CHECK(slack_at(0.005) <= 5.61);  // VPA 5.61, oversell never
}

TEST_CASE("a memory request needs less slack than VPA, oversell and KRR for the same kills",
          "[estimators][traces]") {
  const auto traces = ReadRequestTraces();
  if (!traces) return;
  const auto knobs = Spread(0.6, 6, 50);  // of the safety factor: kills fall as it rises
  for (const size_t period : {kHour, kDay}) {
    std::vector<std::vector<Worth>> worth;
    std::vector<std::vector<Worth>> with_maximum;
    std::vector<std::vector<Worth>> shipped;
    for (const UsageTrace& trace : *traces) {
      auto& of_trace = worth.emplace_back();
      auto& of_maximum = with_maximum.emplace_back();
      for (const double knob : knobs) {
        PeakRequestOptions options{.safety_factor = knob, .keeps_maximum = false};
        of_trace.push_back(
            Judge(trace.memory, trace.pods, MemoryRequests(trace, options, period), period));
        options.keeps_maximum = true;
        of_maximum.push_back(
            Judge(trace.memory, trace.pods, MemoryRequests(trace, options, period), period));
      }
      shipped.push_back(
          {Judge(trace.memory, trace.pods, MemoryRequests(trace, {}, period), period)});
    }
    const std::string setting = period == kHour ? "memory hourly" : "memory daily";
    Print((setting + ", slack at kills").c_str(), *traces, worth, &Summary::kills_per_pod_day,
          {0.1, 0.05, 0.02});
    Print((setting + ", with the maximum").c_str(), *traces, with_maximum,
          &Summary::kills_per_pod_day, {0.1, 0.05, 0.02});
    PrintOne((setting + " as shipped").c_str(), *traces, shipped);
    const auto curve = CurveOf(*traces, worth, kAll);
    const auto slack_at = [&](double kills) {
      const auto at = CrossingOf(curve, &Summary::kills_per_pod_day, kills);
      return at ? at->slack : 1e9;
    };
    if (period == kHour) {
      CHECK(slack_at(0.1) <= 4.9);  // VPA 6.49, oversell 6.05, KRR 5.33
    } else {
      CHECK(slack_at(0.1) <= 5.87);   // VPA 5.88, oversell 19.3
      CHECK(slack_at(0.05) <= 7.01);  // VPA 7.02, oversell 20.0
      CHECK(slack_at(0.02) <= 9.13);  // VPA 9.13, oversell 20.9
    }
  }
}

TEST_CASE("a memory request is never below the worst pod's maximum of seven days",
          "[estimators][traces]") {
  const auto traces = ReadRequestTraces();
  if (!traces) return;
  for (const UsageTrace& trace : *traces) {
    const auto requests = MemoryRequests(trace, {}, kHour);
    for (size_t i = 0; i < requests.size(); ++i) {
      const size_t end = (kWarmUpSteps + i * kHour) * trace.pods;
      const size_t begin = end - std::min(end, 7 * kDay * trace.pods);
      const double largest = *std::max_element(trace.memory.begin() + static_cast<ptrdiff_t>(begin),
                                               trace.memory.begin() + static_cast<ptrdiff_t>(end));
      REQUIRE(requests[i] >= largest);
    }
  }
}

TEST_CASE("a leak and a collected heap are told apart, and nothing is told of real memory",
          "[estimators][traces]") {
  const auto traces = ReadRequestTraces();
  if (!traces) return;
  for (const UsageTrace& trace : *traces) {
    INFO(trace.name);
    PeakRequest estimator;
    for (size_t step = 0; step < trace.steps(); ++step) {
      for (size_t pod = 0; pod < trace.pods; ++pod) {
        estimator.AddSample(At(trace, step), trace.memory[step * trace.pods + pod], {});
      }
      // From the end of the fifth day on, at every hour.
      if (step < 5 * kDay || step % kHour != 0) continue;
      const MemoryShape shape = FindMemoryShape(estimator.hours(), std::nullopt).shape;
      if (trace.name.find("synthetic_leak") != std::string::npos) {
        REQUIRE(shape == MemoryShape::kLeak);
      } else if (trace.name.find("synthetic_gc") != std::string::npos) {
        REQUIRE(shape == MemoryShape::kSawTooth);
      } else if (trace.is_real) {
        REQUIRE(shape == MemoryShape::kNothingSpecial);
      }
    }
  }
}
