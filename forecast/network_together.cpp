#include "forecast/network_together.h"

#include "forecast/network_fitted.h"
#include "forecast/network_forecaster.h"

namespace tidemark::forecast {

std::vector<Result<FitReport>> TrainTogether(std::span<const TogetherFit> fits,
                                             const TogetherEnded& ended) {
  std::vector<Result<FitReport>> reports;
  reports.reserve(fits.size());
  LstmBuffers buffers;
  for (const TogetherFit& fit : fits) {
    if (auto* const network = dynamic_cast<NetworkForecaster*>(fit.forecaster)) {
      reports.push_back(network->FitWith(buffers, *fit.history, fit.options));
    } else {
      reports.push_back(fit.forecaster->Fit(*fit.history, fit.options));
    }
    if (ended) ended(reports.size() - 1, reports.back());
  }
  return reports;
}

}  // namespace tidemark::forecast
