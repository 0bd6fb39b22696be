#include "model/sink.h"

#include <numeric>

namespace tidemark {

std::string_view ToString(IgnoreReason reason) {
  switch (reason) {
    case IgnoreReason::kNoRole: return "no_role";
    case IgnoreReason::kNoContainer: return "no_container";
    case IgnoreReason::kLate: return "late";
    case IgnoreReason::kDuplicate: return "duplicate";
    case IgnoreReason::kSecondScrape: return "second_scrape";
    case IgnoreReason::kHaCopy: return "ha_copy";
  }
  return "unknown";
}

std::string_view ToString(RejectReason reason) {
  switch (reason) {
    case RejectReason::kMissingName: return "missing_name";
    case RejectReason::kEmptyLabelName: return "empty_label_name";
    case RejectReason::kDuplicateLabel: return "duplicate_label";
    case RejectReason::kInvalidUtf8: return "invalid_utf8";
    case RejectReason::kTooManyLabels: return "too_many_labels";
    case RejectReason::kLabelNameTooLong: return "label_name_too_long";
    case RejectReason::kLabelValueTooLong: return "label_value_too_long";
    case RejectReason::kTooFarInFuture: return "too_far_in_future";
    case RejectReason::kTooOld: return "too_old";
    case RejectReason::kDuplicateTimestamp: return "duplicate_timestamp";
    case RejectReason::kInvalidHistogram: return "invalid_histogram";
    case RejectReason::kSeriesLimit: return "series_limit";
    case RejectReason::kLate: return "late";
    case RejectReason::kBadLabelReference: return "bad_label_reference";
    case RejectReason::kHaClusterLimit: return "ha_cluster_limit";
  }
  return "unknown";
}

uint64_t WriteVerdict::TotalIgnored() const {
  return std::accumulate(ignored.begin(), ignored.end(), uint64_t{0});
}

uint64_t WriteVerdict::TotalRejected() const {
  return std::accumulate(rejected.begin(), rejected.end(), uint64_t{0});
}

void WriteVerdict::Merge(const WriteVerdict& other) {
  accepted += other.accepted;
  for (size_t i = 0; i < ignored.size(); ++i) ignored[i] += other.ignored[i];
  for (size_t i = 0; i < rejected.size(); ++i) rejected[i] += other.rejected[i];
  if (first_rejected.empty()) first_rejected = other.first_rejected;
}

}  // namespace tidemark
