#pragma once
// The way in for usage from before the live stream: built apart, merged once.
//
// A past is built for some namespaces at a time, from the same series as the live stream carries,
// slice after slice in time. Only what is strictly before each container's first live sample
// counts. Merge puts it into the live state together with a cursor, in one journal record: after a
// crash either both are there or neither.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "model/sink.h"

namespace tidemark {

struct NamespaceName {
  std::string cluster;  ///< empty when the stream carries no cluster label
  std::string name_space;
  // NOLINTNEXTLINE(modernize-use-nullptr): the check stumbles over what is derived from it
  friend auto operator<=>(const NamespaceName&, const NamespaceName&) = default;
};

/// What a metric of the past says. Those that come first are applied first in every slice: whoever
/// uses something is known by then, and a kill comes after the usage before it.
enum class PastKind : uint8_t {
  kOwner,       ///< who owns a pod, ReplicaSet or Job
  kLabels,      ///< labels of pods
  kRequest,     ///< what containers requested
  kUsage,       ///< what containers used
  kKillReason,  ///< is there only for containers that were killed for memory
  kRestarts,    ///< how often containers were restarted
  kKillTime,    ///< when a container ended last
  kOomEvents,   ///< kills as the kernel counts them; the second source, where nobody tells restarts
  // Of no past: these hold only now, and the live stream says them.
  kPresent,           ///< limits, replicas, phases and the like
  kAutoscaler,        ///< which workload an autoscaler scales
  kAutoscalerTarget,  ///< by what
};

/// A metric that the past is made of.
struct PastMetric {
  std::string metric;
  PastKind kind = PastKind::kUsage;
  bool is_counter = false;  ///< usage as a counter
  /// Asked for only of namespaces in which containers were killed for memory.
  bool only_where_killed = false;
  /// Many clusters are without it (GPUs, plain processes): that it is missing is worth a note, not
  /// a problem.
  bool is_optional = false;
  /// Names of its labels; empty: it has none of that kind.
  std::string cluster_label;
  std::string namespace_label;
  std::string pod_label;
  std::string container_label;
  /// PromQL matchers of the source's selector, without braces, comma-separated; may be empty.
  std::string matchers;
};

/// What a merge came to.
struct PastOutcome {
  uint64_t containers = 0;  ///< that have more history now
  uint64_t minutes = 0;     ///< of usage, of all of them
  /// Live samples have come meanwhile that reach into this past: nothing was merged, the same past
  /// must be built again (it then ends before them).
  bool overtaken = false;
};

/// The past of some namespaces. Not thread-safe. Dropped without Merge, it has no effect.
class Past {
 public:
  virtual ~Past() = default;
  /// Samples of one series of one slice, in order of time. The text and the samples need to live
  /// until ApplySlice. Series of other namespaces are ignored.
  virtual void Add(const IncomingSeries& series) = 0;
  /// Takes in what was added. Slices must come in order of time.
  virtual WriteVerdict ApplySlice() = 0;
  /// Bytes that it holds, about.
  virtual uint64_t MemoryBytes() const = 0;
  /// Ends it: merges what it gathered and sets the cursor, durably. With kUnavailable or kIo
  /// nothing was merged and the call may be repeated.
  virtual Result<PastOutcome> Merge(std::string_view cursor) = 0;
};

/// Thread-safe.
class PastSink {
 public:
  virtual ~PastSink() = default;
  virtual std::vector<PastMetric> PastMetrics() const = 0;
  /// `end_ms`: nothing at or after this time counts, whatever the container.
  virtual Result<std::unique_ptr<Past>> OpenPast(const std::vector<NamespaceName>& of,
                                                 int64_t end_ms) = 0;
  /// Namespaces that have state now, as of the last tick.
  virtual std::vector<NamespaceName> LiveNamespaces() const { return {}; }
  /// The cursor set last, also by a process before this one; empty before the first. Its bytes are
  /// the caller's.
  virtual std::string PastCursor() const = 0;
  virtual Result<void> SetPastCursor(std::string_view cursor) = 0;
};

}  // namespace tidemark
