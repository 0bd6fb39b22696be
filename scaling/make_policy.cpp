#include "scaling/debi_policy.h"
#include "scaling/hpa_policy.h"
#include "scaling/policy.h"
#include "scaling/tidemark_policy.h"

namespace tidemark::scaling {

std::unique_ptr<ReplicaPolicy> MakePolicy(const PolicySettings& settings) {
  switch (settings.policy) {
    case ScalingPolicy::kHpa:
    case ScalingPolicy::kArimaHpa:
    case ScalingPolicy::kLstmHpa:
    case ScalingPolicy::kBiLstmHpa:
    case ScalingPolicy::kEvtBiLstmHpa: return MakeHpaPolicy(settings);
    case ScalingPolicy::kDebi:
    case ScalingPolicy::kDebiPaper: return MakeDebiPolicy(settings);
    case ScalingPolicy::kTidemark: break;
  }
  return MakeTidemarkPolicy(settings);
}

}  // namespace tidemark::scaling
