// No bytes crash the reader of manifests; what it changes it changes once, and reads again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rightsizing/manifest.h"

namespace {

using tidemark::rightsizing::PodPlan;
using tidemark::rightsizing::PodView;

PodPlan PlanOf(const PodView& pod) {
  PodPlan plan;
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    const auto& requests = pod.containers[i].requests;
    const auto written = requests.find("cpu");
    if (written != requests.end() && written->second == "650m") continue;
    plan.changes.push_back({i, "cpu", written == requests.end() ? "" : written->second, "650m",
                            tidemark::rightsizing::CorrectionRule::kCandidate, ""});
  }
  if (!plan.changes.empty() && !pod.applied_annotation) plan.applied_annotation = "{\"it's\":1}";
  return plan;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto done = tidemark::rightsizing::RightsizeManifest(text, "shop", PlanOf);
  if (!done) return done.error().message.empty() ? (std::abort(), 0) : 0;
  if (done->changes.empty() && done->text != text) std::abort();
  const auto again = tidemark::rightsizing::RightsizeManifest(done->text, "shop", PlanOf);
  if (!again || again->text != done->text || !again->changes.empty()) std::abort();
  return 0;
}
