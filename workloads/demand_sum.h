#pragma once
// Minutes of a workload's pods → minutes of the workload: its demand.
//
// Two steps. A pod's containers close their minutes one after the other: PodDemand keeps them until
// all containers of the pod have passed, and then the pod counts as a whole. DemandSum adds pods
// up, knows how far each of those has come that is waited for (as numbers of pods by minute, so
// that the slowest is found without a look at any pod), and closes what the slowest has passed.
//
// What a start costs is no load (class loading, warming of caches: DEBI-HPA calls it start-up use):
// a young pod counts for no more than the mean of the others. With none but young ones all count as
// they are: nothing says what would be too much.
//
// Some pods of a large workload always lack a scrape. Where no more than a tenth does, the sum is
// given as it is: it is then low by less than what demand changes in a minute anyway. Where more
// do, the minute is left out: a sum that is low by a fifth looks like load that has gone, and who
// scales by it takes pods away just when something is wrong with a node. Nothing is ever scaled up
// to what the missing ones might have used.
//
// A pod that sits at its limit, or is throttled for long, would use more if it could: what it needs
// is not known. Load is spread over the pods of a workload, so that a few may be held back by
// chance or by what they alone do; where at least half of those are of which it is known, the
// demand is censored. Nothing is known of a pod without a limit; where there are more of those
// than of the others they take what the others cannot.
//
// Pure functions of the order of the calls; no clock is asked. Value types, not thread-safe. As
// many minutes are open as the slowest pod lags behind, at most those of five minutes in live
// operation; of each, 48 bytes and 8 more for each young pod. A pod takes 56 bytes.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/byte_codec.h"
#include "workloads/series_batch.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// What one pod has for the demand of its workload.
struct PodDemand {
  enum class State : uint8_t {
    kApart = 0,   ///< nothing was seen of it yet
    kWaited = 1,  ///< it uses something: minutes wait until it has passed them
    kEnded = 2,   ///< none of its containers goes on: nobody waits, it may be missed
  };
  State state = State::kApart;
  int64_t passed_ms = kNever;      ///< end of the last minute that it has handed over
  int64_t last_count_ms = kNever;  ///< start of the last minute in which it counted, or else
                                   ///< of the one before it was there
  int64_t run_since_ms = kNever;   ///< of the first of those that it counted in without a break
  boost::container::small_vector<UsageMinute, 1> open;  ///< by time; of all its containers

  /// A minute of one container. One that was handed over already is let be.
  void Add(UsageMinute minute);
  void DropBefore(int64_t start_ms);
  void CountsIn(int64_t start_ms);
  /// Whether it can be missed: a pod that crashes in its first minutes, again and again, cannot.
  bool IsSettled() const;

  /// Appends the whole state; times as distances to `base_ms`. Not of one apart.
  void Save(ByteWriter& out, int64_t base_ms) const;
  /// What Save wrote after the state; false, and the reader failed, when the bytes are no such
  /// thing.
  bool Restore(ByteReader& in, int64_t base_ms);
};

/// Whether a pod could have used more in a minute.
enum class Headroom : uint8_t {
  kUnknown,   ///< its limit is not known
  kSome,      ///< yes
  kNone,      ///< it was held back by its limit
  kDisregard  ///< it does not matter: it was young or not ready
};

/// The demand of one workload: of one resource, by all its pods.
class DemandSum {
 public:
  /// Minutes that start before `begin_ms` are not given; kNever: all are.
  explicit DemandSum(int64_t begin_ms = kNever) : given_until_ms_(begin_ms) {}

  /// A whole pod's minute. False, and nothing added, when the minute was given out already.
  bool Add(UsageMinute minute, bool is_young, Headroom headroom = Headroom::kDisregard);
  /// A pod that lives has no usage in the minute.
  void AddMissing(int64_t start_ms);
  /// The minute is not given, whatever comes.
  void LeaveOut(int64_t start_ms);
  /// Appends the minutes that end at `until_ms` or before; those of which too little is known are
  /// left out.
  void Close(int64_t until_ms, std::vector<DemandMinute>& out);
  void DropOpen() { open_.clear(); }
  bool HasOpen() const { return !open_.empty(); }
  /// End of the newest open minute; kNever without one.
  int64_t OpenUntilMs() const { return open_.empty() ? kNever : open_.back().start_ms + kMinuteMs; }
  /// Nothing is taken any more of minutes that start before.
  int64_t given_until_ms() const { return given_until_ms_; }

  // How far the pods are that are waited for. Not saved: it follows from the pods.

  void Enter(int64_t passed_ms);
  /// True when the slowest is another now.
  bool Leave(int64_t passed_ms);
  bool Move(int64_t from_ms, int64_t to_ms);
  /// Up to where all of them have come; kNever without any.
  int64_t SlowestMs() const { return waited_.empty() ? kNever : waited_.front().passed_ms; }
  int64_t FastestMs() const { return waited_.empty() ? kNever : waited_.back().passed_ms; }

  /// Appends the whole state but for the pods; times as distances to `base_ms`.
  void Save(ByteWriter& out, int64_t base_ms) const;
  /// What Save wrote; nullopt, and the reader failed, when the bytes are no such thing.
  /// `has_headroom`: false for what was saved before it was kept.
  static std::optional<DemandSum> Restore(ByteReader& in, int64_t base_ms,
                                          bool has_headroom = true);

 private:
  struct Open {
    int64_t start_ms = 0;
    double usage = 0;  // of those that are not young
    uint32_t pods = 0;
    uint32_t missing = 0;
    uint32_t held_back = 0;  // by Headroom: kNone
    uint32_t free = 0;       // kSome
    uint32_t unknown = 0;    // kUnknown
    bool is_left_out = false;
    std::vector<double> young;

    bool IsCensored() const;
    std::optional<DemandMinute> Total() const;
  };
  struct Waited {
    int64_t passed_ms;
    uint32_t pods;
  };

  Open& At(int64_t start_ms);

  int64_t given_until_ms_;
  std::vector<Open> open_;      // by time
  std::vector<Waited> waited_;  // by time: a few, for scrapes are less than minutes apart
};

}  // namespace tidemark::workloads
