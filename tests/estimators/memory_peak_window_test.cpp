#include "estimators/memory_peak_window.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

struct Container {
  HistogramOptions options = HistogramOptions::Memory();
  DecayingHistogram histogram{&options, 24h};
  MemoryPeakWindow window;

  bool Add(Time time, double bytes) { return window.AddSample(histogram, time, bytes); }
  /// Whether the histogram holds just these peaks.
  bool Holds(std::initializer_list<std::pair<double, Time>> peaks) {
    DecayingHistogram expected(&options, 24h);
    for (const auto& [bytes, time] : peaks) expected.Add(bytes, 1, time);
    return histogram.SaveCheckpoint().buckets == expected.SaveCheckpoint().buckets &&
           histogram.TotalWeight() == Approx(expected.TotalWeight()).epsilon(1e-12);
  }
};

}  // namespace

TEST_CASE("the window begins with the first sample and its peak counts at once",
          "[estimators][memory_peak]") {
  Container container;
  CHECK_FALSE(container.window.WindowEnd().has_value());
  CHECK_FALSE(container.window.LastSample().has_value());
  CHECK(container.window.Peak() == 0);
  CHECK(container.Add(kStart, 3e8));
  CHECK(container.window.WindowEnd() == kStart + 24h);
  CHECK(container.window.LastSample() == kStart);
  CHECK(container.window.Peak() == 3e8);
  CHECK(container.Holds({{3e8, kStart + 24h}}));
}

TEST_CASE("within a window only a higher peak takes the place of the old one",
          "[estimators][memory_peak]") {
  Container container;
  CHECK(container.Add(kStart, 3e8));
  CHECK(container.Add(kStart + 1h, 2e8));
  CHECK(container.window.Peak() == 3e8);
  CHECK(container.Add(kStart + 1h, 5e8));  // the same time again
  CHECK(container.window.Peak() == 5e8);
  CHECK(container.Holds({{5e8, kStart + 24h}}));
  CHECK_FALSE(container.Add(kStart + 59min, 9e8));
  CHECK(container.window.Peak() == 5e8);
  CHECK(container.window.LastSample() == kStart + 1h);
}

TEST_CASE("the end of a window belongs to the next one", "[estimators][memory_peak]") {
  Container container;
  CHECK(container.Add(kStart, 3e8));
  CHECK(container.Add(kStart + 24h, 1e8));
  CHECK(container.window.WindowEnd() == kStart + 48h);
  CHECK(container.window.Peak() == 1e8);
  CHECK(container.Holds({{3e8, kStart + 24h}, {1e8, kStart + 48h}}));
}

TEST_CASE("after a pause the windows go on in their old rhythm", "[estimators][memory_peak]") {
  Container container;
  CHECK(container.Add(kStart, 3e8));
  CHECK(container.Add(kStart + 24h * 5 + 7h, 1e8));
  CHECK(container.window.WindowEnd() == kStart + 24h * 6);
  CHECK(container.Holds({{3e8, kStart + 24h}, {1e8, kStart + 24h * 6}}));
}

TEST_CASE("a window that begins with 0 stays at 0 as VPA's does", "[estimators][memory_peak]") {
  Container container;
  container.window = MemoryPeakWindow(24h, WindowRule::kVpa);
  CHECK(container.Add(kStart, 0));
  CHECK(container.Add(kStart + 1h, 5e8));
  CHECK(container.window.Peak() == 0);
  CHECK(container.window.LastSample() == kStart + 1h);
  CHECK(container.Holds({{0, kStart + 24h}}));
}

TEST_CASE("memory that is negative or no number leaves everything as it was",
          "[estimators][memory_peak]") {
  Container container;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto refuse_all = [&](Time time) {
    for (const double bytes : {-1.0, std::nan(""), kInfinity, -kInfinity})
      CHECK_FALSE(container.Add(time, bytes));
  };
  refuse_all(kStart);
  CHECK_FALSE(container.window.LastSample().has_value());
  CHECK_FALSE(container.histogram.ReferenceTime().has_value());
  CHECK(container.Add(kStart, 3e8));
  refuse_all(kStart + 1h);
  refuse_all(kStart + 30h);
  CHECK(container.window.LastSample() == kStart);
  CHECK(container.window.WindowEnd() == kStart + 24h);
  CHECK(container.Holds({{3e8, kStart + 24h}}));
}

TEST_CASE("a window that would end after the end of time is refused", "[estimators][memory_peak]") {
  Container container;
  CHECK_FALSE(container.Add(Time::max(), 3e8));
  CHECK_FALSE(container.window.LastSample().has_value());
  CHECK(container.Add(Time::max() - 25h, 3e8));
  CHECK_FALSE(container.Add(Time::max() - 30min, 4e8));
  CHECK(container.window.LastSample() == Time::max() - 25h);
  CHECK(container.window.Peak() == 3e8);
}

TEST_CASE("the interval can be chosen", "[estimators][memory_peak]") {
  Container container;
  container.window = MemoryPeakWindow(1h);
  CHECK(container.Add(kStart, 3e8));
  CHECK(container.Add(kStart + 150min, 2e8));
  CHECK(container.window.WindowEnd() == kStart + 3h);
}
