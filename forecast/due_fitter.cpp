#include "forecast/due_fitter.h"

#include <ctime>
#include <memory>
#include <utility>

#include "forecast/model_choice.h"

namespace tidemark::forecast {
namespace {

FitsOfModel& FitsOf(std::vector<FitsOfModel>& fits, ForecastModel model) {
  for (FitsOfModel& of : fits) {
    if (of.model == model) return of;
  }
  fits.emplace_back().model = model;
  return fits.back();
}

}  // namespace

double CoreSeconds() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

void DueFitter::Fit(ForecastTrack& track, int64_t minute) {
  for (const DueFit& due : track.Due(minute)) {
    if (IsNetwork(due.model) && !options_.train_networks) continue;
    FitOne(track, due.model, minute);
  }
}

std::vector<FitsOfModel> DueFitter::TakeFits() { return std::exchange(fits_, {}); }

void DueFitter::FitOne(ForecastTrack& track, ForecastModel model, int64_t minute) {
  FitsOfModel& fits = FitsOf(fits_, model);
  const DemandSeries history = track.Series();
  const auto forecaster = MakeForecaster(model, track.horizons());
  const std::string before = track.Weights(model);
  if (!before.empty()) {
    ByteReader in(before);
    static_cast<void>(forecaster->Restore(in));  // else it begins from nothing
  }
  const double start = CoreSeconds();
  const auto report = forecaster->Fit(history, {.seed = options_.seed});
  const double seconds = CoreSeconds() - start;
  fits.seconds += seconds;
  seconds_ += seconds;
  if (!report) {
    ++fits.failures;
    fits.failure = report.error().message;
    track.NoteFailedFit(model, minute);
    return;
  }
  std::string weights;
  ByteWriter out(weights);
  forecaster->Save(out);
  const FittedModel fitted{.model = model,
                           .weights = weights,
                           .trained_minute = history.end() - 1,
                           .seconds = seconds,
                           .report = *report};
  if (const auto activated = track.Activate(fitted); !activated) {
    ++fits.failures;
    fits.failure = activated.error().message;
    track.NoteFailedFit(model, minute);
    return;
  }
  ++fits.fits;
  fits.iterations += report->iterations;
  fits.what = report->what;
}

}  // namespace tidemark::forecast
