// Any bytes as a saved track: what is read is saved again as the same bytes, and goes on: its
// forecasts are finite and in order.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "forecast/forecast_track.h"

namespace {

using namespace tidemark;
using forecast::ForecastTrack;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Saved(const ForecastTrack& track) {
  std::string bytes;
  ByteWriter out(bytes);
  track.Save(out);
  return bytes;
}

void CheckNow(const ForecastTrack& track, int64_t minute) {
  const WorkloadForecast now = track.Now(minute);
  for (size_t i = 0; i < now.horizons.size(); ++i) {
    const HorizonForecast& horizon = now.horizons[i];
    Require(std::isfinite(horizon.demand) && horizon.demand >= 0);
    Require(horizon.lower.has_value() == horizon.upper.has_value());
    if (horizon.lower)
      Require(*horizon.lower <= horizon.demand && horizon.demand <= *horizon.upper);
    for (const double p : {0.5, 0.9, 0.999}) {
      const auto quantile = track.Quantile(minute, i, p);
      if (quantile) Require(std::isfinite(*quantile) && *quantile >= 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ByteReader in(bytes);
  auto track = ForecastTrack::Restore(in, {}, {});
  if (!track) return 0;
  const std::string once = Saved(*track);
  ByteReader again_in(once);
  const auto again = ForecastTrack::Restore(again_in, {}, {});
  Require(again.has_value() && again_in.AtEnd() && Saved(*again) == once);
  const int64_t newest = std::max<int64_t>(0, track->history().newest());
  CheckNow(*track, newest);
  static_cast<void>(track->Due(newest));
  for (int64_t minute = newest + 1; minute < newest + 30; minute += 1 + minute % 3) {
    track->Add(minute, static_cast<double>(minute % 7));
    CheckNow(*track, minute);
  }
  static_cast<void>(track->Explain(newest + 30));
  ForecastTrack other({}, {});
  other.Add(newest + 60, 1);
  other.Merge(*track);
  CheckNow(other, newest + 60);
  return 0;
}
