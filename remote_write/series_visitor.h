#pragma once
// The seam between decoders and what is done with series: a decoder walks one request and tells a
// visitor, series by series, what stands in it. A decoder knows the wire and no verdicts; a visitor
// knows verdicts and no wire.
//
// For each series in wire order: OnLabels once, then OnSamples, OnHistogram and OnExemplars in any
// number and order. Pieces are bounded, so that no series needs memory after its own measure.

#include <cstdint>
#include <span>
#include <string_view>

#include "model/label.h"
#include "model/sample.h"

namespace tidemark::remote_write {

/// The labels of one series as they came: any order, empty and repeated names included, text
/// unchecked.
struct WireLabels {
  /// Lives for the call; the text it points to lives as long as the request.
  std::span<const LabelView> labels;
  /// How many labels came. More than `labels` holds when they passed the decoder's limit: the rest
  /// is only counted.
  uint64_t count = 0;
  /// The bytes of all labels, on the wire or written out, into which `labels` then points, when
  /// they are the canonical encoding (model/label.h) of `labels` but for their order, which is
  /// unchecked. Empty otherwise.
  std::string_view in_place;
  /// Something in the entry names a symbol that does not exist, or a name has no value (2.0 only):
  /// the entry must be refused. `labels` is then for people.
  bool bad_reference = false;
  /// All text is known to be UTF-8; false: not known.
  bool is_utf8 = false;
};

/// Knows series by the bytes of their labels, so that they need no walk. Used in rounds: Start, any
/// number of Announce, LookUp; then questions about what was announced, in that order, each as
/// often as wanted; Rewind to begin them again at the front.
class SeriesRecognizer {
 public:
  virtual ~SeriesRecognizer() = default;
  virtual void Start() = 0;
  /// What may be the labels of a series, or bytes of any other kind; they must live until the next
  /// Start. False: it is not remembered, nor will more be.
  virtual bool Announce(std::string_view label_bytes) = 0;
  virtual void LookUp() = 0;
  /// Whether these are the canonical labels of a known series. What was not announced is not known.
  virtual bool Recognizes(std::string_view label_bytes) = 0;
  virtual void Rewind() = 0;
};

class SeriesVisitor {
 public:
  virtual ~SeriesVisitor() = default;
  /// A series with one sample whose labels SeriesRecognizer knows, in place of all other calls.
  /// False: it is not among them, and the other calls have to follow.
  virtual bool OnRecognized(std::string_view label_bytes, const Sample& sample) {
    static_cast<void>(label_bytes);
    static_cast<void>(sample);
    return false;
  }
  virtual void OnLabels(const WireLabels& labels) = 0;
  /// The next samples of the series, in wire order; the array lives for the call.
  virtual void OnSamples(std::span<const Sample> samples) = 0;
  /// One native histogram, as its message's bytes (1.0 and 2.0 share the fields); the shape is
  /// known to be good.
  virtual void OnHistogram(std::string_view message) = 0;
  virtual void OnExemplars(uint64_t count) = 0;
};

}  // namespace tidemark::remote_write
