#include "remote_write/refusal_text.h"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "remote_write/utf8.h"

namespace tidemark::remote_write {
namespace {

std::string Describe(RejectReason reason, const Limits& limits) {
  switch (reason) {
    case RejectReason::kMissingName: return "a series must have a metric name (label __name__)";
    case RejectReason::kEmptyLabelName: return "a label must have a name";
    case RejectReason::kDuplicateLabel: return "a label name may stand only once in a series";
    case RejectReason::kInvalidUtf8: return "label names and values must be UTF-8";
    case RejectReason::kTooManyLabels:
      return fmt::format("a series may have at most {} labels", limits.max_labels);
    case RejectReason::kLabelNameTooLong:
      return fmt::format("a label name may have at most {} bytes", limits.max_label_name_bytes);
    case RejectReason::kLabelValueTooLong:
      return fmt::format("a label value may have at most {} bytes", limits.max_label_value_bytes);
    case RejectReason::kTooFarInFuture:
      return fmt::format("a sample may be at most {} ms ahead of the receiver's clock",
                         limits.max_future_ms);
    case RejectReason::kTooOld:
      return "a sample's time is in milliseconds since 1970 and after September 2001";
    case RejectReason::kDuplicateTimestamp:
      return "a series has another value for that time already";
    case RejectReason::kInvalidHistogram: return "a native histogram contradicts itself";
    case RejectReason::kSeriesLimit:
      return "the limit of series is reached; samples of known series are still taken in";
    case RejectReason::kLate: return "a sample must be later than the newest one of its series";
    case RejectReason::kBadLabelReference:
      return "label references must come in pairs and lie within the symbol table";
    case RejectReason::kHaClusterLimit:
      return "no place for another HA pair or replica, or its name is too long";
  }
  return "refused";
}

std::optional<RejectReason> FirstReason(const WriteVerdict& verdict) {
  for (size_t i = 0; i < kRejectReasonCount; ++i) {
    if (verdict.rejected[i] > 0) return static_cast<RejectReason>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string RefusalText(const FillTally& tally, const WriteVerdict& verdict, const Limits& limits) {
  const auto first = tally.first_reason ? tally.first_reason : FirstReason(verdict);
  if (!first) return {};
  std::string text = fmt::format("{}: {}; refused:", ToString(*first), Describe(*first, limits));
  const char* separator = " ";
  for (size_t i = 0; i < kRejectReasonCount; ++i) {
    const uint64_t samples = tally.samples_rejected[i] + verdict.rejected[i];
    const uint64_t series = tally.series_rejected[i];
    if (samples == 0 && series == 0) continue;
    const std::string_view reason = ToString(static_cast<RejectReason>(i));
    fmt::format_to(std::back_inserter(text), "{}{} samples={}", separator, reason, samples);
    if (series > 0) fmt::format_to(std::back_inserter(text), " series={}", series);
    separator = ", ";
  }
  fmt::format_to(std::back_inserter(text), "; taken in: samples={}",
                 verdict.accepted + verdict.TotalIgnored());
  const std::string& example = tally.first_reason ? tally.first_example : verdict.first_rejected;
  if (!example.empty()) text.append("; first: ").append(example);
  return Printable(text, kMaxTextBytes - 1);
}

}  // namespace tidemark::remote_write
