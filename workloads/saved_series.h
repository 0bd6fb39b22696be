#pragma once
// The first byte of a saved series. For namespace_saver.cpp and namespace_restorer.cpp only.

#include <cstdint>

namespace tidemark::workloads {

/// What a saved series is bound to, and so what follows of it. The numbers are part of the format.
enum class SavedKind : uint8_t {
  kAutoscaler = 0,  ///< what an autoscaler scales, one of its bounds, or a target of utilisation
  kUnbound = 1,     ///< nothing: followed for its verdicts and the status of its source
  kUsage = 2,
  kRequest = 3,
  kLimit = 4,
  kPodOwner = 5,
  kPhase = 6,     ///< a phase in which the pod goes on
  kEndPhase = 7,  ///< a phase in which it has ended
  kReplicaSetOwner = 8,
  kJobOwner = 9,
  kReplicas = 10,
  kKills = 11,  ///< restarts, their reason or time, or OOM events
  kPodLabels = 12,
  kOriginal = 13,  ///< original requests
  kSign = 14,      ///< page cache, throttling, the start of a pod, or whether it is ready
  kNode = 15,      ///< what a node can give, or a LimitRange asks
};

inline constexpr uint8_t kSavedKindBits = 0x0F;
inline constexpr uint8_t kSavedStale = 0x10;    ///< the last value is the stale marker
inline constexpr uint8_t kSavedInteger = 0x20;  ///< the last value is a whole number
/// What the series is bound to holds because this series says it: its fact, or the link to an
/// owner.
inline constexpr uint8_t kSavedHolds = 0x40;
/// That fact is the series' last sample.
inline constexpr uint8_t kSavedSame = 0x80;

/// Whole numbers below it are written as such.
inline constexpr double kSavedIntegerEnd = 9'007'199'254'740'992.0;  // 2^53

/// Resources have room for so many: where a number holds one beside something else, it holds the
/// other times this.
inline constexpr uint64_t kSavedResources = 16;
/// Of a request or limit: the resource, or this for one that is not known.
inline constexpr uint64_t kSavedNoResource = kSavedResources;
inline constexpr uint64_t kSavedFactSlots = kSavedResources + 1;
/// The same until version 2.
inline constexpr uint64_t kFirstSavedResources = 4;

/// What a series of kills tells.
enum class SavedKills : uint8_t { kRestarts, kReason, kOtherReason, kTerminated, kOomEvents };
inline constexpr uint64_t kSavedKillsSlots = 5;

/// What a series of signs tells.
enum class SavedSign : uint8_t {
  kPageCache,
  kThrottledPeriods,
  kCfsPeriods,
  kPodStart,
  kPodReady,
  kPodReadyTime
};
inline constexpr uint64_t kSavedSignSlots = 8;  // two to spare
/// The same until version 4.
inline constexpr uint64_t kFirstSavedSignSlots = 4;

/// Slot of what a node can give of a resource that nobody minds.
inline constexpr uint64_t kSavedNoNodeSlot = 2;
/// Above it those of a LimitRange, the last for what nobody minds.
inline constexpr uint64_t kSavedFirstLimitSlot = kSavedNoNodeSlot + 1;

/// What is told of an autoscaler until version 5.
inline constexpr size_t kFirstSavedAutoscalerSlots = 3;

// Bits of a pod.
inline constexpr uint8_t kSavedHidden = 0x01;
inline constexpr uint8_t kSavedWaits = 0x02;
inline constexpr uint8_t kSavedOwner = 0x04;      ///< its owner is known
inline constexpr uint8_t kSavedSameOwner = 0x08;  ///< it is that of the pod before
inline constexpr uint8_t kSavedLabelSet = 0x10;   ///< its labels are known
inline constexpr uint8_t kSavedPodBits = 0x1F;

// What is known of whether a pod is ready: what is said now, and above that what was before.
inline constexpr uint8_t kSavedReadiness = 0x01;  ///< there is something
inline constexpr unsigned kSavedNowShift = 1;
inline constexpr unsigned kSavedBeforeShift = 3;
inline constexpr uint8_t kSavedReadinessState = 0x03;
inline constexpr uint8_t kSavedReadinessBits = 0x1F;

// Bits of what a series says of a pod's owner.
inline constexpr uint8_t kSavedObject = 0x01;      ///< it says one that counts
inline constexpr uint8_t kSavedPodsObject = 0x02;  ///< it is the pod's
inline constexpr uint8_t kSavedObjectBits = 0x03;

/// 2 added kills, labels of pods, original requests and the sums of pods; 3 the signs of
/// containers, the start of pods, nodes, and resources by name, with room for more. Older ones
/// restore; of their series that tell of what they did not know nothing is known until they are
/// told again with their labels. 4 the demand of workloads. 5 autoscalers, the readiness of
/// pods, how long they take to start, and whether their limits held them back. 6 the utilisation
/// that autoscalers keep to, and LimitRanges.
inline constexpr uint8_t kSavedNamespaceVersion = 6;
inline constexpr uint8_t kOldestSavedNamespaceVersion = 1;

}  // namespace tidemark::workloads
