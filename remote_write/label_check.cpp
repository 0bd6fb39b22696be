#include "remote_write/label_check.h"

#include <algorithm>

#include "remote_write/utf8.h"

namespace tidemark::remote_write {
namespace {

/// As `<` on bytes. Written out because most names differ within a few bytes, where a call costs
/// more than the compare.
bool NameLess(const LabelView& a, const LabelView& b) {
  const size_t common = std::min(a.name.size(), b.name.size());
  for (size_t i = 0; i < common; ++i) {
    const auto x = static_cast<unsigned char>(a.name[i]);
    const auto y = static_cast<unsigned char>(b.name[i]);
    if (x != y) return x < y;
  }
  return a.name.size() < b.name.size();
}

bool SameName(const LabelView& a, const LabelView& b) { return a.name == b.name; }

/// Whether all names and values of labels that lie in place are ASCII. Runs of short labels are
/// looked at in one go, with what stands between them: tags and lengths below 0x80.
bool IsAsciiInPlace(const WireLabels& wire) {
  constexpr size_t kLongestShort =
      0x7f - 4;  // longer labels have lengths of two bytes, the first with its high bit set
  if (wire.in_place.empty()) return false;
  const char* begin = wire.in_place.data();
  const char* end = begin;
  const auto run = [&] { return std::string_view(begin, static_cast<size_t>(end - begin)); };
  for (const LabelView& label : wire.labels) {
    const bool is_long = label.name.size() + label.value.size() > kLongestShort;
    if (is_long && !(IsAscii(run()) && IsAscii(label.name) && IsAscii(label.value))) return false;
    end = label.value.data() + label.value.size();
    if (is_long) begin = end;
  }
  return IsAscii(run());
}

}  // namespace

std::optional<RejectReason> LabelChecker::Check(const WireLabels& wire, CheckedLabels& checked) {
  if (wire.bad_reference) return RejectReason::kBadLabelReference;
  if (wire.count > limits_.max_labels) return RejectReason::kTooManyLabels;

  const bool utf8 = wire.is_utf8 || IsAsciiInPlace(wire);
  bool tidy = true;
  const LabelView* before = nullptr;
  for (const LabelView& label : wire.labels) {
    if (label.name.empty()) return RejectReason::kEmptyLabelName;
    if (label.name.size() > limits_.max_label_name_bytes) return RejectReason::kLabelNameTooLong;
    if (label.value.size() > limits_.max_label_value_bytes) return RejectReason::kLabelValueTooLong;
    if (!utf8 && !(IsUtf8(label.name) && IsUtf8(label.value))) return RejectReason::kInvalidUtf8;
    tidy = tidy && !label.value.empty() && (before == nullptr || NameLess(*before, label));
    before = &label;
  }

  checked.labels = wire.labels;
  if (!tidy) {
    sorted_.assign(wire.labels.begin(), wire.labels.end());
    std::sort(sorted_.begin(), sorted_.end(), NameLess);
    if (std::adjacent_find(sorted_.begin(), sorted_.end(), SameName) != sorted_.end()) {
      return RejectReason::kDuplicateLabel;
    }
    std::erase_if(sorted_, [](const LabelView& label) { return label.value.empty(); });
    checked.labels = sorted_;
  }
  if (FindLabel(checked.labels, kMetricNameLabel).empty()) return RejectReason::kMissingName;

  in_place_ = tidy ? wire.in_place : std::string_view();
  checked.replica = ReplicaOf(checked.labels);
  checked.bytes = in_place_;
  if (checked.replica.empty() && in_place_.empty()) Encode(checked);
  return std::nullopt;
}

void LabelChecker::RemoveReplica(CheckedLabels& checked) {
  const bool in_place = !in_place_.empty();
  if (in_place) {
    // The labels lie in the order of their names, and the bytes of each end where its value ends.
    encoded_.clear();
    const char* kept = in_place_.data();
    const char* end = kept;
    const auto keep = [&] { encoded_.append(kept, static_cast<size_t>(end - kept)); };
    for (const LabelView& label : checked.labels) {
      const char* const label_end = label.value.data() + label.value.size();
      if (IsReplicaLabel(label.name)) {
        keep();
        kept = label_end;
      }
      end = label_end;
    }
    keep();
    checked.bytes = arena_.Copy(encoded_);
  }
  if (checked.labels.data() != sorted_.data()) {
    sorted_.assign(checked.labels.begin(), checked.labels.end());
  }
  std::erase_if(sorted_, [this](const LabelView& label) { return IsReplicaLabel(label.name); });
  checked.labels = sorted_;
  if (!in_place) Encode(checked);
}

std::string_view LabelChecker::ReplicaOf(LabelsView labels) const {
  for (const std::string& name : replica_labels_) {
    const std::string_view value = FindLabel(labels, name);
    if (!value.empty()) return value;
  }
  return {};
}

bool LabelChecker::IsReplicaLabel(std::string_view name) const {
  return std::find(replica_labels_.begin(), replica_labels_.end(), name) != replica_labels_.end();
}

void LabelChecker::Encode(CheckedLabels& checked) {
  encoded_.clear();
  for (const LabelView& label : checked.labels) AppendLabelBytes(label, encoded_);
  checked.bytes = arena_.Copy(encoded_);
}

}  // namespace tidemark::remote_write
