#include "remote_write/batch_filler.h"

#include <fmt/format.h>

#include <algorithm>

#include "remote_write/histogram_check.h"

namespace tidemark::remote_write {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

size_t Index(RejectReason reason) { return static_cast<size_t>(reason); }

}  // namespace

BatchFiller::BatchFiller(WriteBatch& batch, LabelChecker& checker, const Limits& limits,
                         int64_t now_ms, HaRequest* ha, std::vector<SeriesLookUp>* seen)
    : batch_(batch),
      checker_(checker),
      newest_ms_(SaturatingAdd(now_ms, limits.max_future_ms)),
      ha_(ha),
      seen_(seen) {
  Start();
}

void BatchFiller::Start() {
  if (seen_ != nullptr) seen_->clear();
  next_seen_ = 0;
}

bool BatchFiller::Announce(std::string_view label_bytes) {
  if (seen_ == nullptr || seen_->size() == kMaxSeen) return false;
  seen_->push_back({label_bytes, {}});
  return true;
}

void BatchFiller::LookUp() {
  if (seen_ != nullptr) batch_.Find(*seen_);
}

bool BatchFiller::Recognizes(std::string_view label_bytes) {
  const SeriesLookUp* const seen = SeenAt(label_bytes.data());
  return seen != nullptr && seen->token.IsKnown();
}

/// What was found of these bytes; null: they were not announced. As every announced series is asked
/// for in its turn, it is the one asked for last or the next.
const SeriesLookUp* BatchFiller::SeenAt(const char* label_bytes) {
  if (seen_ == nullptr) return nullptr;
  for (size_t i = next_seen_; i < std::min(next_seen_ + 2, seen_->size()); ++i) {
    if ((*seen_)[i].label_bytes.data() != label_bytes) continue;
    next_seen_ = i;
    return &(*seen_)[i];
  }
  return nullptr;
}

bool BatchFiller::OnRecognized(std::string_view label_bytes, const Sample& sample) {
  const SeriesLookUp* const seen = SeenAt(label_bytes.data());
  if (seen == nullptr || !seen->token.IsKnown()) return false;
  TakeKnown(label_bytes, seen->token);
  OnSamples({&sample, 1});
  return true;
}

/// A known series was vetted: its labels are good, and it is no copy of an HA pair.
void BatchFiller::TakeKnown(std::string_view label_bytes, SeriesToken token) {
  refused_.reset();
  bad_histogram_ = is_copy_ = shed_ = false;
  labels_.labels = {};
  labels_.bytes = label_bytes;
  token_ = token;
  has_token_ = vetted_ = true;
  if (ha_ != nullptr) ++tally_.series_without_replica;
}

void BatchFiller::OnLabels(const WireLabels& labels) {
  // Canonical bytes but for their order; of a known series that is good too.
  has_token_ = !labels.in_place.empty() && !labels.bad_reference;
  if (has_token_) {
    const SeriesLookUp* const seen = SeenAt(labels.in_place.data());
    const bool same = seen != nullptr && seen->label_bytes.size() == labels.in_place.size();
    if (same) {
      token_ = seen->token;
    } else {
      SeriesLookUp wanted{labels.in_place, {}};
      batch_.Find({&wanted, 1});
      token_ = wanted.token;
    }
    if (token_.IsKnown()) return TakeKnown(labels.in_place, token_);
  }
  refused_ = checker_.Check(labels, labels_);
  bad_histogram_ = is_copy_ = shed_ = false;
  if (!refused_ && ha_ != nullptr) JudgeCopy();
  const bool as_it_came =
      labels_.bytes.data() == labels.in_place.data() && !labels.in_place.empty();
  vetted_ = !refused_ && as_it_came && !is_copy_;
  has_token_ = has_token_ && vetted_;
  if (!refused_) return;
  ++tally_.series_rejected[Index(*refused_)];
  RememberFirst(*refused_, labels.labels, "");
}

/// After the labels' own verdict, so that only good series elect a leader; before all others, so
/// that a copy costs as little as can be.
void BatchFiller::JudgeCopy() {
  if (labels_.replica.empty()) {
    ++tally_.series_without_replica;
    return;
  }
  is_copy_ = true;
  switch (ha_->Decide(labels_.labels, labels_.replica)) {
    case HaDecision::kTake: checker_.RemoveReplica(labels_); break;
    case HaDecision::kShed: shed_ = true; break;
    case HaDecision::kRefuse: refused_ = RejectReason::kHaClusterLimit; break;
  }
}

void BatchFiller::OnSamples(std::span<const Sample> samples) {
  if (refused_) {
    tally_.samples_rejected[Index(*refused_)] += samples.size();
    return;
  }
  if (shed_) {
    tally_.shed += samples.size();
    ha_->Count(samples.size());
    return;
  }
  const auto good = [this](const Sample& sample) { return IsGoodTime(sample.timestamp_ms); };
  if (std::all_of(samples.begin(), samples.end(), good)) {
    Offer(samples);
    return;
  }
  while (!samples.empty()) {
    const std::span<const Sample> piece = samples.first(std::min(samples.size(), good_.size()));
    samples = samples.subspan(piece.size());
    size_t kept = 0;
    for (const Sample& sample : piece) {
      if (good(sample)) {
        good_[kept++] = sample;
      } else {
        RejectSample(sample);
      }
    }
    Offer({good_.data(), kept});
  }
}

void BatchFiller::OnHistogram(std::string_view message) {
  if (refused_) return;
  if (shed_) {
    ++tally_.histograms;
    return;
  }
  bool consistent = false;
  if (CheckHistogram(message, consistent) == DecodeError::kNone && consistent) {
    ++tally_.histograms;
    return;
  }
  if (bad_histogram_) return;
  bad_histogram_ = true;
  ++tally_.series_rejected[Index(RejectReason::kInvalidHistogram)];
  RememberFirst(RejectReason::kInvalidHistogram, Labels(), "");
}

void BatchFiller::OnExemplars(uint64_t count) {
  if (!refused_) tally_.exemplars += count;
}

void BatchFiller::Offer(std::span<const Sample> samples) {
  if (samples.empty()) return;
  tally_.offered += samples.size();
  for (const Sample& sample : samples) {
    tally_.highest_timestamp_ms = std::max(tally_.highest_timestamp_ms, sample.timestamp_ms);
    if (IsStaleMarker(sample.value)) ++tally_.stale_markers;
  }
  if (is_copy_) ha_->Count(samples.size());
  IncomingSeries series{labels_.labels, labels_.bytes, samples, is_copy_, vetted_, {}};
  if (has_token_) series.token = token_;
  batch_.Add(series);
}

/// The labels of the series at hand, for people: those of a known series have not been read yet.
LabelsView BatchFiller::Labels() {
  if (!labels_.labels.empty()) return labels_.labels;
  if (!DecodeLabels(labels_.bytes, read_)) read_.clear();
  return read_;
}

void BatchFiller::RejectSample(const Sample& sample) {
  const RejectReason reason =
      sample.timestamp_ms > newest_ms_ ? RejectReason::kTooFarInFuture : RejectReason::kTooOld;
  ++tally_.samples_rejected[Index(reason)];
  if (tally_.first_reason) return;
  RememberFirst(reason, Labels(), fmt::format(" at {} ms", sample.timestamp_ms));
}

void BatchFiller::RememberFirst(RejectReason reason, LabelsView labels, std::string_view detail) {
  if (tally_.first_reason) return;
  tally_.first_reason = reason;
  tally_.first_example = FormatLabels(labels).append(detail);
}

}  // namespace tidemark::remote_write
