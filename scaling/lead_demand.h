#pragma once
// The highest demand of the minutes for which a decision of now is the first to count, as a
// distribution: what the forecast expects, and how wrong that has been.
//
// A pod that is asked for at the end of minute t serves in minute t + lead at the earliest. The
// recommendations of the minutes before still stand in the stabilisation window, so that t has to
// answer for the minutes from t + min(window, lead) to t + lead only; for usual start-ups that is
// one minute. The forecast's own quantiles are those of its horizons, and between them a demand
// that bends is off by more than they say; so the errors of just this – the highest of these
// minutes against the highest that was expected – are kept here, in a sketch of their own
// (forecast/error_sketch.h), whatever the lead is. While fewer than an hour of them is known, the
// forecast's quantiles serve; in the first hour of another lead the higher of the two.
//
// Advances on what it is told and on nothing else. Not thread-safe. 120 bytes.

#include <cstdint>
#include <optional>

#include "forecast/error_sketch.h"
#include "model/byte_codec.h"
#include "scaling/demand_forecast.h"
#include "scaling/demand_odds.h"

namespace tidemark::scaling {

/// Minutes ahead, both counted.
struct LeadMinutesAhead {
  int32_t first = 1;
  int32_t last = 1;
};

class LeadDemand {
 public:
  /// What was expected, to be held against what comes.
  struct Made {
    float expected = 0;
    float scale = -1;  ///< of errors, when it was made; below 0: not known
  };

  /// The highest demand expected of these minutes; nothing without a forecast.
  std::optional<Made> Expect(const DemandForecast& forecast, LeadMinutesAhead ahead) const;
  /// What `made` was for has come.
  void Came(const Made& made, double highest);
  /// Errors that are told from now on are of another lead.
  void ChangeLead() { at_this_lead_ = 0; }
  /// Old errors count half as much each twelve hours; called with each minute.
  void PassMinute(int64_t minute);

  /// Nothing while neither errors nor the forecast's quantiles are known.
  std::optional<DemandOdds> Odds(const DemandForecast& forecast, LeadMinutesAhead ahead) const;

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  forecast::ErrorSketch errors_;
  int64_t halved_ = -1;  ///< in units of the sketch's halving
  uint8_t at_this_lead_ = 0;
};

}  // namespace tidemark::scaling
