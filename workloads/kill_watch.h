#pragma once
// What is told of one container's restarts → its kills for memory, each once.
//
// kube-state-metrics tells a kill in three series of one scrape: the count of restarts rises, the
// last termination's reason is OOMKilled, its time stands beside it. They have one time stamp but
// come in any order and in different requests, so a restart waits until the reason (and the time)
// of its own scrape or a later one has come. cAdvisor's count of OOM events is the second source:
// it counts only while nobody tells restarts.
//
// Time is event time; no clock is asked. A value type, not thread-safe. Series are known by their
// numbers, which must stay theirs until Forget. Bounded: a few entries for each series that tells.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/byte_codec.h"
#include "model/sample.h"
#include "workloads/series_batch.h"

namespace tidemark::workloads {

class KillWatch {
 public:
  /// What came of what was told.
  struct Outcome {
    boost::container::small_vector<Kill, 1> kills;
    uint32_t no_kills = 0;  ///< restarts for another reason, or for none that was told
    uint32_t repeated = 0;  ///< kills set aside: another series had told them
  };
  /// What a series tells.
  enum class Kind : uint8_t { kRestarts, kReason, kTerminated, kOomEvents };

  // `uid`: hash of the pod's uid, 0 when it is not told. A pod's successor of the same name has
  // another: it inherits nothing. `now_ms`: the namespace's time, kNever before it has one.

  /// The memory request, as of this sample. Bytes, finite, not negative.
  void SetRequest(uint64_t uid, Sample sample);
  /// The memory request in force just before `time_ms`; of what is told later only the first, where
  /// there is nothing else. `uid` 0: whatever the pod.
  std::optional<double> RequestBefore(uint64_t uid, int64_t time_ms) const;

  /// The count of restarts. The first that is told of a pod is where counting begins; a rise by
  /// more than one is one restart; a fall begins anew. Values that are no count are ignored.
  void SetRestarts(uint64_t uid, uint32_t series, Sample sample, int64_t now_ms, Outcome& outcome);
  /// Whether the last termination was for memory: the series of OOMKilled, 1 or 0.
  void SetReason(uint64_t uid, uint32_t series, Sample sample, Outcome& outcome);
  /// 1 of another reason's series: then the last termination was not for memory.
  void SetOtherReason(uint64_t uid, Sample sample, Outcome& outcome);
  /// When it was, in Unix seconds. What cannot be (NaN, before 2001, after the restart was told)
  /// leaves a kill the time of the sample that told the restart.
  void SetTerminated(uint64_t uid, uint32_t series, Sample sample, Outcome& outcome);
  /// cAdvisor's count of OOM events of one run of the container (`run`: hash of its cgroup).
  void SetOomEvents(uint64_t run, uint32_t series, Sample sample, Outcome& outcome);

  /// The series has ended (stale marker).
  void End(uint32_t series, int64_t time_ms, Outcome& outcome);
  /// The series is gone from the index: nothing refers to it any more.
  void Forget(uint32_t series, Outcome& outcome);
  /// Decides what has waited long enough.
  void Settle(int64_t now_ms, Outcome& outcome);
  /// False while a restart waits: then somebody has to call Settle as time goes on.
  bool IsSettled() const;
  /// Time of the newest count of restarts; kNever without one.
  int64_t LastRestartsMs() const;

  /// Appends the whole state; times as distances to `base_ms`.
  void Save(ByteWriter& out, int64_t base_ms) const;
  /// Whether the series exists, tells this, of this pod or run, of the container at hand.
  using Tells = std::function<bool(uint32_t series, Kind kind, uint64_t key)>;
  /// What Save wrote; nullopt, and the reader failed, when the bytes are no such thing.
  static std::optional<KillWatch> Restore(ByteReader& in, int64_t base_ms, const Tells& tells);

 private:
  /// A memory request that came at a time.
  struct Request {
    uint64_t uid;
    int64_t from_ms;
    double bytes;
  };
  struct Reader {
    uint32_t series = kNoSeries;
    Kind kind = Kind::kRestarts;
    bool ended = false;
    int64_t last_ms = kNever;
    double value = 0;
  };
  /// From when the one before ends until `last_ms` the reason was, or was not, memory.
  struct Reason {
    int64_t last_ms;
    bool is_memory;
  };
  struct Restart {
    int64_t time_ms;   // of the sample that told it
    int64_t since_ms;  // of the sample before
    int64_t from_ms;   // it waits from here on
    double count;
    uint32_t repeats;  // series that told it too
  };
  /// One pod by its uid, or one cgroup that OOM events are counted of.
  struct Run {
    uint64_t key = 0;
    bool of_events = false;
    double count = -1;   // highest that was told; -1: none
    double killed = -1;  // highest that was a kill
    std::vector<Reader> readers;
    boost::container::small_vector<Reason, 1> reasons;  // by time
    std::vector<Restart> waiting;                       // by time
  };

  Run* Find(uint64_t key, bool of_events);
  Run& RunOf(uint64_t key, bool of_events);
  static Reader& ReaderOf(Run& run, uint32_t series, Kind kind);
  /// Takes the count; true when it rose for the first time to where it is now.
  bool Rises(Run& run, Reader& reader, Sample sample, Outcome& outcome);
  static void SayReason(Run& run, int64_t time_ms, bool is_memory);
  void Decide(Run& run, int64_t now_ms, Outcome& outcome);
  /// False while it has to wait.
  bool DecideOne(Run& run, const Restart& restart, int64_t now_ms, Outcome& outcome);
  bool RestartsAreToldAt(int64_t time_ms) const;
  static bool RestoreRun(ByteReader& in, int64_t base_ms, const Tells& tells, Run& run);

  boost::container::small_vector<Request, 1> requests_;  // by arrival
  std::vector<Run> runs_;
  int64_t event_kill_ms_ = kNever;  // of the newest kill that only the second source told
};

}  // namespace tidemark::workloads
