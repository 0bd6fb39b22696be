#include "cmd/replay_requests/profile_policy.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/advisor.h"
#include "engine/request_history.h"
#include "model/counters.h"
#include "workloads/namespace_state.h"
#include "workloads/series_batch.h"

namespace tidemark::replay_requests {
namespace {

constexpr uint32_t kContainer = 0;
constexpr uint32_t kPodSum = 1;

class ProfilePolicy final : public Policy {
 public:
  ProfilePolicy(ProfileSetPtr profiles, Rounding rounding, const Trace& trace)
      : history_(std::move(profiles)), rounding_(rounding) {
    history_.ContainerIs(kContainer, {trace.workload, trace.container, {}});
    sums_ = history_.SumsByPod(kContainer);
    if (sums_) history_.ContainerIs(kPodSum, {trace.workload, workloads::kPodSum, {}});
    view_.id = &trace.workload;
    view_.replicas = static_cast<double>(trace.pods.size());
    workloads::ContainerView& container = view_.containers.emplace_back();
    container.name = trace.container;
    container.container = kContainer;
    container.in_pod = true;
    for (size_t r = 0; r < kReplayed.size(); ++r) {
      // The owner's size stands for the request in force, where weights ask for it: what is
      // recommended here is never set.
      container.request.At(kReplayed[r]) = trace.original[r];
      container.original_request.At(kReplayed[r]) = trace.original[r];
    }
    if (sums_) view_.pod_sum = kPodSum;
  }

  void See(const Trace& trace, size_t step) override {
    const workloads::UsageMinute ends_now{.start_ms = trace.TimeOf(step) - workloads::kMinuteMs};
    view_.last_sample_ms = ends_now.start_ms;
    const auto pods = static_cast<uint32_t>(trace.pods.size());
    for (uint32_t p = 0; p < pods; ++p) {
      for (size_t r = 0; r < kReplayed.size(); ++r) {
        workloads::MinuteContext context;
        context.request = trace.original[r];
        workloads::UsageMinute minute = ends_now;
        minute.usage = trace.pods[p].samples[r][step];
        if (!IsThere(minute.usage)) continue;
        history_.AddUsage(kContainer, p, kReplayed[r], minute, context);
        // Of a pod with one container the sum is the same again.
        if (sums_) {
          history_.AddUsage(kPodSum, pods + p, kReplayed[r], minute, context);
        }
      }
    }
  }

  void SeeKill(size_t pod, int64_t time_ms, double request) override {
    history_.AddKill(kContainer, static_cast<uint32_t>(pod),
                     {.time_ms = time_ms, .requested_bytes = request});
  }

  Requests Ask(int64_t time_ms) override {
    history_.Collect(kContainer, time_ms);
    Requests requests;
    if (rounding_ == Rounding::kNone) {
      for (size_t r = 0; r < kReplayed.size(); ++r) requests[r] = ModelOf(kReplayed[r]);
      return requests;
    }
    engine::Advisor advisor(history_, std::span(&view_, 1), time_ms, engine::NodeSize(), counters_);
    for (const WorkloadAdvice& workload : advisor.Advise(nullptr)) {
      for (const ContainerAdvice& container : workload.containers) {
        for (const ResourceAdvice& advice : container.resources) {
          const auto place = static_cast<size_t>(advice.resource);
          if (place < requests.size()) requests[place] = advice.recommended_request;
        }
      }
    }
    return requests;
  }

 private:
  std::optional<double> ModelOf(Resource resource) const {
    const engine::UsageTrack* const track = history_.TrackOf(kContainer, resource);
    if (track == nullptr) return std::nullopt;
    const ResourceRule& rule = history_.ProfileOf(kContainer)->rule(resource);
    const engine::UsageTrack::Reading reading = track->Read();
    return reading.histogram().Percentile(rule.percentile) * (1 + rule.margin_ratio) *
           rule.expansion_factor;
  }

  engine::RequestHistory history_;
  const Rounding rounding_;
  bool sums_ = false;
  EngineCounters counters_;
  workloads::WorkloadView view_;
};

}  // namespace

std::unique_ptr<Policy> MakeProfilePolicy(ProfileSetPtr profiles, Rounding rounding,
                                          const Trace& trace) {
  return std::make_unique<ProfilePolicy>(std::move(profiles), rounding, trace);
}

}  // namespace tidemark::replay_requests
