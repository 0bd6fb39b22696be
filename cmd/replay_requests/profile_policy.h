#pragma once
// A profile, or a set of them, by the daemon's own code: what it says here it would have said
// there.

#include <memory>

#include "cmd/replay_requests/policy.h"
#include "model/profile.h"

namespace tidemark::replay_requests {

/// How the answer is read.
enum class Rounding : uint8_t {
  kAsDaemon,  ///< the request that the daemon recommends, in whole millicores and bytes
  /// What the histogram says, with margin and expansion, before it becomes a whole amount and
  /// before minimum, floor, ceiling and kills.
  kNone,
};

/// The usage goes into the histories of engine/ and the advice comes from its advisor; a sample at
/// a time is the minute that ends then. The profile is the one that `profiles` finds for the
/// trace's workload and container. Both must outlive the policy.
std::unique_ptr<Policy> MakeProfilePolicy(ProfileSetPtr profiles, Rounding rounding,
                                          const Trace& trace);

}  // namespace tidemark::replay_requests
