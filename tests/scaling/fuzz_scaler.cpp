// Any bytes as a saved scaler, of each policy: what is read is saved again as the same bytes, and
// goes on: its decisions are within their bounds.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "scaling/replay_forecasts.h"
#include "scaling/scaler.h"

namespace {

using namespace tidemark;
using scaling::Scaler;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Saved(const Scaler& scaler) {
  std::string bytes;
  ByteWriter out(bytes);
  scaler.Save(out);
  return bytes;
}

void GoOn(Scaler& scaler) {
  scaling::NoForecasts forecasts;
  const int64_t newest = std::max<int64_t>(0, scaler.last_minute());
  for (int64_t minute = newest; minute < newest + 20; minute += 1 + minute % 3) {
    const scaling::ScalingMinute known{.minute = minute,
                                       .demand = static_cast<double>(minute % 7),
                                       .base = 0.5,
                                       .replicas = static_cast<int32_t>(minute % 5),
                                       .ready_pods = 1,
                                       .missing_pods = minute % 4 == 0 ? 2U : 0U,
                                       .is_censored = minute % 6 == 0,
                                       .bounds = {.min = 2, .max = 9}};
    const bool is_new = minute > scaler.last_minute() && scaling::CheckMinute(known);
    const ReplicaDecision decision = scaler.Decide(known, forecasts.At(minute, known.demand));
    Require(decision.target >= 0 && decision.target <= kMaxReplicas);
    if (!is_new) continue;
    const bool within = decision.target >= 2 && decision.target <= 9;
    Require(known.replicas == 0 ? decision.target == 0 : within);
    Require(std::isfinite(decision.load_ratio) && decision.recommended <= decision.target);
  }
  const std::string bytes = Saved(scaler);
  ByteReader in(bytes);
  const auto again = Scaler::Restore(in, scaler.settings());
  Require(again.has_value() && in.AtEnd() && Saved(*again) == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (size_t policy = 0; policy < kScalingPolicyCount; ++policy) {
    const PolicySettings settings = UsualSettings(static_cast<ScalingPolicy>(policy));
    ByteReader in(bytes);
    auto scaler = Scaler::Restore(in, settings, policy % 2 == 0);
    if (!scaler) return 0;  // no policy's business
    const std::string once = Saved(*scaler);
    ByteReader again_in(once);
    const auto again = Scaler::Restore(again_in, settings);
    Require(again.has_value() && again_in.AtEnd() && Saved(*again) == once);
    GoOn(*scaler);
  }
  return 0;
}
