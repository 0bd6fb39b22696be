#pragma once
// Random messages of remote write 1.0 and 2.0, written in every odd way that protobuf allows:
// fields in any order, needless varint bytes, unknown fields, scalars given twice, numbers packed,
// loose and in pieces.

#include <random>
#include <string>
#include <vector>

#include "tests/remote_write/wire_builder.h"

namespace tidemark::remote_write::test {

class RandomRequest {
 public:
  /// Times lie around `now_ms`, some of them badly.
  RandomRequest(uint32_t seed, int64_t now_ms) : random_(seed), now_ms_(now_ms) {}

  /// A message that is good protobuf; its labels and times are not all good.
  std::string Message();
  /// The same of 2.0; not all of its references are good either.
  std::string MessageV2();
  /// `bytes` with something broken in it (or not).
  std::string Mutate(std::string bytes);

 private:
  /// Fields of one message: those of one number keep their order, else any order will do.
  class Fields;

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  std::string OddVarint(uint64_t value, size_t max_size);
  std::string OddKey(uint32_t number, uint32_t type);
  std::string OddBytes(uint32_t number, const std::string& content);
  std::string Unknown();
  std::string Text(size_t kind);
  double Number();
  int64_t Time();

  std::string LabelMessage(bool may_be_bad);
  std::string SampleMessage();
  std::string ExemplarMessage();
  std::string HistogramMessage();
  std::string MetadataMessage();
  std::string SeriesMessage();

  // random_request_v2.cpp
  void AddReferences(Fields& fields, const std::vector<uint64_t>& references);
  std::string ExemplarMessageV2(size_t symbols);
  std::string MetadataMessageV2(size_t symbols);
  std::string SeriesMessageV2(size_t names, size_t symbols);
  uint64_t Reference(size_t symbols);

  std::mt19937_64 random_;
  int64_t now_ms_;
};

}  // namespace tidemark::remote_write::test
