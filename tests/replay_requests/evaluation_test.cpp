// What a request costs and risks, worked out by hand.

#include "cmd/replay_requests/evaluation.h"

#include "tests/catch.h"
#include "tests/replay_requests/replay_fixture.h"

namespace tidemark::replay_requests {
namespace {

using Kills = std::vector<ScriptedPolicy::Kill>;

/// A warm-up of two steps of five minutes, then a request every two steps.
constexpr ReplayTimes kTimes{.interval_ms = 10 * kMinute, .warm_up_ms = 10 * kMinute};

}  // namespace

TEST_CASE("Slack, breach, depth, episodes and changes are those of the definitions", "[replay]") {
  const Trace trace = TraceOf({Pod("a", {9, 9, 1, 3, 3, 1, 1, 1})});
  ScriptedPolicy policy({{2.0, 2.0}, {2.1, 4.0}, {4.0, 4.1}});
  const auto [cpu, memory] = Evaluate(trace, policy, kTimes);
  // Requests of CPU by sample: 2 2 2.1 2.1 4 4; use 1 3 3 1 1 1.
  CHECK(cpu.samples == 6);
  CHECK(cpu.used == Approx(10));
  CHECK(cpu.requested == Approx(16.2));
  CHECK(cpu.Slack().value() == Approx(0.62));
  CHECK(cpu.breaches == 2);
  CHECK(cpu.BreachRatio() == Approx(2.0 / 6));
  CHECK(cpu.Depth() == Approx((0.5 + 0.9 / 2.1) / 2));
  CHECK(cpu.episodes == 1);  // across a change of the request it is one
  CHECK(cpu.changes == 1);   // 2 to 2.1 is none
  CHECK(cpu.MeanRequest().value() == Approx(8.1 / 3));
  CHECK(cpu.LastRequest().value() == Approx(4.0));
  CHECK(cpu.pod_days == Approx(30.0 / (24 * 60)));
  CHECK(memory.breaches == 1);
  CHECK(memory.changes == 1);  // 2 to 4; 4 to 4.1 is none
  CHECK(memory.EpisodesPerPodDay() == Approx(24 * 60 / 30.0));
}

TEST_CASE("A policy has seen every step before the one from which its request holds", "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 1, 1, 1, 1, 1, 1})});
  ScriptedPolicy policy({{2.0, 2.0}, {2.0, 2.0}, {2.0, 2.0}});
  const auto outcome = Evaluate(trace, policy, kTimes);
  CHECK(policy.asked ==
        std::vector<int64_t>{kStart + 10 * kMinute, kStart + 20 * kMinute, kStart + 30 * kMinute});
  CHECK(policy.seen_when_asked == std::vector<size_t>{2, 4, 6});
  CHECK(policy.seen == 7);
  CHECK(outcome[0].samples == 5);  // the last interval is cut
}

TEST_CASE("A kill is told once an episode, after all samples of its step", "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 1, 3, 3, 1, 3}), Pod("b", {1, 1, 1, 3, 3, 3})});
  ScriptedPolicy policy({{9.0, 2.0}, {9.0, 2.5}});
  const auto outcome = Evaluate(trace, policy, kTimes);
  const Kills expected = {{0, kStart + 10 * kMinute, 2.0, 3},
                          {1, kStart + 15 * kMinute, 2.0, 4},
                          {0, kStart + 25 * kMinute, 2.5, 6}};
  CHECK(policy.kills == expected);
  CHECK(outcome[1].episodes == 3);
  CHECK(outcome[0].episodes == 0);
}

TEST_CASE("Factors count before a request holds, and kills are of those requests", "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 1, 3, 3})});
  ScriptedPolicy policy({{1.0, 1.0}});
  const auto [cpu, memory] = Evaluate(trace, policy, kTimes, {4, 2});
  CHECK(cpu.breaches == 0);
  CHECK(cpu.requested == Approx(8));
  CHECK(memory.breaches == 2);
  CHECK(policy.kills == Kills{{0, kStart + 10 * kMinute, 2.0, 3}});
}

TEST_CASE("Samples that are not there count for nothing and end an episode", "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 1, 3, kAbsent, 3, 1})});
  ScriptedPolicy policy({{2.0, 2.0}, {2.0, 2.0}});
  const auto outcome = Evaluate(trace, policy, kTimes);
  CHECK(outcome[0].samples == 3);
  CHECK(outcome[0].episodes == 2);
  CHECK(outcome[0].used == Approx(7));
}

TEST_CASE("A policy that says nothing is not judged, and one that falls silent keeps its word",
          "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 1, 1, 1, 1, 1, 1, 1})});
  ScriptedPolicy policy({{std::nullopt, 2.0}, {3.0, std::nullopt}, {std::nullopt, 2.0}});
  const auto [cpu, memory] = Evaluate(trace, policy, kTimes);
  CHECK(cpu.unadvised == 2);
  CHECK(cpu.samples == 4);
  CHECK(cpu.requested == Approx(12));
  CHECK(memory.unadvised == 0);
  CHECK(memory.requested == Approx(12));
  CHECK(cpu.changes == 0);
}

TEST_CASE("Nothing used has no slack, and no request has no depth", "[replay]") {
  const Trace idle = TraceOf({Pod("a", {0, 0, 0, 0})});
  ScriptedPolicy some({{1.0, 1.0}});
  CHECK_FALSE(Evaluate(idle, some, kTimes)[0].Slack().has_value());
  const Trace busy = TraceOf({Pod("a", {1, 1, 1, 1, 1, 1})});
  ScriptedPolicy none({{0.0, 0.0}, {1.0, 1.0}});
  const auto outcome = Evaluate(busy, none, kTimes);
  CHECK(outcome[0].breaches == 2);
  CHECK(outcome[0].Depth() == 0);
  CHECK(outcome[0].changes == 1);
  CHECK(outcome[0].Slack().value() == Approx(-0.5));
}

TEST_CASE("An interval that is no multiple of the step, and a trace that is too short, are refused",
          "[replay]") {
  const Trace trace = TraceOf({Pod("a", {1, 1, 1, 1})});
  CHECK(CheckTimes(trace, kTimes));
  const auto odd = CheckTimes(trace, {.interval_ms = 7 * kMinute, .warm_up_ms = 10 * kMinute});
  REQUIRE_FALSE(odd);
  CHECK(odd.error().message ==
        "trace: an interval of 7m is not made of its steps of 5m, allowed: multiples of the step");
  const auto early = CheckTimes(trace, {.interval_ms = 5 * kMinute, .warm_up_ms = 20 * kMinute});
  REQUIRE_FALSE(early);
  CHECK(early.error().message ==
        "trace: it is over after 20m, within the warm-up of 20m, allowed: a shorter warm-up");
}

}  // namespace tidemark::replay_requests
