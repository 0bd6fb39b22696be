#pragma once
// Samples of one container's usage of one resource → one value per aligned minute.
//
// A counter's increase is spread linearly over the time between two samples, so that scrape
// interval and jitter change nothing; a level's minute is its maximum. A minute is closed when
// every part that still lives has passed its end, and is then given out once, in order. The minute
// is a pure function of the samples' order; no clock is asked.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "model/byte_codec.h"
#include "model/sample.h"

namespace tidemark::workloads {

inline constexpr int64_t kMinuteMs = 60'000;
/// Longer gaps between two samples are not bridged; a part that is silent for longer is taken for
/// dead. The look-back of PromQL.
inline constexpr int64_t kMaxGapMs = 5 * kMinuteMs;
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
inline constexpr uint32_t kNoSeries = std::numeric_limits<uint32_t>::max();

/// One closed minute.
struct UsageMinute {
  int64_t start_ms = 0;  ///< aligned, Unix time
  double usage = 0;      ///< mean usage (counter) or maximum (level), in the resource's unit
};

/// What became of a sample.
enum class UsageOutcome : uint8_t {
  kTaken,
  kReset,         ///< taken; the counter had started anew
  kSecondScrape,  ///< set aside: another series already tells this part's usage
};

/// The usage of one resource by one container of one pod, from one or more series.
///
/// A part is what one series tells: a run of the container (its cgroup `id`), a core's row (`cpu`),
/// a mode, a GPU. The parts of a run are summed by minute. Of several runs in a minute, what they
/// spent is summed too, but of their levels the highest counts: one run has ended when the next
/// begins.
///
/// Two series of the same part are two scrapes of the same thing: the first leads, the other takes
/// over after two missed intervals, or when its counter has started anew. So are two series of
/// which only one has an `id` (two exporters), and a core's row beside the whole.
class ContainerUsage {
 public:
  enum class Kind : uint8_t { kCounter, kLevel };
  explicit ContainerUsage(Kind kind) : kind_(kind) {}

  /// Identity of a part within the container.
  struct PartKey {
    uint64_t hash = 0;  ///< of the part labels' values, `cpu` left out where it is the whole
    uint64_t run = 0;   ///< of `id`; 0 without one
    bool is_one_core =
        false;  ///< a row of a single core, against the whole (`cpu` absent or "total")
    friend bool operator==(const PartKey&, const PartKey&) = default;
  };

  /// Takes a finite, non-negative sample of `series`, strictly later than that series' last. Closed
  /// minutes are appended to `closed`; `dropped` counts minutes given up because less than half was
  /// covered.
  UsageOutcome Add(uint32_t series, PartKey key, Sample sample, std::vector<UsageMinute>& closed,
                   uint64_t& dropped);

  /// The series has ended (stale marker). Minutes that are over are closed; the running one stays
  /// open, since the next run of the container may begin in it.
  void End(uint32_t series, std::vector<UsageMinute>& closed, uint64_t& dropped);

  /// The series is gone from the index: nothing may refer to it any more.
  void Forget(uint32_t series);

  /// True while no part lives and a minute is still open: somebody has to call Flush in due time.
  bool NeedsFlush() const;
  /// Closes what is open, unless a part lives again.
  void Flush(std::vector<UsageMinute>& closed, uint64_t& dropped);

  /// What a series that leads a part tells of itself.
  struct Leader {
    PartKey key;
    int64_t last_ms = kNever;
    double last_value = 0;
  };
  /// Null when the series does not exist or tells another usage.
  using LeaderOf = std::function<const Leader*(uint32_t series)>;
  /// Appends the whole state; times as distances to `base_ms`.
  void Save(ByteWriter& out, int64_t base_ms, const LeaderOf& leader_of) const;
  /// What Save wrote. Null, and the reader failed, when the bytes are no such thing.
  static std::unique_ptr<ContainerUsage> Restore(ByteReader& in, int64_t base_ms,
                                                 const LeaderOf& leader_of);

  /// Minutes that end here or before get no more from any living part; kNever before the first
  /// sample.
  int64_t passed_ms() const { return ClosableUntil(); }
  /// True while no part lives and no minute is open.
  bool HasEnded() const;
  /// True while any part lives.
  bool GoesOn() const;
  /// What the open minute comes to as far as it has come; nullopt when less than half of it is
  /// covered, or nothing. Of the oldest open minute only.
  std::optional<double> OpenUsage(int64_t start_ms) const;
  /// Time of the newest sample of any part; kNever without one.
  int64_t last_ms() const { return last_ms_; }
  /// Bytes on the heap.
  size_t MemoryBytes() const;

 private:
  struct OpenMinute {
    int64_t start_ms;
    double amount;  // counter: increase in the minute; level: maximum
    int32_t
        begin_ms;  // covered from … to, within the minute; a part covers one stretch of a minute
    int32_t end_ms;
  };
  struct Part {
    PartKey key;
    uint32_t leader = kNoSeries;
    int64_t last_ms = kNever;
    double last_value = 0;
    int64_t interval_ms = kMinuteMs;
    bool ended = false;
    boost::container::small_vector<OpenMinute, 2> open;
  };

  bool RestorePart(ByteReader& in, int64_t base_ms, const LeaderOf& leader_of, Part& part) const;
  bool LeaderIsGone(const Part& part, int64_t now_ms) const;
  /// True when a living part tells the same usage in another shape.
  bool HasRival(const PartKey& key, int64_t now_ms) const;
  void AddToMinute(Part& part, int64_t start_ms, double amount, int64_t from_ms,
                   int64_t to_ms) const;
  static bool StartedAnew(const Part& part, Sample sample);
  bool AddIncrease(Part& part, Sample sample) const;
  bool Lives(const Part& part) const;
  /// Minutes that end here or before can get no more from any living part.
  int64_t ClosableUntil() const;
  void CloseMinutes(int64_t until_ms, std::vector<UsageMinute>& closed, uint64_t& dropped);
  /// Takes the minute out; nullopt when less than half of it is covered.
  std::optional<double> TakeMinute(int64_t start_ms);

  Kind kind_;
  int64_t closed_until_ms_ = kNever;  // minutes that end here or before are given out
  int64_t last_ms_ = kNever;
  boost::container::small_vector<Part, 1> parts_;
};

}  // namespace tidemark::workloads
