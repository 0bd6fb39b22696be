// Minutes of pods → minutes of their workload, without a namespace around them.
#include "workloads/demand_sum.h"

#include <functional>
#include <limits>

#include "tests/catch.h"
#include "workloads/saved_text.h"

using namespace tidemark;
using workloads::DemandMinute;
using workloads::DemandSum;
using workloads::Headroom;
using workloads::kMinuteMs;
using workloads::kNever;
using workloads::PodDemand;

namespace {

constexpr int64_t kT0 = 1'700'000'040'000;
using Lines = std::vector<std::string>;

workloads::UsageMinute At(int minute, double usage) { return {kT0 + minute * kMinuteMs, usage}; }
int64_t EndOf(int minute) { return kT0 + (minute + 1) * kMinuteMs; }

/// "minute demand pods" of each, minutes counted from kT0.
Lines Text(const std::vector<DemandMinute>& minutes) {
  Lines text;
  for (const DemandMinute& minute : minutes) {
    text.push_back(std::to_string((minute.start_ms - kT0) / kMinuteMs) + " " +
                   std::to_string(static_cast<int>(minute.demand)) + " " +
                   std::to_string(minute.pods));
  }
  return text;
}
Lines Closed(DemandSum& sum, int64_t until_ms) {
  std::vector<DemandMinute> out;
  sum.Close(until_ms, out);
  return Text(out);
}

}  // namespace

TEST_CASE("minutes of pods are summed, and given once and in order", "[workloads][demand]") {
  DemandSum sum;
  CHECK(Closed(sum, EndOf(-10)).empty());
  CHECK(sum.Add(At(1, 10), false));
  CHECK(sum.Add(At(0, 1), false));
  CHECK(sum.Add(At(1, 20), false));
  CHECK(sum.Add(At(2, 5), false));
  CHECK(Closed(sum, EndOf(0) - 1).empty());
  CHECK(Closed(sum, EndOf(1)) == Lines{"0 1 1", "1 30 2"});
  CHECK(sum.given_until_ms() == EndOf(1));
  CHECK_FALSE(sum.Add(At(1, 100), false));
  CHECK(sum.HasOpen());
  CHECK(sum.OpenUntilMs() == EndOf(2));
  sum.DropOpen();
  CHECK(Closed(sum, EndOf(5)).empty());
  CHECK(sum.OpenUntilMs() == kNever);
}

TEST_CASE("a young pod counts for no more than the mean of the others", "[workloads][demand]") {
  DemandSum sum;
  sum.Add(At(0, 100), true);
  sum.Add(At(0, 2), false);
  sum.Add(At(0, 6), false);
  sum.Add(At(0, 3), true);
  CHECK(Closed(sum, EndOf(0)) == Lines{"0 15 4"});  // 8 + the mean of 4 + 3
  sum.Add(At(1, 100), true);
  sum.Add(At(1, 7), true);
  CHECK(Closed(sum, EndOf(1)) == Lines{"1 107 2"});  // nothing says what would be too much
}

TEST_CASE("a minute in which more than a tenth of the pods are missing is left out",
          "[workloads][demand]") {
  DemandSum sum;
  for (int pod = 0; pod < 18; ++pod) {
    sum.Add(At(0, 1), false);
    sum.Add(At(1, 1), pod % 2 == 0);
  }
  sum.AddMissing(At(0, 0).start_ms);
  sum.AddMissing(At(0, 0).start_ms);  // two of twenty
  for (int i = 0; i < 3; ++i) sum.AddMissing(At(1, 0).start_ms);
  sum.AddMissing(At(2, 0).start_ms);  // nothing but missing ones
  CHECK(Closed(sum, EndOf(9)) == Lines{"0 18 18"});
  sum.AddMissing(At(1, 0).start_ms);
  CHECK_FALSE(sum.HasOpen());  // closed already
}

TEST_CASE("a minute that is left out is not given, whatever comes", "[workloads][demand]") {
  DemandSum sum;
  sum.Add(At(0, 1), false);
  sum.LeaveOut(At(0, 0).start_ms);
  sum.Add(At(0, 1), false);
  sum.Add(At(1, 1), false);
  CHECK(Closed(sum, EndOf(1)) == Lines{"1 1 1"});
}

TEST_CASE("a sum that is no number is left out", "[workloads][demand]") {
  DemandSum sum;
  sum.Add(At(0, std::numeric_limits<double>::max()), false);
  sum.Add(At(0, std::numeric_limits<double>::max()), false);
  sum.Add(At(1, 1), false);
  CHECK(Closed(sum, EndOf(1)) == Lines{"1 1 1"});
}

TEST_CASE("the slowest pod is known from how many stand where", "[workloads][demand]") {
  DemandSum sum;
  CHECK(sum.SlowestMs() == kNever);
  sum.Enter(EndOf(1));
  sum.Enter(EndOf(1));
  sum.Enter(EndOf(3));
  CHECK(sum.SlowestMs() == EndOf(1));
  CHECK(sum.FastestMs() == EndOf(3));
  CHECK_FALSE(sum.Move(EndOf(1), EndOf(4)));
  CHECK(sum.Move(EndOf(1), EndOf(2)));
  CHECK(sum.SlowestMs() == EndOf(2));
  CHECK(sum.FastestMs() == EndOf(4));
  CHECK_FALSE(sum.Leave(EndOf(4)));
  CHECK_FALSE(sum.Leave(EndOf(9)));
  CHECK(sum.Leave(EndOf(2)));
  CHECK(sum.Leave(EndOf(3)));
  CHECK(sum.SlowestMs() == kNever);
}

TEST_CASE("a pod's minute is the sum of its containers'", "[workloads][demand]") {
  PodDemand pod;
  pod.Add(At(1, 1));
  pod.Add(At(0, 2));
  pod.Add(At(1, 3));
  REQUIRE(pod.open.size() == 2);
  CHECK(pod.open[0].usage == 2);
  CHECK(pod.open[1].usage == 4);
  pod.passed_ms = EndOf(0);
  pod.DropBefore(EndOf(0));
  pod.Add(At(0, 5));  // late
  CHECK(pod.open.size() == 1);
}

TEST_CASE("demand is censored when half of the pods of which it is known are held back",
          "[workloads][demand]") {
  const auto censored = [](int held_back, int free, int unknown, int disregarded) {
    DemandSum sum;
    const auto add = [&sum](int pods, Headroom headroom) {
      for (int pod = 0; pod < pods; ++pod) sum.Add(At(0, 1), false, headroom);
    };
    add(held_back, Headroom::kNone);
    add(free, Headroom::kSome);
    add(unknown, Headroom::kUnknown);
    add(disregarded, Headroom::kDisregard);
    std::vector<DemandMinute> minutes;
    sum.Close(EndOf(0), minutes);
    REQUIRE(minutes.size() == 1);
    return minutes[0].is_censored;
  };
  CHECK(censored(1, 0, 0, 0));
  CHECK(censored(2, 2, 0, 0));
  CHECK_FALSE(censored(2, 3, 0, 0));
  CHECK_FALSE(censored(0, 0, 0, 5));
  CHECK_FALSE(censored(0, 0, 5, 0));
  CHECK(censored(1, 1, 2, 9));
  CHECK_FALSE(censored(1, 1, 3, 0));
}

TEST_CASE("demand that was saved before limits were minded restores", "[workloads][demand]") {
  std::string bytes;
  ByteWriter out(bytes);
  workloads::SaveMs(out, kT0, kT0);
  out.Varint(1);
  workloads::SaveMs(out, kT0, kT0);
  out.Double(2.5);
  out.Varint(20);  // pods
  out.Varint(2);   // missing
  out.Bool(false);
  out.Varint(1);
  out.Double(0.5);
  ByteReader in(bytes);
  auto restored = DemandSum::Restore(in, kT0, false);
  REQUIRE(restored);
  CHECK(in.AtEnd());
  std::vector<DemandMinute> minutes;
  restored->Close(EndOf(0), minutes);
  REQUIRE(minutes.size() == 1);
  CHECK(minutes[0].pods == 21);
  CHECK(minutes[0].missing == 2);
  CHECK_FALSE(minutes[0].is_censored);
}

TEST_CASE("saved demand is the same, and a cut one none", "[workloads][demand]") {
  DemandSum sum(kT0);
  sum.Add(At(0, 1), false);
  Closed(sum, EndOf(0));
  sum.Add(At(1, 0.1), false, Headroom::kNone);
  sum.Add(At(1, 0.2), true);
  sum.Add(At(3, 7), true);
  sum.AddMissing(At(3, 0).start_ms);
  sum.LeaveOut(At(4, 0).start_ms);
  std::string bytes;
  ByteWriter writer(bytes);
  sum.Save(writer, kT0);
  ByteReader reader(bytes);
  auto restored = DemandSum::Restore(reader, kT0);
  REQUIRE(restored);
  CHECK(reader.AtEnd());
  std::string again;
  ByteWriter second(again);
  restored->Save(second, kT0);
  CHECK(again == bytes);
  CHECK_FALSE(restored->Add(At(0, 1), false));
  CHECK(Closed(*restored, EndOf(9)) == Closed(sum, EndOf(9)));
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    CHECK_FALSE(DemandSum::Restore(part, kT0));
  }

  PodDemand pod;
  pod.state = PodDemand::State::kWaited;
  pod.passed_ms = EndOf(1);
  pod.last_count_ms = kT0;
  pod.Add(At(2, 1));
  pod.Add(At(4, 2));
  std::string pod_bytes;
  ByteWriter pod_writer(pod_bytes);
  pod.Save(pod_writer, kT0);
  ByteReader pod_reader(pod_bytes);
  CHECK(pod_reader.Byte() == static_cast<uint8_t>(PodDemand::State::kWaited));
  PodDemand other;
  REQUIRE(other.Restore(pod_reader, kT0));
  CHECK(pod_reader.AtEnd());
  CHECK(other.passed_ms == pod.passed_ms);
  CHECK(other.last_count_ms == pod.last_count_ms);
  REQUIRE(other.open.size() == 2);
  CHECK(other.open[1].usage == 2);
  for (size_t cut = 1; cut < pod_bytes.size(); ++cut) {
    ByteReader part(std::string_view(pod_bytes).substr(1, cut - 1));
    PodDemand none;
    CHECK_FALSE(none.Restore(part, kT0));
  }
}

TEST_CASE("demand that nothing can have saved does not restore", "[workloads][demand]") {
  const auto restores = [](const std::function<void(ByteWriter&)>& write) {
    std::string bytes;
    ByteWriter out(bytes);
    write(out);
    ByteReader in(bytes);
    return DemandSum::Restore(in, 0).has_value();
  };
  const auto minute = [](ByteWriter& out, int64_t start_ms, uint64_t pods) {
    workloads::SaveMs(out, start_ms, 0);
    out.Double(1);
    out.Varint(pods);
    out.Varint(0);
    for (int headroom = 0; headroom < 3; ++headroom) out.Varint(0);
    out.Bool(false);
    out.Varint(0);
  };
  const auto sum_of = [&](const std::vector<int64_t>& starts, uint64_t pods = 1) {
    return restores([&](ByteWriter& out) {
      out.Varint(0);
      out.Varint(starts.size());
      for (const int64_t start_ms : starts) minute(out, start_ms, pods);
    });
  };
  CHECK(sum_of({kT0, kT0 + kMinuteMs}));
  CHECK_FALSE(sum_of({kT0 + 1}));                 // no minute
  CHECK_FALSE(sum_of({kT0, kT0}));                // twice
  CHECK_FALSE(sum_of({kT0}, uint64_t{1} << 32));  // more pods than there can be
}
