// libFuzzer's way into the whole path of remote write. The first byte chooses: bit 0, whether the
// rest is an unpacked message or a snappy block; bit 1, whether it is read as 1.0 or 2.0. What must
// hold for every input is checked with __builtin_trap.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "remote_write/batch_filler.h"
#include "remote_write/decoder_v1.h"
#include "remote_write/decoder_v2.h"
#include "remote_write/label_check.h"
#include "remote_write/snappy_block.h"
#include "remote_write/utf8.h"

namespace {

using namespace tidemark;
using namespace tidemark::remote_write;

constexpr int64_t kNowMs = 1'796'004'480'000;
constexpr uint64_t kMaxUnpacked = 1 << 20;
constexpr uint64_t kMaxLabels = 4 << 20;

void Require(bool holds) {
  if (!holds) __builtin_trap();
}

class CheckingBatch final : public WriteBatch {
 public:
  void Add(const IncomingSeries& series) override {
    std::vector<LabelView> decoded;
    Require(DecodeLabels(series.label_bytes, decoded));
    Require(decoded.size() == series.labels.size());
    for (size_t i = 0; i < decoded.size(); ++i) {
      Require(decoded[i] == series.labels[i]);
      Require(IsUtf8(decoded[i].name) && IsUtf8(decoded[i].value));
    }
    Require(!FindLabel(series.labels, kMetricNameLabel).empty());
    Require(!series.samples.empty());
    for (const Sample& sample : series.samples) {
      Require(sample.start_timestamp_ms >= 0 && sample.start_timestamp_ms <= sample.timestamp_ms);
    }
    samples_ += series.samples.size();
  }
  Result<WriteVerdict> Commit() override { return WriteVerdict{}; }
  uint64_t samples() const { return samples_; }

 private:
  uint64_t samples_ = 0;
};

void Decode(std::string_view message, bool v2) {
  const Limits limits;
  RequestShape shape;
  const DecodeError error = v2 ? ValidateV2(message, shape) : ValidateV1(message, shape);
  CheckingBatch batch;
  LabelChecker checker(limits);
  DecoderV1 decoder_v1(limits.max_labels);
  DecoderV2 decoder_v2(limits.max_labels, kMaxLabels);
  BatchFiller filler(batch, checker, limits, kNowMs);
  const DecodeError walked =
      v2 ? decoder_v2.Walk(message, shape, filler) : decoder_v1.Walk(message, filler);
  if (error != DecodeError::kNone) return;
  if (v2 && walked == DecodeError::kLabelsTooLarge) return;
  Require(walked == DecodeError::kNone);
  uint64_t samples = filler.tally().offered;
  for (const uint64_t refused : filler.tally().samples_rejected) samples += refused;
  Require(samples == shape.samples);
  Require(batch.samples() == filler.tally().offered);
  Require(filler.tally().histograms <= shape.histograms);
  Require(filler.tally().exemplars <= shape.exemplars);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // A copy of the exact size, so that a sanitizer sees every byte read past the end.
  const std::vector<char> bytes(data + 1, data + size);
  const std::string_view rest(bytes.data(), bytes.size());
  const bool is_packed = (data[0] & 1) != 0;
  const bool v2 = (data[0] & 2) != 0;
  if (!is_packed) {
    Decode(rest, v2);
    return 0;
  }
  UnpackBuffer buffer;
  if (const auto message = UnpackBlock(rest, kMaxUnpacked, buffer)) Decode(*message, v2);
  return 0;
}
