// Any bytes as the body of POST /admission/pods: what comes back must be an answer, and what it
// changes must hold.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "model/log.h"
#include "tests/kubernetes/admission_check.h"

namespace {

using tidemark::Resource;
namespace rightsizing = tidemark::rightsizing;

/// One that changes as much as it may: it raises, and gives requests where there are none.
tidemark::kubernetes::testing::Webhook MakeWebhook() {
  rightsizing::testing::World world;
  world.settings.mode = tidemark::RightsizingMode::kApply;
  for (const Resource resource : {Resource::kCpu, Resource::kMemory, Resource::kEphemeralStorage}) {
    world.profile.rule(resource).correction = tidemark::Correction::kReplace;
  }
  for (const char* const container : {"app", "mesh"}) {
    world.Advise(container, Resource::kCpu, 0.65);
    world.Advise(container, Resource::kMemory, rightsizing::testing::kGi);
    world.Advise(container, Resource::kEphemeralStorage, rightsizing::testing::kGi);
  }
  world.LimitRange(Resource::kCpu).max_limit_request_ratio = 4;
  auto snapshot = world.Shown();
  return {std::move(snapshot), world.profiles, world.settings};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto webhook = [] {
    tidemark::SetLogSink([](std::string_view) {});
    return MakeWebhook();
  }();
  const std::string body(reinterpret_cast<const char*>(data), size);
  try {
    tidemark::kubernetes::testing::CheckAnswer(webhook, body, false);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::abort();
  }
  return 0;
}
