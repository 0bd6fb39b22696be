#pragma once
// The part that is the same for all models that learn nothing.

#include "forecast/forecaster.h"

namespace tidemark::forecast {

class PlainForecaster : public Forecaster {
 public:
  bool NeedsFit() const final { return false; }
  bool IsFitted() const final { return true; }
  Result<FitReport> Fit(const DemandSeries& /*history*/, const FitOptions& /*options*/) final {
    return FitReport{};
  }
  double FitSeconds(int64_t /*minutes*/) const final { return 0; }
  void Save(ByteWriter& /*out*/) const final {}
  Result<void> Restore(ByteReader& in) final {
    if (!in.failed()) return {};
    return Fail(ErrorCode::kInvalidArgument, "saved model: it is cut short");
  }
};

}  // namespace tidemark::forecast
