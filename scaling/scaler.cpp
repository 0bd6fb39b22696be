#include "scaling/scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "scaling/replica_decision.h"

namespace tidemark::scaling {
namespace {

constexpr uint8_t kFormat = 1;
constexpr int64_t kMostMinute = int64_t{1} << 40;  // beyond every time there is

Result<void> Refuse(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

PolicyInput InputOf(const ScalingMinute& minute) {
  return {.minute = minute.minute,
          .demand = minute.demand,
          .base = minute.base,
          .replicas = minute.replicas,
          .bounds = minute.bounds,
          .lead_minutes = minute.lead_minutes};
}

/// Pods without usage: with 0 in `answer`, where that asks for more replicas it holds. Else they
/// may have used all they request, and only a decrease that holds even so is one.
PolicyAnswer WithMissingPods(const PolicyAnswer& answer, const ReplicaPolicy& policy,
                             const PolicyInput& input, uint32_t missing,
                             const DemandForecast& forecast) {
  const int32_t held = std::clamp(input.replicas, input.bounds.min, input.bounds.max);
  if (answer.replicas >= held) return answer;
  PolicyInput busy = input;
  busy.demand += missing * input.base;
  PolicyAnswer careful = policy.Consider(busy, forecast);
  if (careful.replicas >= held) {
    careful.replicas = held;
    careful.reason = DecisionReason::kMissingPods;
  }
  return careful;
}

void SaveRatio(ByteWriter& out, std::optional<double> ratio) {
  out.Bool(ratio.has_value());
  if (ratio) out.Double(*ratio);
}

double RestoreNumber(ByteReader& in) {
  const double number = in.Double();
  if (!std::isfinite(number) || number < 0) in.Fail();
  return number;
}

std::optional<double> RestoreRatio(ByteReader& in) {
  if (!in.Bool()) return std::nullopt;
  return RestoreNumber(in);
}

int32_t RestoreReplicas(ByteReader& in) {
  const uint64_t replicas = in.Varint();
  if (replicas > static_cast<uint64_t>(kMaxReplicas)) in.Fail();
  return in.failed() ? 0 : static_cast<int32_t>(replicas);
}

void SaveDecision(ByteWriter& out, const ReplicaDecision& decision) {
  out.Varint(static_cast<uint64_t>(decision.target));
  out.Varint(static_cast<uint64_t>(decision.recommended));
  out.Byte(static_cast<uint8_t>(decision.reason));
  out.Byte(static_cast<uint8_t>(decision.mode));
  out.Double(decision.load_ratio);
  SaveRatio(out, decision.forecast_load_ratio);
  SaveRatio(out, decision.high_water_load_ratio);
  out.Double(decision.target_utilization_ratio);
}

ReplicaDecision RestoreDecision(ByteReader& in) {
  ReplicaDecision decision;
  decision.target = RestoreReplicas(in);
  decision.recommended = RestoreReplicas(in);
  const uint8_t reason = in.Byte();
  const uint8_t mode = in.Byte();
  if (reason > static_cast<uint8_t>(DecisionReason::kStabilized) ||
      mode > static_cast<uint8_t>(ScalingMode::kPredictive)) {
    in.Fail();
    return decision;
  }
  decision.reason = static_cast<DecisionReason>(reason);
  decision.mode = static_cast<ScalingMode>(mode);
  decision.load_ratio = RestoreNumber(in);
  decision.forecast_load_ratio = RestoreRatio(in);
  decision.high_water_load_ratio = RestoreRatio(in);
  decision.target_utilization_ratio = RestoreNumber(in);
  return decision;
}

/// Of another policy, or of one that has changed, it is let be: the policy begins anew.
void RestorePolicy(std::string_view state, ReplicaPolicy& policy) {
  ByteReader in(state);
  static_cast<void>(policy.Restore(in));
}

}  // namespace

Result<void> CheckMinute(const ScalingMinute& minute) {
  if (minute.minute < 0 || minute.minute > kMostMinute) {
    return Refuse(fmt::format("minute: {} is out of range", minute.minute));
  }
  if (!std::isfinite(minute.demand) || minute.demand < 0) {
    return Refuse(fmt::format("demand: {} is none, allowed: finite and 0 or more", minute.demand));
  }
  if (!std::isfinite(minute.base) || minute.base <= 0) {
    return Refuse(fmt::format("base: {} is none, allowed: finite and above 0", minute.base));
  }
  if (!std::isfinite(minute.demand / minute.base)) {
    return Refuse(
        fmt::format("demand: {} is too much for a base of {}", minute.demand, minute.base));
  }
  if (minute.replicas < 0 || minute.replicas > kMaxReplicas) {
    return Refuse(fmt::format("replicas: {} is out of range, allowed: 0 to {}", minute.replicas,
                              kMaxReplicas));
  }
  if (minute.lead_minutes < 1) {
    return Refuse(
        fmt::format("lead: {}m is out of range, allowed: 1m or more", minute.lead_minutes));
  }
  return CheckBounds(minute.bounds);
}

int32_t LeadMinutes(int64_t startup_ms) {
  const int64_t startup = std::clamp<int64_t>(startup_ms, 0, kMaxStartupMs);
  return static_cast<int32_t>((startup + 59'999) / 60'000) + 1;
}

Scaler::Scaler(const PolicySettings& settings, bool seeds_window)
    : settings_(settings),
      seeds_window_(seeds_window),
      policy_(MakePolicy(settings)),
      window_(settings.window_minutes) {}

Scaler::~Scaler() = default;
Scaler::Scaler(Scaler&&) noexcept = default;
Scaler& Scaler::operator=(Scaler&&) noexcept = default;

void Scaler::Adapt(const PolicySettings& settings) {
  if (settings == settings_) return;
  auto policy = MakePolicy(settings);
  if (settings.policy == settings_.policy) {
    std::string state;
    ByteWriter out(state);
    policy_->Save(out);
    RestorePolicy(state, *policy);
  }
  policy_ = std::move(policy);
  window_.SetMinutes(settings.window_minutes);
  settings_ = settings;
}

ReplicaDecision Scaler::Decide(const ScalingMinute& minute, const DemandForecast& forecast) {
  if (last_ && minute.minute <= last_minute_) return *last_;
  if (!CheckMinute(minute)) return Held(minute);
  last_minute_ = minute.minute;
  ReplicaDecision& decision = last_.emplace();
  if (minute.replicas == 0) {
    decision.reason = DecisionReason::kSuspended;
    return decision;
  }
  const PolicyInput input = InputOf(minute);
  PolicyAnswer answer = policy_->Decide(input, forecast);
  if (minute.missing_pods > 0) {
    answer = WithMissingPods(answer, *policy_, input, minute.missing_pods, forecast);
  }
  if (minute.is_censored) {
    const int32_t more = RoundUpWithin(1.5 * minute.replicas, minute.bounds);
    if (more > answer.replicas) {
      answer.replicas = more;
      answer.reason = DecisionReason::kCensored;
    }
  }
  if (minute.bounds.min == minute.bounds.max) answer.reason = DecisionReason::kFixed;
  decision.recommended = std::clamp(answer.replicas, minute.bounds.min, minute.bounds.max);
  if (seeds_window_ && minute.minute > 0 && window_.IsEmptyAt(minute.minute)) {
    static_cast<void>(window_.Add(minute.minute - 1, minute.replicas));
  }
  // What was recommended within other bounds stays within the present ones.
  decision.target = std::clamp(window_.Add(minute.minute, decision.recommended), minute.bounds.min,
                               minute.bounds.max);
  decision.reason =
      decision.target > decision.recommended ? DecisionReason::kStabilized : answer.reason;
  decision.mode = answer.mode;
  decision.load_ratio = input.LoadRatio();
  decision.forecast_load_ratio = answer.forecast_load_ratio;
  decision.high_water_load_ratio = answer.high_water_load_ratio;
  decision.target_utilization_ratio = answer.target_utilization_ratio;
  policy_->Decided(input, minute.ready_pods);
  return decision;
}

ReplicaDecision Scaler::Held(const ScalingMinute& minute) const {
  if (last_) return *last_;
  ReplicaDecision held;
  held.target = held.recommended = std::clamp(minute.replicas, 0, kMaxReplicas);
  held.reason = DecisionReason::kMissingPods;
  return held;
}

size_t Scaler::MemoryBytes() const {
  return sizeof(*this) - sizeof(window_) + window_.MemoryBytes() + policy_->MemoryBytes();
}

void Scaler::Save(ByteWriter& out) const {
  out.Byte(kFormat);
  out.Byte(static_cast<uint8_t>(settings_.policy));
  std::string state;
  ByteWriter state_out(state);
  policy_->Save(state_out);
  out.Text(state);
  window_.Save(out);
  out.Bool(last_.has_value());
  if (!last_) return;
  out.Varint(static_cast<uint64_t>(last_minute_));
  SaveDecision(out, *last_);
}

Result<Scaler> Scaler::Restore(ByteReader& in, const PolicySettings& settings, bool seeds_window) {
  Scaler scaler(settings, seeds_window);
  const uint8_t format = in.Byte();
  const uint8_t policy = in.Byte();
  const std::string_view state = in.Text();
  scaler.window_.Restore(in);
  if (in.Bool()) {
    const uint64_t minute = in.Varint();
    if (minute > static_cast<uint64_t>(kMostMinute)) in.Fail();
    scaler.last_minute_ = static_cast<int64_t>(minute);
    scaler.last_ = RestoreDecision(in);
  }
  // Nothing is recommended without a decision.
  if (scaler.window_.newest() > scaler.last_minute_) in.Fail();
  if (in.failed() || format != kFormat || policy >= kScalingPolicyCount) {
    return Fail(ErrorCode::kInvalidArgument, "scaling state: it is none, or is cut off");
  }
  if (policy == static_cast<uint8_t>(settings.policy)) RestorePolicy(state, *scaler.policy_);
  return scaler;
}

}  // namespace tidemark::scaling
