#include "engine/request_history.h"

#include <chrono>
#include <cmath>
#include <string>

#include "estimators/amount.h"
#include "estimators/request_estimator.h"
#include "model/log.h"

namespace tidemark::engine {
namespace {

/// A minute's value is known when the minute is over.
estimators::Time EndOf(workloads::UsageMinute minute) {
  return estimators::Time(std::chrono::milliseconds(minute.start_ms + workloads::kMinuteMs));
}

/// Resources whose peaks count (what does not fit kills), against those whose every minute counts
/// (what does not fit waits).
bool CountsPeaks(Resource resource) {
  return resource == Resource::kMemory || resource == Resource::kGpuMemory;
}

/// Whole amounts as Kubernetes counts them: thousandths of a core, bytes.
double AmountsPerUnit(Resource resource) { return CountsPeaks(resource) ? 1.0 : 1000.0; }

template <class T>
T& Slot(std::vector<std::unique_ptr<T>>& slots, uint32_t index) {
  if (index >= slots.size()) slots.resize(index + 1);
  if (!slots[index]) slots[index] = std::make_unique<T>();
  return *slots[index];
}

}  // namespace

RequestHistory::RequestHistory(const Options& options)
    : options_(options),
      core_layout_(estimators::HistogramOptions::Cpu()),
      byte_layout_(estimators::HistogramOptions::Memory()) {}

const estimators::HistogramOptions& RequestHistory::LayoutOf(Resource resource) const {
  return CountsPeaks(resource) ? byte_layout_ : core_layout_;
}

std::chrono::nanoseconds RequestHistory::HalfLifeOf(Resource resource) const {
  return std::chrono::milliseconds(options_.profiles->fallback().rule(resource).half_life_ms);
}

RequestHistory::History& RequestHistory::HistoryOf(Histories& histories, Resource resource) const {
  auto& history = histories[static_cast<size_t>(resource)];
  if (!history) {
    history = std::make_unique<History>(
        History{estimators::DecayingHistogram(&LayoutOf(resource), HalfLifeOf(resource)), {}});
  }
  return *history;
}

void RequestHistory::AddUsage(uint32_t container, uint32_t instance, Resource resource,
                              workloads::UsageMinute minute, std::optional<double> /*request*/) {
  // A container that has only just been made may show no memory. VPA's window would then take no
  // later peak until it ends (estimators/memory_peak_window.h).
  if (CountsPeaks(resource) && minute.usage <= 0) return;
  const estimators::Time time = EndOf(minute);
  History& history = HistoryOf(Slot(containers_, container), resource);
  if (CountsPeaks(resource)) {
    auto& window = Slot(instances_, instance)[static_cast<size_t>(resource)];
    if (!window) window = std::make_unique<estimators::MemoryPeakWindow>();
    window->AddSample(history.histogram, time, minute.usage);
  } else {
    const double weight = options_.profiles->fallback().rule(resource).sample_weight;
    history.histogram.Add(minute.usage, weight, time);
  }
  history.minutes.Record(time);
}

void RequestHistory::MergeContainer(uint32_t from, uint32_t into) {
  if (from == into || from >= containers_.size() || !containers_[from]) return;
  Histories& source = *containers_[from];
  Histories& target = Slot(containers_, into);
  for (const Resource resource : kAllResources) {
    auto& gone = source[static_cast<size_t>(resource)];
    if (!gone) continue;
    auto& kept = target[static_cast<size_t>(resource)];
    if (!kept) {
      kept = std::move(gone);
      continue;
    }
    if (auto merged = kept->histogram.Merge(gone->histogram); !merged) {
      LogOncePerMinute("merge", LogLevel::kError, "histograms could not be merged",
                       {{"err", merged.error().message}});
      continue;
    }
    kept->minutes.Merge(gone->minutes);
  }
}

void RequestHistory::RemoveContainer(uint32_t container) {
  if (container < containers_.size()) containers_[container].reset();
}

void RequestHistory::RemoveInstance(uint32_t instance) {
  if (instance < instances_.size()) instances_[instance].reset();
}

const RequestHistory::History* RequestHistory::Find(uint32_t container, Resource resource) const {
  if (container >= containers_.size() || !containers_[container]) return nullptr;
  return (*containers_[container])[static_cast<size_t>(resource)].get();
}

const estimators::DecayingHistogram* RequestHistory::HistogramOf(uint32_t container,
                                                                 Resource resource) const {
  const History* const history = Find(container, resource);
  return history == nullptr ? nullptr : &history->histogram;
}

const estimators::SampleSpan* RequestHistory::MinutesOf(uint32_t container,
                                                        Resource resource) const {
  const History* const history = Find(container, resource);
  return history == nullptr ? nullptr : &history->minutes;
}

/// How many of the minutes between the first and the last have a value says how much is behind a
/// mean usage, but little about a peak: a level that is told every five minutes shows it as well.
/// Of memory, then, the minutes of CPU count where there are more of them (VPA counts no others),
/// within the time that memory itself was seen.
double RequestHistory::ConfidenceDays(Resource resource, const History& history,
                                      const History* cpu) {
  const double own = estimators::Confidence(history.minutes);
  if (resource != Resource::kMemory || cpu == nullptr) return own;
  const std::chrono::duration<double, std::ratio<86400>> seen =
      *history.minutes.Last() - *history.minutes.First();
  return std::max(own, std::min(estimators::Confidence(cpu->minutes), seen.count()));
}

ResourceAdvice RequestHistory::Advise(Resource resource, const History* history, const History* cpu,
                                      const workloads::ContainerView& container,
                                      const workloads::WorkloadView& workload) const {
  const auto slot = static_cast<size_t>(resource);
  ResourceAdvice advice;
  advice.resource = resource;
  advice.current_request = container.request[slot];
  advice.current_limit = container.limit[slot];
  if (history != nullptr && !history->histogram.IsEmpty()) {
    const ResourceRule& options = options_.profiles->fallback().rule(resource);
    const double amounts = AmountsPerUnit(resource);
    const estimators::RequestPolicy policy{
        .percentile = options.percentile,
        .margin_ratio = options.margin_ratio,
        .pod_minimum = estimators::AmountFromDouble(options.pod_minimum * amounts)};
    const estimators::RequestEstimate estimate = estimators::EstimateRequest(
        history->histogram, policy, amounts, workload.containers_in_pod);
    advice.model_request = static_cast<double>(estimate.model_amount) / amounts;
    advice.recommended_request = static_cast<double>(estimate.recommended_amount) / amounts;
    advice.confidence_days = ConfidenceDays(resource, *history, cpu);
  }
  if (advice.recommended_request && advice.current_request) {
    advice.reclaimable =
        (*advice.current_request - *advice.recommended_request) * workload.replicas;
    if (!std::isfinite(*advice.reclaimable)) advice.reclaimable.reset();
  }
  return advice;
}

WorkloadAdvice RequestHistory::Advise(const workloads::WorkloadView& workload) const {
  WorkloadAdvice advice;
  advice.id = *workload.id;
  advice.replicas = workload.replicas;
  advice.last_sample_ms = workload.last_sample_ms;
  advice.containers.reserve(workload.containers.size());
  for (const workloads::ContainerView& container : workload.containers) {
    ContainerAdvice shown;
    shown.container = std::string(container.name);
    const Histories* histories =
        container.container < containers_.size() ? containers_[container.container].get() : nullptr;
    for (const Resource resource : kAllResources) {
      const auto slot = static_cast<size_t>(resource);
      const History* history = histories == nullptr ? nullptr : (*histories)[slot].get();
      if (history == nullptr && !container.request[slot] && !container.limit[slot]) continue;
      const History* cpu =
          histories == nullptr ? nullptr : (*histories)[static_cast<size_t>(Resource::kCpu)].get();
      shown.resources.push_back(Advise(resource, history, cpu, container, workload));
    }
    if (!shown.resources.empty()) advice.containers.push_back(std::move(shown));
  }
  return advice;
}

}  // namespace tidemark::engine
