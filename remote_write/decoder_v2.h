#pragma once
// Remote write 2.0: io.prometheus.write.v2.Request (Prometheus remote-write specification
// 2.0-rc.4).
//
// Two passes, as for 1.0 (decoder_v1.h): ValidateV2 looks at the shape of the whole message, so
// that a body which cannot be decoded has no effect at all; DecoderV2::Walk gathers the symbols,
// which may stand anywhere, and hands out the series. Labels are handed out in the canonical bytes
// of model/label.h, so that a series of 2.0 is the same series as over 1.0.
//
// Fields may stand in any order, references packed, loose and in pieces, and cut to 32 bits as
// protobuf reads a uint32. A known field with another wire type is an error.
//
// What 2.0 lets a sender say in few bytes takes many when it is written out: a label of 5 KB can be
// named again and again by two references. So the labels of one request are written out up to a
// bound only; beyond it the request is refused as a whole, as 1.0 would for its size.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/label.h"
#include "model/sample.h"
#include "remote_write/byte_arena.h"
#include "remote_write/request_memory.h"
#include "remote_write/request_shape.h"
#include "remote_write/series_visitor.h"
#include "remote_write/symbol_table.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Checks the shape of the whole message and counts what stands in it. References are not followed.
/// Pure, allocates nothing.
[[nodiscard]] DecodeError ValidateV2(std::string_view message, RequestShape& shape);

/// Hands out the series of a message. Not thread-safe; reused from request to request.
///
/// Memory for a request: at most twice its message for the table of symbols, at most
/// `max_label_bytes` for labels, rounded up to chunks that may be half empty.
class DecoderV2 {
 public:
  /// Samples are handed on in pieces of at most this many.
  static constexpr size_t kPiece = 256;
  /// Clear keeps this much for labels: 2,000 series take about 700 KB.
  static constexpr size_t kKeptLabelBytes = 1 << 20;

  /// Keeps at most `max_labels` labels of a series; those above are only counted.
  DecoderV2(size_t max_labels, uint64_t max_label_bytes)
      : max_label_bytes_(max_label_bytes), labels_(max_labels + 1), arena_(kKeptLabelBytes) {}

  /// Tells `visitor` every series of `message` (less than 4 GiB); `shape` is what ValidateV2 has
  /// found. A message that it has passed gives no error but kLabelsTooLarge; with any other the
  /// walk stops at the fault. The bytes of labels live until Clear.
  /// Of series that `recognizer` knows only the bytes of their labels are told. What the walk needs
  /// of memory is taken from `memory` before; kNoRoom when there is none. Null: not booked.
  [[nodiscard]] DecodeError Walk(std::string_view message, const RequestShape& shape,
                                 SeriesVisitor& visitor, SeriesRecognizer* recognizer = nullptr,
                                 RequestMemory* memory = nullptr);

  /// Forgets one request and gives back what only a large one needs.
  void Clear();

 private:
  /// What stands in one TimeSeries besides its labels.
  struct Entry;
  /// A usual series, one sample and nothing else, that waits to be looked up with others: together
  /// their cache misses overlap.
  struct Waiting {
    std::string_view label_bytes;
    Sample sample;
  };
  static constexpr size_t kMaxWaiting = 32;

  [[nodiscard]] DecodeError GatherSymbols(std::string_view message, const RequestShape& shape);
  [[nodiscard]] DecodeError WalkSeries(std::string_view series, SeriesVisitor& visitor);
  [[nodiscard]] DecodeError ReadEntry(std::string_view series, Entry& entry);
  [[nodiscard]] DecodeError WalkAgain(std::string_view series, int64_t created_ms,
                                      SeriesVisitor& visitor);
  [[nodiscard]] DecodeError ReadReferences(std::string_view packed, Entry& entry);
  [[nodiscard]] DecodeError CheckExemplar(std::string_view message, bool& bad_reference) const;
  [[nodiscard]] static DecodeError ReadMetadata(std::string_view message, Entry& entry);
  bool HasBadReference(const Entry& entry) const;
  std::string_view Symbol(uint32_t reference, Entry& entry) const;
  void TakeReference(uint32_t reference, Entry& entry);
  [[nodiscard]] DecodeError WriteLabels(WireLabels& labels);
  void TellWaiting(SeriesVisitor& visitor);

  uint64_t max_label_bytes_;
  uint64_t label_bytes_ = 0;         // of this request
  uint64_t booked_label_bytes_ = 0;  // likewise
  RequestMemory* memory_ = nullptr;  // of this walk
  SymbolTable symbols_;
  /// As many as are kept, and one more that takes all those above the limit.
  std::vector<LabelView> labels_;
  ByteArena arena_;
  std::array<Sample, kPiece> piece_;
  SeriesRecognizer* recognizer_ = nullptr;  // of this walk
  std::array<Waiting, kMaxWaiting> waiting_;
  size_t waiting_count_ = 0;
  std::vector<LabelView> read_back_;
};

}  // namespace tidemark::remote_write
