#pragma once
// Where series and samples go, whatever brought them: remote write 1.0 or 2.0, a back-fill, a test.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/label.h"
#include "model/result.h"
#include "model/sample.h"

namespace tidemark {

/// Why a good sample was not used. None of them is the sender's fault: the answer stays 2xx.
enum class IgnoreReason : uint8_t {
  kNoRole,        ///< no source gives the metric a meaning
  kNoContainer,   ///< a pod, sandbox, slice or node row of a container metric
  kLate,          ///< older than the newest sample of its series
  kDuplicate,     ///< the same time and value again, as after a resend
  kSecondScrape,  ///< another scrape of a container that is already followed
  kHaCopy,        ///< of an HA pair's other replica, or of the new leader but not later than what
                  ///< the old one had sent
};
inline constexpr size_t kIgnoreReasonCount = 6;

/// Why an item was refused. The sender must not send it again: the answer is 400.
enum class RejectReason : uint8_t {
  kMissingName,        ///< no or empty __name__
  kEmptyLabelName,     ///< a label without a name
  kDuplicateLabel,     ///< a label name twice
  kInvalidUtf8,        ///< a label name or value is not UTF-8
  kTooManyLabels,      ///< more labels than allowed
  kLabelNameTooLong,   ///< a label name over the limit
  kLabelValueTooLong,  ///< a label value over the limit
  kTooFarInFuture,     ///< time stamp more than the allowed skew ahead of the wall clock
  kTooOld,  ///< time stamp negative or before any monitoring (seconds taken for milliseconds)
  kDuplicateTimestamp,  ///< the time of the series' newest sample with another value
  kInvalidHistogram,    ///< a native histogram that contradicts itself
  kSeriesLimit,         ///< a new series beyond the ceiling
  kLate,  ///< older than the newest sample of its series, where the policy refuses that
  kBadLabelReference,  ///< 2.0: a reference outside the symbol table, or a name without a value
  kHaClusterLimit,     ///< of a new HA pair beyond the ceiling on pairs
};
inline constexpr size_t kRejectReasonCount = 15;

/// snake_case names, as they stand in the `reason` label and in error texts.
std::string_view ToString(IgnoreReason reason);
std::string_view ToString(RejectReason reason);

/// What a sink has found of a series by its label bytes alone. Opaque to all but the sink, good for
/// the batch that gave it.
struct SeriesToken {
  uint64_t hash_low = 0;
  uint64_t hash_high = 0;
  uint64_t place = 0;  ///< 0: not known

  bool IsKnown() const { return place != 0; }
};

/// Label bytes to be looked up, and what came of it. The bytes live for the call.
struct SeriesLookUp {
  std::string_view label_bytes;
  SeriesToken token;
};

/// One series of a request with its samples.
struct IncomingSeries {
  /// Checked: sorted, unique, valid UTF-8, within limits, with a metric name. The array must live
  /// for the call only; the text it points to until WriteBatch::Commit has returned.
  LabelsView labels;
  /// The canonical encoding of `labels` (model/label.h). Must live until WriteBatch::Commit has
  /// returned.
  std::string_view label_bytes;
  /// In the order in which they were sent; need to live for the call only.
  std::span<const Sample> samples;
  /// One replica's copy of what an HA pair sends twice; `labels` are without the replica's label.
  /// What is not later than the series' newest sample is then ignored as kHaCopy, whatever its
  /// value.
  bool from_ha_pair = false;
  /// These bytes, met again on the wire, need no check and no decision about HA pairs: they are the
  /// labels as they came, and what was decided of them holds for as long as the process runs. Only
  /// then does WriteBatch::Find know the series later.
  bool vetted = false;
  /// What WriteBatch::Find said of `label_bytes`; `labels` may be empty when the series is known.
  std::optional<SeriesToken> token{};
};

/// What became of the samples of one request: each is in exactly one count.
struct WriteVerdict {
  uint64_t accepted = 0;
  std::array<uint64_t, kIgnoreReasonCount> ignored{};
  std::array<uint64_t, kRejectReasonCount> rejected{};
  /// The first refused series, for the error text: labels as FormatLabels writes them and the
  /// reason. Empty: none.
  std::string first_rejected;

  void Ignore(IgnoreReason reason, uint64_t samples = 1) {
    ignored[static_cast<size_t>(reason)] += samples;
  }
  void Reject(RejectReason reason, uint64_t samples = 1) {
    rejected[static_cast<size_t>(reason)] += samples;
  }
  uint64_t TotalIgnored() const;
  uint64_t TotalRejected() const;
  /// Adds the counts of `other`; keeps the first example.
  void Merge(const WriteVerdict& other);
};

/// One request on its way in. Not thread-safe. Dropped without Commit, it has no effect.
class WriteBatch {
 public:
  virtual ~WriteBatch() = default;

  /// Looks series up by what may be their canonical label bytes and sets the tokens. Known: the
  /// same bytes came before, vetted (IncomingSeries::vetted), and the series is still kept. Bytes
  /// of any kind may be asked for; not to be known says nothing. Costs a hash of the bytes; the
  /// more are asked for in one call, the less the look-up adds.
  virtual void Find(std::span<SeriesLookUp> wanted) { static_cast<void>(wanted); }

  /// Takes one series. Cost follows the bytes of the series; nothing is applied yet.
  virtual void Add(const IncomingSeries& series) = 0;

  /// Applies everything added and waits until every shard has said its verdict. All or nothing:
  /// with ErrorCode::kUnavailable (overload, shutting down) nothing was applied and the request may
  /// be sent again. Call it once.
  virtual Result<WriteVerdict> Commit() = 0;
};

/// The way into the engine. Thread-safe.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  virtual std::unique_ptr<WriteBatch> Begin() = 0;
};

}  // namespace tidemark
