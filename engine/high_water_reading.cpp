#include "engine/high_water_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/amount_text.h"

namespace tidemark::engine {
namespace {

using estimators::FitMethod;
using estimators::HighWaterLevel;
using estimators::LevelSource;
using estimators::TailFit;
using estimators::Unfitted;

/// A mark from a tail is never further above what the worst pod has used in seven days. Memory (and
/// disk) that is requested in vain is lost to all others; of CPU they can have what is not used.
constexpr double kMostOverLargestOfMemory = 1.5;
constexpr double kMostOverLargest = 3;

constexpr double kRiskOfBounds = 10;
constexpr double kMaxRisk = 0.49;

double MostOverLargest(Resource resource) {
  const bool memory = resource == Resource::kMemory || resource == Resource::kGpuMemory ||
                      resource == Resource::kEphemeralStorage;
  return memory ? kMostOverLargestOfMemory : kMostOverLargest;
}

std::string_view MethodName(const TailFit& tail) {
  if (!tail.IsFitted()) return "none";
  switch (tail.method) {
    case FitMethod::kMoments: return ToString(TailMethod::kMoments);
    case FitMethod::kWeightedMoments: return ToString(TailMethod::kPwm);
    case FitMethod::kMaximumLikelihood: return ToString(TailMethod::kMle);
  }
  return "none";
}

std::string WhyUnfitted(const TailFit& tail) {
  switch (tail.unfitted) {
    case Unfitted::kFitted: return "";
    case Unfitted::kNothing: return "nothing is known of its use";
    case Unfitted::kFewExcesses:
      return fmt::format("{} minutes above the threshold are too few for a tail, which needs {}",
                         tail.excesses, TailFit::kLeastExcesses);
    case Unfitted::kNoSpread: return "what is above the threshold does not vary";
    case Unfitted::kEndBelowLargest:
      return "the method that the profile names puts the end of the tail below what was used";
  }
  return "";
}

std::string PeaksText(uint32_t clusters) {
  return clusters == 1 ? "1 separate peak" : fmt::format("{} separate peaks", clusters);
}

std::string FewPeaks(const TailFit& tail) {
  return fmt::format("{} only, of which a tail needs {} to be trusted", PeaksText(tail.clusters),
                     TailFit::kLeastClusters);
}

void AppendNote(std::string_view note, std::string& notes) {
  if (note.empty()) return;
  if (!notes.empty()) notes += "; ";
  notes += note;
}

std::string BasisText(const TailFit& tail, const HighWaterLevel& level, double risk) {
  const std::string head = fmt::format("passed in a minute with a probability of {:g}: ", risk);
  switch (level.source) {
    case LevelSource::kEmpirical:
      return head + fmt::format("percentile {:g} of {} minutes, the risk needs no tail",
                                (1 - risk) * 100, tail.observations);
    case LevelSource::kLargest: return head + "the highest use of 7 days, as " + WhyUnfitted(tail);
    case LevelSource::kTail: break;
  }
  if (!tail.IsTrusted()) return head + "the highest use of 7 days, as there are " + FewPeaks(tail);
  return head + fmt::format("the tail of {} of {} minutes, in {}, by {}{}", tail.excesses,
                            tail.observations, PeaksText(tail.clusters), MethodName(tail),
                            level.capped ? ", held at the most that can be believed" : "");
}

}  // namespace

std::optional<HighWaterLevel> HighWaterReading::LevelOf(double risk) const {
  if (!HasMarks()) return std::nullopt;
  estimators::HighWaterBounds bounds{.most_over_largest = MostOverLargest(resource)};
  if (const double cap = CapOr(HUGE_VAL); cap < HUGE_VAL) bounds.cap = cap;
  return track->LevelOf(risk, histogram, bounds);
}

double HighWaterReading::CapOr(double other) const {
  return !share && limit && *limit > 0 ? *limit : other;
}

bool HighWaterReading::IsCensored() const { return !share && limit && track->IsCensored(*limit); }

std::optional<HighWaterMark> HighWaterReading::MarkOf(double risk) const {
  const auto level = LevelOf(risk);
  if (!level) return std::nullopt;
  HighWaterMark mark;
  mark.risk = risk;
  mark.value = level->value * share.value_or(1);
  if (limit && *limit > 0) mark.value = std::min(mark.value, *limit);
  mark.fitted = level->source == LevelSource::kTail;
  mark.confident = track->tail()->IsTrusted();
  mark.censored = IsCensored();
  return mark;
}

std::optional<ExplainedHighWater> HighWaterReading::Explain() const {
  if (!HasMarks()) return std::nullopt;
  const TailFit& tail = *track->tail();
  ExplainedHighWater out;
  out.threshold = tail.threshold;
  out.observations = tail.observations;
  out.excesses = tail.excesses;
  out.clusters = tail.clusters;
  out.method = MethodName(tail);
  if (tail.IsFitted()) {
    out.shape = tail.fit.gamma;
    out.scale = tail.fit.sigma;
    out.end_point = tail.End();
    if (!tail.IsTrusted()) AppendNote(FewPeaks(tail), out.note);
  } else {
    AppendNote(WhyUnfitted(tail), out.note);
  }
  if (IsCensored())
    AppendNote("use lies at the limit, so what is wanted above it is not seen", out.note);
  if (share) AppendNote("all of it is of the pod's sum", out.note);
  return out;
}

std::optional<HighWaterBasis> BasisOf(const HighWaterReading& reading, const ResourceRule& rule,
                                      bool explain) {
  const double risk = rule.high_water.risk;
  const auto level = reading.LevelOf(risk);
  if (!level) return std::nullopt;
  const TailFit& tail = *reading.track->tail();
  HighWaterBasis basis;
  basis.bases.target = level->value;
  if (level->source == LevelSource::kTail && !tail.IsTrusted()) {
    basis.bases.target = std::min(reading.track->window().Largest(), reading.CapOr(HUGE_VAL));
  }
  const auto at = [&](double other) { return reading.LevelOf(std::min(other, kMaxRisk))->value; };
  basis.bases.lower = std::min(basis.bases.target, at(risk * kRiskOfBounds));
  basis.bases.upper = std::max(basis.bases.target, at(risk / kRiskOfBounds));
  if (explain) basis.what = BasisText(tail, *level, risk);
  return basis;
}

}  // namespace tidemark::engine
