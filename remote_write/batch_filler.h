#pragma once
// Judges the series of one request as a decoder tells them, and fills a WriteBatch with what is
// good. Each item is judged alone: a bad one costs nothing but itself.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/sink.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/ha_request.h"
#include "remote_write/label_check.h"
#include "remote_write/limits.h"
#include "remote_write/series_visitor.h"

namespace tidemark::remote_write {

/// Before the time any sample can have: 9 September 2001, when Unix time in milliseconds got its
/// 13th digit. What lies before it is a time in seconds, or none at all.
inline constexpr int64_t kOldestSampleMs = 1'000'000'000'000;

/// What came of a request on this side of the engine. Each sample is in exactly one of `offered`,
/// `shed` and `samples_rejected`; histograms are counted apart from samples.
struct FillTally {
  uint64_t offered = 0;  ///< samples given to the batch
  uint64_t shed = 0;     ///< samples of an HA pair's replica that does not lead, unlooked at
  uint64_t series_without_replica = 0;  ///< good entries, where copies of HA pairs are told apart
  std::array<uint64_t, kRejectReasonCount> samples_rejected{};
  /// Entries refused for their labels or for a histogram, by the first fault; also those without
  /// samples.
  std::array<uint64_t, kRejectReasonCount> series_rejected{};
  uint64_t stale_markers = 0;  ///< of those offered
  uint64_t histograms = 0;     ///< good ones, and those shed
  uint64_t exemplars = 0;      ///< of series with good labels
  int64_t highest_timestamp_ms = std::numeric_limits<int64_t>::min();  ///< of those offered
  std::optional<RejectReason> first_reason;                            ///< the first item refused
  std::string first_example;                                           ///< its series, for people
};

/// For one request. Not thread-safe.
class BatchFiller final : public SeriesVisitor, public SeriesRecognizer {
 public:
  /// 480 KB; usual requests have 500 to 10,000 series.
  static constexpr size_t kMaxSeen = 12'000;

  /// `batch` and `checker` must outlive it. `now_ms` is the wall clock, Unix time: samples more
  /// than limits.max_future_ms ahead of it are refused, because one of them would make every true
  /// sample after it late.
  /// `ha`, which must outlive it too, decides about the copies of HA pairs; null: no series is one.
  /// `seen` is memory for what is announced, at most kMaxSeen entries; null: nothing is
  /// recognised.
  BatchFiller(WriteBatch& batch, LabelChecker& checker, const Limits& limits, int64_t now_ms,
              HaRequest* ha = nullptr, std::vector<SeriesLookUp>* seen = nullptr);

  void Start() override;
  bool Announce(std::string_view label_bytes) override;
  void LookUp() override;
  bool Recognizes(std::string_view label_bytes) override;
  void Rewind() override { next_seen_ = 0; }
  bool OnRecognized(std::string_view label_bytes, const Sample& sample) override;
  void OnLabels(const WireLabels& labels) override;
  void OnSamples(std::span<const Sample> samples) override;
  void OnHistogram(std::string_view message) override;
  void OnExemplars(uint64_t count) override;

  const FillTally& tally() const { return tally_; }

 private:
  bool IsGoodTime(int64_t timestamp_ms) const {
    return timestamp_ms >= kOldestSampleMs && timestamp_ms <= newest_ms_;
  }
  const SeriesLookUp* SeenAt(const char* label_bytes);
  void TakeKnown(std::string_view label_bytes, SeriesToken token);
  void JudgeCopy();
  LabelsView Labels();
  void Offer(std::span<const Sample> samples);
  void RejectSample(const Sample& sample);
  void RememberFirst(RejectReason reason, LabelsView labels, std::string_view detail);

  WriteBatch& batch_;
  LabelChecker& checker_;
  int64_t newest_ms_;
  HaRequest* ha_;
  std::vector<SeriesLookUp>* seen_;  // in the order of the message
  size_t next_seen_ = 0;
  FillTally tally_;

  // The series at hand.
  std::optional<RejectReason> refused_;
  CheckedLabels labels_;
  SeriesToken token_;
  bool has_token_ = false;
  bool vetted_ = false;
  bool is_copy_ = false;  // of an HA pair
  bool shed_ = false;
  bool bad_histogram_ = false;
  std::vector<LabelView> read_;  // by Labels
  std::array<Sample, DecoderV1::kPiece> good_;
};

}  // namespace tidemark::remote_write
