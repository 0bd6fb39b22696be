#pragma once
// Remote write 1.0: prometheus.WriteRequest (Prometheus remote-write specification 1.0, April 2023;
// metadata as Prometheus sends it, prompb/remote.proto).
//
// Two passes over the same bytes. ValidateV1 looks at the shape of the whole message, down to the
// last exemplar, so that a body which cannot be decoded has no effect at all. DecoderV1::Walk then
// hands out the series. Neither builds a tree: memory does not grow with the number of messages,
// and a million empty series in 2 MB cost nothing but time.
//
// Fields may stand in any order, a scalar given twice counts as given last, unknown fields of any
// type are skipped. A known field with another wire type is an error: a sender that means something
// else by it must hear so.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/label.h"
#include "model/sample.h"
#include "remote_write/request_shape.h"
#include "remote_write/series_visitor.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Checks the shape of the whole message and counts what stands in it. Pure, allocates nothing.
/// Series that `recognizer` knows by their label bytes are not walked: equal bytes are equally
/// good.
[[nodiscard]] DecodeError ValidateV1(std::string_view message, RequestShape& shape,
                                     SeriesRecognizer* recognizer = nullptr);

/// Hands out the series of a message. Not thread-safe; reused from request to request.
class DecoderV1 {
 public:
  /// Samples are handed on in pieces of at most this many.
  static constexpr size_t kPiece = 256;

  /// Keeps at most `max_labels` labels of a series; those above are only counted.
  explicit DecoderV1(size_t max_labels) : labels_(max_labels + 1) {}

  /// Tells `visitor` every series of `message`. A message that ValidateV1 has passed gives no
  /// error; with any other the walk stops at the fault.
  [[nodiscard]] DecodeError Walk(std::string_view message, SeriesVisitor& visitor);

 private:
  [[nodiscard]] DecodeError WalkSeries(std::string_view series, SeriesVisitor& visitor);
  [[nodiscard]] DecodeError WalkRest(std::string_view rest, SeriesVisitor& visitor);

  /// As many as are kept, and one more that takes all those above the limit.
  std::vector<LabelView> labels_;
  std::array<Sample, kPiece> piece_;
};

}  // namespace tidemark::remote_write
