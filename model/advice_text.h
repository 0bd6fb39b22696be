#pragma once
// Why an advice is what it is, in one sentence for people.

#include <array>
#include <string>
#include <string_view>

#include "model/profile.h"
#include "model/snapshot.h"

namespace tidemark {

/// Every mark, in the order of its bits.
inline constexpr std::array<AdviceMark, 20> kAllAdviceMarks = {
    AdviceMark::kKills,         AdviceMark::kPodMinimum,   AdviceMark::kFloor,
    AdviceMark::kCeiling,       AdviceMark::kRounded,      AdviceMark::kStatic,
    AdviceMark::kEarlierRule,   AdviceMark::kNoUpperBound, AdviceMark::kSharedByRequest,
    AdviceMark::kSharedEqually, AdviceMark::kOnlyKills,    AdviceMark::kNoOriginal,
    AdviceMark::kThrottled,     AdviceMark::kStartUpApart, AdviceMark::kPerRun,
    AdviceMark::kPageCacheOut,  AdviceMark::kNodeCap,      AdviceMark::kPlateau,
    AdviceMark::kHighWater,     AdviceMark::kHours};

/// As the API writes it: "kills", "pod_minimum", "floor", "ceiling", "rounded", "static",
/// "earlier_rule", "no_upper_bound", "shared_by_request", "shared_equally", "only_kills",
/// "no_original", "throttled", "start_up_apart", "per_run", "page_cache_out", "node_cap",
/// "plateau", "high_water".
std::string_view ToString(AdviceMark mark);

/// What `advice` is and how it came about, or why there is none, for a container of `profile`, e.g.
/// "cpu 250m: the 90th percentile of 8.0 days of samples is 217m, plus 15 % margin". Amounts as in
/// model/amount_text.h. Never empty; says only what the two arguments say, so equal arguments give
/// equal text. Thread-safe.
std::string AdviceText(const Profile& profile, const ResourceAdvice& advice);

}  // namespace tidemark
