#pragma once
// The verdict on one series' labels, and their canonical bytes (model/label.h).
//
// Whatever is refused costs only its own series; nothing is ever cut to fit, as two series could so
// become one. Tidy labels, which is what Prometheus sends, are used where they lie; others are
// sorted, freed of empty values (an empty value is the same as no label) and encoded anew, so that
// they are the same series as the tidy ones.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/label.h"
#include "model/sink.h"
#include "remote_write/byte_arena.h"
#include "remote_write/limits.h"
#include "remote_write/series_visitor.h"

namespace tidemark::remote_write {

struct CheckedLabels {
  LabelsView
      labels;  ///< valid until the next Check, or as long as the WireLabels that were checked
  std::string_view bytes;  ///< valid until Clear, or as long as WireLabels::in_place
  /// The value of the first replica label that the series carries, in the order in which they were
  /// given; empty: none. Valid as long as the request's unpacked bytes. While it is set and
  /// RemoveReplica has not been called, `labels` hold the replica labels and `bytes` mean nothing.
  std::string_view replica;
};

/// Not thread-safe; reused from request to request.
class LabelChecker {
 public:
  /// `replica_labels`: names of labels that tell apart the replicas of an HA pair
  /// (remote_write/ha_options.h).
  explicit LabelChecker(const Limits& limits, std::vector<std::string> replica_labels = {})
      : limits_(limits), replica_labels_(std::move(replica_labels)) {}

  /// Nothing: the labels are good and `checked` is set. Else why they are refused, and `checked`
  /// means nothing. With several faults: references that name no symbol, the number of labels, what
  /// is wrong with the first bad label on the wire (no name, lengths, UTF-8), repeated names (also
  /// those with one value, and with an empty one), the metric name. Linear in the bytes, but for
  /// sorting what is not sorted. Encoded labels take no more bytes than on the wire of 1.0, rounded
  /// up to the arena's chunks.
  std::optional<RejectReason> Check(const WireLabels& wire, CheckedLabels& checked);

  /// Takes all replica labels off a series that Check has just found good and that has one, so that
  /// the copies of a pair are one series. Apart from Check, because most copies are shed and then
  /// need no bytes. Tidy labels in place cost a copy of their bytes, without sorting or encoding.
  void RemoveReplica(CheckedLabels& checked);

  /// Forgets the bytes of one request.
  void Clear() { arena_.Clear(); }

 private:
  std::string_view ReplicaOf(LabelsView labels) const;
  bool IsReplicaLabel(std::string_view name) const;
  void Encode(CheckedLabels& checked);

  Limits limits_;
  std::vector<std::string> replica_labels_;
  std::vector<LabelView> sorted_;
  std::string encoded_;
  std::string_view in_place_;  // canonical bytes of the series checked last, where they lay so
  ByteArena arena_;
};

}  // namespace tidemark::remote_write
