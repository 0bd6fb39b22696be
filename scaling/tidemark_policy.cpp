#include "scaling/tidemark_policy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "scaling/demand_odds.h"
#include "scaling/lead_demand.h"
#include "scaling/recurring_peaks.h"
#include "scaling/replica_decision.h"

namespace tidemark::scaling {
namespace {

constexpr uint8_t kFormat = 1;
// How these were chosen: docs/scaling-policy.md.
constexpr double kPricePerTypical = 0.35;
constexpr double kTypicalMinutes = 360;  // the running mean that is called typical
constexpr double kShortDays = 2;         // the same of the share of minutes that were short
constexpr double kMostCorrection = 8;
constexpr double kLeastTypicalPods = 0.5;  // below it one pod is enough whatever comes
constexpr double kLeastGain = 0.03;        // of the present replicas: what is worth a change
constexpr double kTiePods = 0.5;           // pods: what is nearly the same
constexpr uint16_t kSmallDecreaseMinutes = 60;
constexpr double kUnknownFree = 2;   // times the demand, where nothing is known
constexpr double kCandidates = 32;   // looked at in one pass over the numbers of replicas
constexpr size_t kMostWaiting = 31;  // the longest lead: a start-up of 30 minutes, and one

/// What was expected and chosen at a minute whose time has not come.
struct Waiting {
  uint32_t minute = 0;  ///< since 1970; its last minute is the lead later
  LeadDemand::Made made;
  bool has_made = false;
  float chosen = 0;         ///< demand that is enough for, at the objective; 0: nothing was known
  float without_peaks = 0;  ///< the same, if there were no recurring peaks
  uint8_t peak_days = 0;    ///< above that; 0: none
};

/// Demands beyond it are none; floats hold it.
float Narrow(double demand) { return static_cast<float>(std::min(demand, 1e30)); }

/// What is best, bounds and present replicas left aside.
struct Plan {
  bool is_known = false;
  double replicas = 1;  ///< whole
  double least = 1;     ///< whole; what the demand of now needs
  double without_peaks = 1;
  RecurringPeaks::Found peaks;
};

/// What numbers of replicas cost, at one moment.
class Costs {
 public:
  Costs(const DemandOdds& odds, double price, double capacity)
      : odds_(odds), price_(price), capacity_(capacity) {}

  void Expect(const RecurringPeaks::Found& peaks, double chance) {
    peaks_ = peaks;
    chance_ = chance;
  }
  /// In pods, of this moment.
  double Of(double replicas) const {
    const double capacity = replicas * capacity_;
    double shortness = odds_.ExpectedShortness(capacity);
    if (peaks_.days > 0) {
      double of_peaks = 0;
      for (size_t i = 0; i < peaks_.days; ++i) {
        of_peaks += DemandOdds::Shortness(peaks_.demand[i], capacity);
      }
      of_peaks /= static_cast<double>(peaks_.days);
      shortness += chance_ * std::max(0.0, of_peaks - shortness);
    }
    return replicas + price_ * shortness;
  }
  /// The whole number, `least` or more, that costs the least; of several the smallest.
  double Cheapest(double least) const {
    constexpr double kMostSearched = kMaxReplicas;
    const double highest = std::max(odds_.Highest(), peaks_.Highest());
    double from = std::clamp(std::floor(odds_.Median() / capacity_), least, kMostSearched);
    double to = std::clamp(std::ceil(highest / capacity_), from, kMostSearched);
    double best = from;
    double lowest = std::numeric_limits<double>::infinity();
    for (double step = std::ceil((to - from) / kCandidates);;) {
      step = std::max(step, 1.0);
      for (double replicas = from; replicas <= to; replicas += step) {
        const double cost = Of(replicas);
        if (cost < lowest - kEdge) {
          lowest = cost;
          best = replicas;
        }
      }
      if (step <= 1) return best;
      from = std::max(least, best - step);
      to = best + step;
      step = std::ceil(2 * step / kCandidates);
      lowest = std::numeric_limits<double>::infinity();
    }
  }

 private:
  const DemandOdds& odds_;
  double price_;
  double capacity_;  // of one pod, at the objective
  RecurringPeaks::Found peaks_;
  double chance_ = 0;
};

class TidemarkPolicy final : public ReplicaPolicy {
 public:
  explicit TidemarkPolicy(const PolicySettings& settings)
      : utilization_ratio_(settings.slo_utilization_ratio),
        time_ratio_(settings.slo_time_ratio),
        tolerance_ratio_(settings.tolerance_ratio),
        window_minutes_(settings.window_minutes),
        short_ratio_(static_cast<float>(settings.slo_time_ratio)) {}

  PolicyAnswer Decide(const PolicyInput& input, const DemandForecast& forecast) override {
    const LeadMinutesAhead ahead = AheadOf(input);
    if (input.lead_minutes != lead_minutes_) {
      lead_minutes_ = input.lead_minutes;
      waiting_.clear();
      lead_demand_.ChangeLead();
    }
    lead_demand_.PassMinute(input.minute);
    Learn(input, forecast.History(), ahead);
    MoveTypical(input.demand);
    Plan plan;
    const PolicyAnswer answer = Answer(input, forecast, &small_decrease_, &plan);
    Wait(input, forecast, ahead, plan);
    return answer;
  }

  PolicyAnswer Consider(const PolicyInput& input, const DemandForecast& forecast) const override {
    SmallDecrease small_decrease = small_decrease_;
    Plan plan;
    return Answer(input, forecast, &small_decrease, &plan);
  }

  void Save(ByteWriter& out) const override;
  Result<void> Restore(ByteReader& in) override;
  size_t MemoryBytes() const override {
    return sizeof(*this) + waiting_.capacity() * sizeof(Waiting);
  }

 private:
  /// Minutes on end in which a little less would have done.
  struct SmallDecrease {
    uint16_t minutes = 0;
    int32_t replicas = 0;  ///< the most that any of them asked for
  };

  LeadMinutesAhead AheadOf(const PolicyInput& input) const {
    const int32_t last = std::max(1, input.lead_minutes);
    return {.first = std::min(last, window_minutes_), .last = last};
  }
  double CapacityOf(const PolicyInput& input) const { return utilization_ratio_ * input.base; }

  double PriceOf(const PolicyInput& input) const {
    const double pods = std::max(kLeastTypicalPods, typical_ / input.base);
    const double correction = std::clamp(double{short_ratio_} / time_ratio_, 1.0, kMostCorrection);
    return kPricePerTypical / time_ratio_ * pods * correction;
  }

  /// What was chosen for minutes that are over is held against what came.
  void Learn(const PolicyInput& input, const forecast::DemandHistory& history,
             LeadMinutesAhead ahead) {
    const auto now = static_cast<uint32_t>(input.minute);
    const auto lead = static_cast<uint32_t>(lead_minutes_);
    size_t over = 0;
    for (; over < waiting_.size() && now - waiting_[over].minute >= lead; ++over) {
      const Waiting& waited = waiting_[over];
      const int64_t back = int64_t{now - waited.minute} - lead;
      const auto came = HighestBefore(input, history, back, ahead.last - ahead.first + 1);
      if (came) Came(waited, *came);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(over));
  }

  /// Of `count` minutes up to that `back` minutes ago; nothing where none is known.
  static std::optional<double> HighestBefore(const PolicyInput& input,
                                             const forecast::DemandHistory& history, int64_t back,
                                             int32_t count) {
    std::optional<double> highest;
    for (int32_t i = 0; i < count; ++i) {
      const int64_t minute = input.minute - back - i;
      double demand = input.demand;
      if (minute != input.minute) {
        if (history.step_minutes() != 1) continue;
        demand = double{history.At(minute)};
      }
      if (!std::isnan(demand)) highest = std::max(highest.value_or(0), demand);
    }
    return highest;
  }

  void Came(const Waiting& waited, double demand) {
    if (waited.has_made) lead_demand_.Came(waited.made, double{Narrow(demand)});
    if (waited.peak_days > 0) peaks_.Note(waited.peak_days, demand > double{waited.without_peaks});
    if (waited.chosen > 0) {
      const float was_short = demand > double{waited.chosen} ? 1 : 0;
      short_ratio_ += (was_short - short_ratio_) / static_cast<float>(kShortDays * 1440);
    }
  }

  void MoveTypical(double demand) {
    if (minutes_ < kTypicalMinutes) ++minutes_;
    typical_ += (demand - typical_) / minutes_;  // a plain mean at first
  }

  Plan PlanOf(const PolicyInput& input, const DemandForecast& forecast, std::optional<Costs>& costs,
              std::optional<DemandOdds>& odds) const {
    const double capacity = CapacityOf(input);
    Plan plan;
    plan.least = std::max(1.0, std::ceil(input.demand / capacity - kEdge));
    const LeadMinutesAhead ahead = AheadOf(input);
    odds = lead_demand_.Odds(forecast, ahead);
    if (!odds) {
      plan.replicas = std::max(1.0, std::ceil(kUnknownFree * input.demand / input.base - kEdge));
      return plan;
    }
    plan.is_known = true;
    costs.emplace(*odds, PriceOf(input), capacity);
    plan.without_peaks = costs->Cheapest(1);
    plan.replicas = plan.without_peaks;
    plan.peaks = RecurringPeaks::Find(forecast.History(), input.minute, ahead,
                                      plan.without_peaks * capacity);
    if (plan.peaks.days > 0) {
      costs->Expect(plan.peaks, peaks_.Chance(plan.peaks.days));
      plan.replicas = costs->Cheapest(plan.without_peaks);
    }
    return plan;
  }

  PolicyAnswer Answer(const PolicyInput& input, const DemandForecast& forecast,
                      SmallDecrease* small_decrease, Plan* plan) const {
    std::optional<DemandOdds> odds;
    std::optional<Costs> costs;
    *plan = PlanOf(input, forecast, costs, odds);
    PolicyAnswer answer;
    answer.reason = DecisionReason::kLoad;
    if (plan->is_known) {
      if (plan->replicas > plan->least) {
        answer.mode = ScalingMode::kPredictive;
        answer.reason = plan->replicas > plan->without_peaks ? DecisionReason::kRecurringPeak
                                                             : DecisionReason::kRisk;
      }
      plan->replicas = std::max(plan->replicas, plan->least);
      answer.forecast_load_ratio = plan->replicas * utilization_ratio_ / input.replicas;
    }
    answer.replicas = RoundUpWithin(plan->replicas, input.bounds);
    if (plan->replicas > input.bounds.max) answer.reason = DecisionReason::kAtMaximum;
    if (plan->replicas < input.bounds.min) answer.reason = DecisionReason::kAtMinimum;
    Hold(input, costs, small_decrease, *plan, answer);
    if (input.demand > 0) {
      answer.target_utilization_ratio = input.demand / (answer.replicas * input.base);
    } else {
      answer.target_utilization_ratio = utilization_ratio_;
    }
    return answer;
  }

  /// Small changes that are not worth it are none.
  void Hold(const PolicyInput& input, const std::optional<Costs>& costs,
            SmallDecrease* small_decrease, Plan& plan, PolicyAnswer& answer) const {
    const int32_t now = input.replicas;
    const bool is_within = now >= input.bounds.min && now <= input.bounds.max;
    const auto gains = [&](int32_t replicas) {
      return !costs || costs->Of(now) - costs->Of(replicas) > kLeastGain * now;
    };
    const bool is_enough_now = input.demand <= (1 + kLeastGain) * now * CapacityOf(input);
    // One pod of a few is more than the tolerance, and yet near a tie it would go and come.
    const bool is_tie = costs && answer.replicas == now - 1 &&
                        costs->Of(now) - costs->Of(answer.replicas) < kTiePods;
    const bool is_small = is_within && answer.replicas < now &&
                          (is_tie || answer.replicas >= (1 - tolerance_ratio_) * now - kEdge);
    if (!is_small) {
      *small_decrease = {};
      if (is_within && answer.replicas > now && is_enough_now && plan.is_known &&
          !gains(answer.replicas)) {
        answer.replicas = now;
        answer.reason = DecisionReason::kWithinTolerance;
        plan.replicas = now;
      }
      return;
    }
    const int32_t most = std::max(small_decrease->replicas, answer.replicas);
    *small_decrease = {.minutes = static_cast<uint16_t>(
                           std::min<int>(small_decrease->minutes + 1, kSmallDecreaseMinutes + 1)),
                       .replicas = most};
    if (small_decrease->minutes > kSmallDecreaseMinutes && plan.is_known && gains(most)) {
      answer.replicas = most;
      return;
    }
    answer.replicas = now;
    answer.reason = DecisionReason::kSmallScaleDown;
    plan.replicas = std::max(plan.replicas, static_cast<double>(now));
  }

  void Wait(const PolicyInput& input, const DemandForecast& forecast, LeadMinutesAhead ahead,
            const Plan& plan) {
    const auto made = lead_demand_.Expect(forecast, ahead);
    if (!made && !plan.is_known) return;
    if (waiting_.size() >= kMostWaiting) waiting_.erase(waiting_.begin());
    Waiting waiting;
    waiting.minute = static_cast<uint32_t>(input.minute);
    waiting.has_made = made.has_value();
    if (made) waiting.made = *made;
    if (plan.is_known) {
      const double capacity = CapacityOf(input);
      // Bounds that hold less are no mistake of the choice.
      waiting.chosen =
          Narrow(capacity * std::max(plan.replicas, static_cast<double>(input.bounds.min)));
      waiting.without_peaks = Narrow(capacity * plan.without_peaks);
      waiting.peak_days = static_cast<uint8_t>(plan.peaks.days);
    }
    waiting_.push_back(waiting);
  }

  double utilization_ratio_;
  double time_ratio_;
  double tolerance_ratio_;
  int32_t window_minutes_;

  LeadDemand lead_demand_;
  RecurringPeaks peaks_;
  std::vector<Waiting> waiting_;  // oldest first, all of the present lead
  int32_t lead_minutes_ = 0;
  double typical_ = 0;
  double minutes_ = 0;  // behind it, up to kTypicalMinutes
  float short_ratio_;   // begins at the objective
  SmallDecrease small_decrease_;
};

void TidemarkPolicy::Save(ByteWriter& out) const {
  out.Byte(kFormat);
  lead_demand_.Save(out);
  peaks_.Save(out);
  out.Varint(static_cast<uint64_t>(lead_minutes_));
  out.Double(typical_);
  out.Double(minutes_);
  out.Fixed32(std::bit_cast<uint32_t>(short_ratio_));
  out.Varint(small_decrease_.minutes);
  out.Varint(static_cast<uint64_t>(small_decrease_.replicas));
  out.Varint(waiting_.size());
  for (const Waiting& waiting : waiting_) {
    out.Varint(waiting.minute);
    out.Bool(waiting.has_made);
    out.Byte(waiting.peak_days);
    for (const float number :
         {waiting.made.expected, waiting.made.scale, waiting.chosen, waiting.without_peaks}) {
      out.Fixed32(std::bit_cast<uint32_t>(number));
    }
  }
}

Result<void> TidemarkPolicy::Restore(ByteReader& in) {
  constexpr uint64_t kMostLead = 100'000;
  TidemarkPolicy read = *this;
  if (in.Byte() != kFormat) in.Fail();
  read.lead_demand_.Restore(in);
  read.peaks_.Restore(in);
  const uint64_t lead = in.Varint();
  read.typical_ = in.Double();
  read.minutes_ = in.Double();
  read.short_ratio_ = std::bit_cast<float>(in.Fixed32());
  const uint64_t small_minutes = in.Varint();
  const uint64_t small_replicas = in.Varint();
  if (lead > kMostLead || !(read.typical_ >= 0) || !std::isfinite(read.typical_) ||
      !(read.minutes_ >= 0 && read.minutes_ <= kTypicalMinutes) ||
      !(read.short_ratio_ >= 0 && read.short_ratio_ <= 1) ||
      small_minutes > kSmallDecreaseMinutes + 1 || small_replicas > uint64_t{kMaxReplicas}) {
    in.Fail();
  }
  read.waiting_.clear();
  constexpr size_t kLeastBytes = 19;
  const uint64_t count = in.Count(kLeastBytes);
  if (count > kMostWaiting) in.Fail();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    Waiting& waiting = read.waiting_.emplace_back();
    const uint64_t minute = in.Varint();
    waiting.minute = static_cast<uint32_t>(minute);
    waiting.has_made = in.Bool();
    waiting.peak_days = in.Byte();
    bool is_good = minute <= std::numeric_limits<uint32_t>::max() &&
                   waiting.peak_days <= RecurringPeaks::kMostDays;
    for (float* const number :
         {&waiting.made.expected, &waiting.made.scale, &waiting.chosen, &waiting.without_peaks}) {
      *number = std::bit_cast<float>(in.Fixed32());
      is_good = is_good && std::isfinite(*number) && *number >= -1;
    }
    if (!is_good) in.Fail();
  }
  if (in.failed()) {
    return Fail(ErrorCode::kInvalidArgument, "state of the policy tidemark: it is none");
  }
  read.lead_minutes_ = static_cast<int32_t>(lead);
  read.small_decrease_ = {.minutes = static_cast<uint16_t>(small_minutes),
                          .replicas = static_cast<int32_t>(small_replicas)};
  *this = std::move(read);
  return {};
}

}  // namespace

std::unique_ptr<ReplicaPolicy> MakeTidemarkPolicy(const PolicySettings& settings) {
  return std::make_unique<TidemarkPolicy>(settings);
}

}  // namespace tidemark::scaling
