// Estimators that were saved and restored are the same to the last bit, and refuse what is damaged.
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "estimators/confidence.h"
#include "estimators/decaying_histogram.h"
#include "estimators/memory_peak_window.h"
#include "estimators/time_codec.h"
#include "tests/catch.h"

using namespace tidemark;
using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
const HistogramOptions kCpu = HistogramOptions::Cpu();

template <class T>
std::string Saved(const T& what) {
  std::string bytes;
  ByteWriter out(bytes);
  what.Save(out);
  return bytes;
}

Result<DecayingHistogram> Histogram(std::string_view bytes) {
  ByteReader in(bytes);
  auto histogram = DecayingHistogram::Restore(&kCpu, in);
  if (histogram && !in.AtEnd()) return Fail(ErrorCode::kInternal, "bytes are left");
  return histogram;
}

/// A histogram's bytes, part by part.
std::string Bytes(const std::function<void(ByteWriter&)>& write) {
  std::string bytes;
  ByteWriter out(bytes);
  write(out);
  return bytes;
}

DecayingHistogram Filled(uint32_t seed, int samples) {
  std::mt19937 random(seed);
  DecayingHistogram histogram(&kCpu, 24h);
  for (int i = 0; i < samples; ++i) {
    const double value = std::lognormal_distribution<double>(-1, 2)(random);
    const Time time =
        kStart + std::chrono::minutes(random() % 500'000) + std::chrono::nanoseconds(random() % 3);
    if (random() % 4 == 0) {
      histogram.Subtract(value, 0.1, time);
    } else {
      histogram.Add(value, 0.1, time);
    }
  }
  return histogram;
}

}  // namespace

TEST_CASE("a restored histogram answers and goes on to the last bit", "[estimators][state]") {
  const uint32_t seed = std::random_device{}();
  INFO("seed " << seed);
  for (const int samples : {0, 1, 2, 10, 1000}) {
    for (uint32_t i = 0; i < 20; ++i) {
      DecayingHistogram histogram = Filled(seed + i, samples);
      auto restored = Histogram(Saved(histogram));
      REQUIRE(restored);
      REQUIRE(Saved(*restored) == Saved(histogram));
      REQUIRE(restored->ReferenceTime() == histogram.ReferenceTime());
      DecayingHistogram other = Filled(seed + i + 1, samples);
      DecayingHistogram same = other;
      for (int step = 0; step < 50; ++step) {
        const Time time = kStart + std::chrono::minutes(step * 20'000);
        REQUIRE(histogram.Add(0.01 * step, 0.1, time) == restored->Add(0.01 * step, 0.1, time));
        REQUIRE(histogram.Percentile(0.9) == restored->Percentile(0.9));
      }
      REQUIRE(histogram.Merge(other));
      REQUIRE(restored->Merge(same));
      REQUIRE(Saved(*restored) == Saved(histogram));
    }
  }
}

TEST_CASE("a histogram takes few bytes", "[estimators][state]") {
  DecayingHistogram histogram(&kCpu, 24h);
  CHECK(Saved(histogram).size() <= 20);
  for (int i = 0; i < 1000; ++i) histogram.Add(i % 2 == 0 ? 0.1 : 2, 0.1, kStart + i * 1min);
  // Two buckets of 8 bytes and a bit for each between them.
  CHECK(Saved(histogram).size() <= 20 + 2 * 8 + 8);
}

TEST_CASE("a damaged histogram is refused", "[estimators][state]") {
  DecayingHistogram histogram = Filled(3, 200);
  const std::string bytes = Saved(histogram);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    REQUIRE_FALSE(Histogram(std::string_view(bytes).substr(0, cut)));
  }
  const auto refused = [](const std::function<void(ByteWriter&)>& write) {
    const auto restored = Histogram(Bytes(write));
    return !restored && restored.error().code == ErrorCode::kInvalidArgument &&
           restored.error().message.starts_with("saved histogram: ");
  };
  const auto with = [](std::chrono::nanoseconds half_life, double total, uint64_t first,
                       uint64_t size, uint8_t heavy, double weight, uint64_t least, uint64_t most) {
    return [=](ByteWriter& out) {
      out.Byte(0);
      SaveDuration(out, half_life);
      out.Bool(false);
      out.Double(total);
      out.Varint(first);
      out.Varint(size);
      out.Byte(heavy);
      out.Double(weight);
      out.Varint(least);
      out.Varint(most);
    };
  };
  CHECK_FALSE(refused(with(24h, 1, 10, 2, 1, 1, 10, 10)));
  CHECK(refused(with(0h, 1, 10, 2, 1, 1, 10, 10)));
  CHECK(refused(with(-24h, 1, 10, 2, 1, 1, 10, 10)));
  for (const double bad : {-1.0, 1e201, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(refused(with(24h, bad, 10, 2, 1, 1, 10, 10)));
    CHECK(refused(with(24h, 1, 10, 2, 1, bad, 10, 10)));
  }
  CHECK(refused(with(24h, 1, 10, 2, 1, 0, 10, 10)));     // a weight that should not be there
  CHECK(refused(with(24h, 1, 175, 2, 1, 1, 175, 175)));  // beyond the layout
  CHECK(refused(with(24h, 1, 1ULL << 40, 2, 1, 1, 10, 10)));
  CHECK(refused(with(24h, 1, 10, 1ULL << 40, 1, 1, 10, 10)));
  CHECK(refused(with(24h, 1, 10, 2, 1, 1, 11, 11)));  // not occupied
  CHECK(refused(with(24h, 1, 10, 2, 1, 1, 10, 11)));
  CHECK(refused(with(24h, 1, 10, 2, 1, 1, 11, 10)));
  CHECK(refused(with(24h, 1, 10, 2, 1, 1, 10, 200)));
}

TEST_CASE("a new half-life holds from a time on", "[estimators][state]") {
  DecayingHistogram histogram(&kCpu, 24h);
  const Time end = kStart + 1440min;
  for (int i = 0; i <= 1440; ++i) histogram.Add(i < 720 ? 0.2 : 0.4, 0.1, kStart + i * 1min);
  DecayingHistogram changed = histogram;
  REQUIRE(changed.ChangeHalfLife(6h, end));
  CHECK(changed.half_life() == 6h);
  for (const double p : {0.1, 0.4, 0.5, 0.6, 0.9}) {
    CHECK(changed.Percentile(p) == histogram.Percentile(p));
  }
  // What is there weighs as much against a sample of `end` as it did before.
  const double before = histogram.TotalWeight();
  const double after = changed.TotalWeight();
  DecayingHistogram one = histogram;
  one.Add(1, 0.1, end);
  DecayingHistogram another = changed;
  another.Add(1, 0.1, end);
  CHECK((one.TotalWeight() - before) / before == Approx((another.TotalWeight() - after) / after));
  // A day later only a sixteenth of it counts, where with the old one it would be half.
  DecayingHistogram old_day = histogram;
  old_day.Add(1, 0.1, end + 24h);
  DecayingHistogram new_day = changed;
  new_day.Add(1, 0.1, end + 24h);
  CHECK((old_day.TotalWeight() - before) / before ==
        Approx(2 * (one.TotalWeight() - before) / before));
  CHECK((new_day.TotalWeight() - after) / after ==
        Approx(16 * (one.TotalWeight() - before) / before));
  // It can be merged with one that never knew another half-life.
  DecayingHistogram fresh(&kCpu, 6h);
  fresh.Add(3, 0.1, end + 1min);
  REQUIRE(changed.Merge(fresh));

  DecayingHistogram untouched = histogram;
  REQUIRE(untouched.ChangeHalfLife(24h, end));
  CHECK(Saved(untouched) == Saved(histogram));
  CHECK_FALSE(untouched.ChangeHalfLife(0h, end));
  CHECK_FALSE(untouched.ChangeHalfLife(1ns, Time::min()));  // weights would not be finite
  CHECK(Saved(untouched) == Saved(histogram));
  DecayingHistogram empty(&kCpu, 24h);
  REQUIRE(empty.ChangeHalfLife(6h, end));
  CHECK(empty.half_life() == 6h);
  CHECK_FALSE(empty.ReferenceTime());
}

TEST_CASE("a span of samples survives, a damaged one is refused", "[estimators][state]") {
  SampleSpan span;
  for (const Time time : {Time{}, Time{}, kStart + 1ns, Time::max(), kStart - 5min}) {
    const std::string bytes = Saved(span);
    ByteReader in(bytes);
    const auto restored = SampleSpan::Restore(in);
    REQUIRE(restored);
    CHECK(in.AtEnd());
    CHECK(restored->Count() == span.Count());
    CHECK(restored->First() == span.First());
    CHECK(restored->Last() == span.Last());
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      ByteReader part(std::string_view(bytes).substr(0, cut));
      REQUIRE_FALSE(SampleSpan::Restore(part));
    }
    span.Record(time);
  }
  const std::string backwards = Bytes([](ByteWriter& out) {
    out.Varint(2);
    SaveTime(out, kStart);
    SaveDuration(out, -1min);
  });
  ByteReader in(backwards);
  CHECK_FALSE(SampleSpan::Restore(in));
  const std::string too_long = Bytes([](ByteWriter& out) {
    out.Varint(2);
    SaveTime(out, Time::min() + 1h);
    SaveDuration(out, 2h);
  });
  ByteReader more(too_long);
  CHECK_FALSE(SampleSpan::Restore(more));
}

TEST_CASE("a restored peak window goes on as the saved one", "[estimators][state]") {
  const HistogramOptions memory = HistogramOptions::Memory();
  std::mt19937 random(5);
  DecayingHistogram histogram(&memory, 24h);
  MemoryPeakWindow window;
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = Saved(window);
    ByteReader in(bytes);
    auto restored = MemoryPeakWindow::Restore(in);
    REQUIRE(restored);
    REQUIRE(in.AtEnd());
    DecayingHistogram twin = histogram;
    const Time time = kStart + i * 3min;
    const auto used = static_cast<double>(random() % 1'000'000'000);
    REQUIRE(window.AddSample(histogram, time, used) == restored->AddSample(twin, time, used));
    REQUIRE(Saved(*restored) == Saved(window));
    REQUIRE(Saved(twin) == Saved(histogram));
  }
  const std::string bytes = Saved(window);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    REQUIRE_FALSE(MemoryPeakWindow::Restore(part));
  }
  const auto refused = [](std::chrono::nanoseconds interval, Time last, Time end, double peak) {
    const std::string written = Bytes([&](ByteWriter& out) {
      SaveDuration(out, interval);
      out.Byte(3);
      SaveTime(out, last);
      SaveTime(out, end);
      out.Double(5);
      out.Double(peak);
    });
    ByteReader in(written);
    return !MemoryPeakWindow::Restore(in);
  };
  CHECK_FALSE(refused(24h, kStart, kStart + 1h, 5));
  CHECK(refused(0h, kStart, kStart + 1h, 5));
  CHECK(refused(24h, kStart, kStart, 5));
  CHECK(refused(24h, kStart, kStart + 1h, -1));
  CHECK(refused(24h, kStart, kStart + 1h, std::numeric_limits<double>::infinity()));
}

TEST_CASE("every time survives as bytes, and what does not fit is refused", "[estimators][state]") {
  for (const Time time : {Time::min(), Time::max(), Time{}, kStart, kStart + 1ns, kStart + 1ms,
                          Time(std::chrono::minutes(-3))}) {
    const std::string bytes = Bytes([&](ByteWriter& out) { SaveTime(out, time); });
    ByteReader in(bytes);
    CHECK(RestoreTime(in) == time);
    CHECK(in.AtEnd());
  }
  CHECK(Bytes([](ByteWriter& out) {
          SaveTime(out, Time(std::chrono::minutes(28'333'334)));
        }).size() <= 5);
  for (const int unit : {0, 1, 2, 3, 4, 255}) {
    const std::string bytes = Bytes([&](ByteWriter& out) {
      out.Byte(static_cast<uint8_t>(unit));
      out.Signed(std::numeric_limits<int64_t>::max());
    });
    ByteReader in(bytes);
    RestoreTime(in);
    CHECK(in.failed() == (unit != 3));
  }
}
