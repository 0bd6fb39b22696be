// Estimators that were saved and restored are the same to the last bit, and refuse what is damaged.
#include <bit>
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
#include "tests/seed.h"

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

std::string FromHex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

DecayingHistogram Filled(uint32_t seed, int samples, Precision precision = Precision::kExact) {
  std::mt19937 random(seed);
  DecayingHistogram histogram(&kCpu, 24h, precision);
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
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  const Precision precision = GENERATE(Precision::kExact, Precision::kCompact);
  for (const int samples : {0, 1, 2, 10, 1000}) {
    for (uint32_t i = 0; i < 20; ++i) {
      DecayingHistogram histogram = Filled(seed + i, samples, precision);
      auto restored = Histogram(Saved(histogram));
      REQUIRE(restored);
      REQUIRE(Saved(*restored) == Saved(histogram));
      REQUIRE(restored->precision() == precision);
      REQUIRE(restored->ReferenceTime() == histogram.ReferenceTime());
      DecayingHistogram other = Filled(seed + i + 1, samples, precision);
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
  CHECK(Saved(histogram).size() <= 21 + 2 * 8 + 8);
  histogram.SetPrecision(Precision::kCompact);
  CHECK(Saved(histogram).size() <= 21 + 2 * 4 + 8);
}

TEST_CASE("histograms saved before there were precisions are read", "[estimators][state]") {
  // Written by revision 99582b7: 0.1 each of 0.2 and 0.21 cores (90 s later) and of 1.5 (36 h
  // later), and 0.00001 of 0.02, which is too little to be occupied.
  const std::string bytes = FromHex(
      "00c016010080d6821b1766894a3f5cdd3f012b0120000000044ea2198c03ece33e2683e2e7d953c83f510c917e2a"
      "32"
      "d13f0e2b");
  ByteReader in(bytes);
  const auto restored = DecayingHistogram::Restore(&kCpu, in, 1);
  REQUIRE(restored);
  CHECK(in.AtEnd());
  DecayingHistogram same(&kCpu, 24h);
  same.Add(0.2, 0.1, kStart);
  same.Add(0.21, 0.1, kStart + 90s);
  same.Add(1.5, 0.1, kStart + 36h);
  same.Add(0.02, 0.00001, kStart);
  CHECK(Saved(*restored) == Saved(same));
  CHECK(restored->precision() == Precision::kExact);
  CHECK(restored->Percentile(0.5) == 1.5114300559033911);
  CHECK(restored->MinBucket() == 14);
  CHECK(restored->TotalWeight() == 0.4587553241632078);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    REQUIRE_FALSE(DecayingHistogram::Restore(&kCpu, part, 1));
  }

  const std::string empty = FromHex("00c0160000000000000000000000af0100");
  ByteReader in_empty(empty);
  const auto nothing = DecayingHistogram::Restore(&kCpu, in_empty, 1);
  REQUIRE(nothing);
  CHECK(in_empty.AtEnd());
  CHECK(Saved(*nothing) == Saved(DecayingHistogram(&kCpu, 24h)));
}

TEST_CASE("formats that there are none of are refused", "[estimators][state]") {
  const std::string histogram = Saved(Filled(3, 200));
  const std::string window = Saved(MemoryPeakWindow());
  for (const int format : {-1, 0, 3}) {
    ByteReader in(histogram);
    CHECK_FALSE(DecayingHistogram::Restore(&kCpu, in, format));
    ByteReader in_window(window);
    CHECK_FALSE(MemoryPeakWindow::Restore(in_window, format));
  }
}

TEST_CASE("a damaged histogram is refused", "[estimators][state]") {
  for (const Precision precision : {Precision::kExact, Precision::kCompact}) {
    const std::string bytes = Saved(Filled(3, 200, precision));
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      REQUIRE_FALSE(Histogram(std::string_view(bytes).substr(0, cut)));
    }
  }
  const auto compact = [](double total, float weight, uint64_t least, uint64_t most) {
    const std::string written = Bytes([&](ByteWriter& out) {
      out.Byte(1);
      SaveDuration(out, 24h);
      out.Bool(false);
      out.Double(total);
      out.Varint(10);
      out.Varint(2);
      out.Byte(1);
      out.Fixed32(std::bit_cast<uint32_t>(weight));
      out.Varint(least);
      out.Varint(most);
    });
    return Histogram(written).has_value();
  };
  CHECK(compact(1, 1, 10, 10));
  CHECK(compact(1, 1e-35F, 10, 10));  // what it was when it was looked at
  CHECK_FALSE(compact(1.1e30, 1, 10, 10));
  CHECK_FALSE(compact(1, 1.1e30F, 10, 10));
  CHECK_FALSE(compact(1, 0, 10, 10));
  CHECK_FALSE(compact(1, -1, 10, 10));
  CHECK_FALSE(compact(1, std::numeric_limits<float>::quiet_NaN(), 10, 10));
  CHECK_FALSE(compact(1, 1, 11, 11));
  CHECK_FALSE(compact(1, 1, 10, 11));
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
  CHECK(refused([](ByteWriter& out) { out.Byte(2); }));  // no precision
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
  const bool as_vpa = GENERATE(false, true);
  std::mt19937 random(5);
  DecayingHistogram histogram(&memory, 24h);
  MemoryPeakWindow window(12h, as_vpa ? WindowRule::kVpa : WindowRule::kMended);
  const KillPolicy policy{.as_vpa = as_vpa};
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = Saved(window);
    ByteReader in(bytes);
    auto restored = MemoryPeakWindow::Restore(in);
    REQUIRE(restored);
    REQUIRE(in.AtEnd());
    REQUIRE(restored->rule() == window.rule());
    REQUIRE(restored->interval() == 12h);
    REQUIRE(restored->KillPeak() == window.KillPeak());
    DecayingHistogram twin = histogram;
    const Time time = kStart + i * 3min;
    const auto used = static_cast<double>(random() % 1'000'000'000);
    if (i % 7 == 0) {
      const Time killed = time + std::chrono::minutes(static_cast<int>(random() % 3000) - 2000);
      REQUIRE(window.AddKill(histogram, killed, used, policy) ==
              restored->AddKill(twin, killed, used, policy));
    } else {
      REQUIRE(window.AddSample(histogram, time, used) == restored->AddSample(twin, time, used));
    }
    REQUIRE(Saved(*restored) == Saved(window));
    REQUIRE(Saved(twin) == Saved(histogram));
  }
  const std::string bytes = Saved(window);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    REQUIRE_FALSE(MemoryPeakWindow::Restore(part));
  }
}

TEST_CASE("damaged peak windows are refused", "[estimators][state]") {
  const auto refused = [](std::chrono::nanoseconds interval, uint8_t flags, Time last, Time end,
                          double peak, double kill_peak) {
    const std::string written = Bytes([&](ByteWriter& out) {
      SaveDuration(out, interval);
      out.Byte(flags);
      if ((flags & 2) != 0) SaveTime(out, last);
      if ((flags & 1) == 0) return;
      SaveTime(out, end);
      out.Double(peak);
      out.Double(kill_peak);
    });
    ByteReader in(written);
    return !MemoryPeakWindow::Restore(in);
  };
  for (const uint8_t flags : std::initializer_list<uint8_t>{0, 1, 3, 4, 5, 7}) {
    CHECK_FALSE(refused(24h, flags, kStart, kStart + 1h, 5, 6));
    CHECK(refused(0h, flags, kStart, kStart + 1h, 5, 6));
  }
  CHECK(refused(24h, 2, kStart, kStart + 1h, 5, 6));  // a sample and no window
  CHECK(refused(24h, 8, kStart, kStart + 1h, 5, 6));
  CHECK(refused(24h, 7, kStart, kStart, 5, 6));
  for (const double bad :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(refused(24h, 7, kStart, kStart + 1h, bad, 6));
    CHECK(refused(24h, 7, kStart, kStart + 1h, 5, bad));
  }
}

TEST_CASE("peak windows saved before there were kills are read", "[estimators][state]") {
  // Written by revision 99582b7: 3e8 bytes, and 4e8 a millisecond later.
  const std::string bytes = FromHex("00c016010282a0abfef96201808aaad50c0000000084d7b741");
  ByteReader in(bytes);
  const auto restored = MemoryPeakWindow::Restore(in, 1);
  REQUIRE(restored);
  CHECK(in.AtEnd());
  CHECK(restored->interval() == 24h);
  CHECK(restored->WindowEnd() == kStart + 24h);
  CHECK(restored->LastSample() == kStart + 1ms);
  CHECK(restored->Peak() == 4e8);
  CHECK(restored->KillPeak() == 0);
  CHECK(restored->rule() == WindowRule::kMended);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    REQUIRE_FALSE(MemoryPeakWindow::Restore(part, 1));
  }
  const std::string fresh = FromHex("00c01600");
  ByteReader in_fresh(fresh);
  const auto none = MemoryPeakWindow::Restore(in_fresh, 1);
  REQUIRE(none);
  CHECK_FALSE(none->WindowEnd());
  CHECK_FALSE(none->LastSample());
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
